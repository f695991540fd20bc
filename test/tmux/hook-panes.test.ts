// The panes of hooks are found with few processes, however many are asked for, and one that cannot be looked up is not taken for gone.

import { describe, expect, it } from 'vitest';
import { ThreadmuxError } from '../../core/errors.ts';
import { type Host, localHost } from '../../hosts/host.ts';
import { createHookPanes, currentPane } from '../../tmux/pane.ts';
import { startTmux } from '../support/tmux-server.ts';

function countingHost() {
  const local = localHost({ name: 'here', env: process.env });
  let calls = 0;
  const host: Host = {
    ...local,
    sh(...call) {
      calls++;
      return local.sh(...call);
    },
  };
  return { host, calls: () => calls };
}

describe('the panes of hooks', () => {
  it('are found among hundreds that are gone, with one list for those that ask at the same time', async () => {
    const tmux = startTmux();
    tmux.call('new-session', '-d', '-s', 'web', 'cat');
    const [variable = '', pane = ''] = tmux
      .call('display-message', '-p', '-t', '=web:', '#{socket_path},#{pid},0 #{pane_id}')
      .split(' ');
    const { host, calls } = countingHost();
    const find = createHookPanes();
    const gone = Array.from({ length: 300 }, (_, at) => `%${1_000 + at}`);
    const found = await Promise.all([...gone, pane].map((one) => find(host, variable, one)));
    expect(found.filter(Boolean)).toMatchObject([{ paneId: pane, sessionName: 'web' }]);
    expect(calls()).toBeLessThan(10);
    tmux.call('kill-server');
    const none = await Promise.all([...gone, pane].map((one) => find(host, variable, one)));
    expect(none.filter(Boolean)).toEqual([]);
  });

  it.each(['host_unreachable', 'tmux_failed'] as const)('are not gone because of %s', async (code) => {
    const sh = async () => {
      throw new ThreadmuxError(code, 'no answer in time');
    };
    const host = { ...countingHost().host, sh };
    await expect(currentPane(host, '/s,1,0', '%1')).rejects.toThrow('no answer in time');
  });
});
