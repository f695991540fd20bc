import { expect, it, onTestFinished, vi } from 'vitest';
import { silentLog } from '../../core/log.ts';
import { openRemoteHosts, type RemoteHosts } from '../../threads/remote-hosts.ts';
import { openHostList } from '../../tmux/host-list.ts';
import { configOf } from '../bridge/bridge-setup.ts';
import { startSshServer } from '../support/ssh-server.ts';
import { tempHome } from '../support/temp-home.ts';
import { startTmux } from '../support/tmux-server.ts';

/** With a collector that pauses for up to a minute. */
async function start() {
  const { configFile } = await startSshServer();
  const config = configOf({ tmux: startTmux() }, { hosts: { far: { ssh: 'far' } } });
  const home = tempHome();
  const env = { PATH: process.env.PATH ?? '' };
  const hosts = openHostList({ config, home, env, sshConfig: configFile, onAnswer: (host) => remote.answered(host) });
  onTestFinished(() => hosts.close());
  const remote: RemoteHosts = openRemoteHosts({ hosts, name: 'me', files: () => ({}), log: silentLog, home });
  await remote.home('far');
  const tryNow = vi.fn();
  remote.onWanted('far', tryNow);
  return { hosts, remote, tryNow };
}

it('letters are collected at once from a host on which something is started', async () => {
  const { remote, tryNow } = await start();
  await remote.settings('far');
  expect(tryNow).toHaveBeenCalled();
});

it('letters are collected at once from a host that was away and answers something else, such as a tap', async () => {
  const { hosts, remote, tryNow } = await start();
  await hosts.get('far').sh('true', []);
  expect(tryNow).not.toHaveBeenCalled(); // it is not away
  remote.heard('far', { kind: 'unreachable', since: Date.now(), because: 'x' });
  await expect(hosts.get('far').sh('exit 3', [])).rejects.toThrow();
  expect(tryNow).not.toHaveBeenCalled();
  await hosts.get('far').sh('true', []);
  expect(tryNow).toHaveBeenCalledTimes(1);
});
