import { expect, it, onTestFinished, vi } from 'vitest';
import { silentLog } from '../../core/log.ts';
import { openRemoteHosts } from '../../threads/remote-hosts.ts';
import { openHostList } from '../../tmux/host-list.ts';
import { configOf } from '../bridge/bridge-setup.ts';
import { startSshServer } from '../support/ssh-server.ts';
import { tempHome } from '../support/temp-home.ts';
import { startTmux } from '../support/tmux-server.ts';

it('letters are collected at once from a host on which something is started', async () => {
  const { configFile } = await startSshServer();
  const config = configOf({ tmux: startTmux() }, { hosts: { far: { ssh: 'far' } } });
  const home = tempHome();
  const env = { PATH: process.env.PATH ?? '' };
  const hosts = openHostList({ config, home, env, sshConfig: configFile });
  onTestFinished(() => hosts.close());
  const remote = openRemoteHosts({ hosts, name: 'me', files: () => ({}), log: silentLog, home });
  await remote.home('far');
  const tryNow = vi.fn(); // the collector, which pauses for up to a minute
  remote.onWanted('far', tryNow);
  await remote.settings('far');
  expect(tryNow).toHaveBeenCalled();
});
