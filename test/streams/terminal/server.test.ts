import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Host } from '../../../hosts/host.ts';
import { followTerminal } from '../../../streams/terminal/terminal.ts';
import { tmuxOn } from '../../../tmux/tmux.ts';
import { sleep, terminalSetting, waitFor } from '../../support/terminal.ts';
import { startTmux } from '../../support/tmux-server.ts';

describe('the follower of a terminal', () => {
  it('checks and kills on the server where it was started, even if another one is configured now', async () => {
    const setting = await terminalSetting();
    const record = await setting.start('echo one; read a; echo two; sleep 600');
    const { server } = setting;
    const other = startTmux();
    other.call('new-session', '-d', '-s', record.name, 'sleep 600');
    const parts = { ...setting.parts, tmux: tmuxOn(server.host, other.socket) };
    const terminal = followTerminal(parts, record, { everyMs: 100, lookMs: 100 });
    onTestFinished(() => terminal.close());
    await waitFor(async () => expect(await setting.text()).toBe('one\n'));
    await sleep(800); // it is checked ten times per second
    expect(terminal.record().ended).toBeUndefined();
    server.call('send-keys', '-t', record.pane?.paneId ?? '', 'Enter');
    await waitFor(async () => expect(await setting.text()).toBe('one\n\ntwo\n'));
    expect(await terminal.end()).toMatch(/; ended$/);
    expect(() => server.call('has-session', '-t', `=${record.name}`)).toThrow();
    expect(other.call('list-sessions', '-F', '#{session_name}')).toBe(record.name);
  });

  it('asks a server once for all its terminals', async () => {
    const setting = await terminalSetting();
    const { server } = setting;
    let looks = 0;
    const sh: Host['sh'] = (body, args, options) => {
      if (args.includes('list-panes')) looks++;
      return server.host.sh(body, args, options);
    };
    const host = { ...server.host, sh };
    const began = performance.now();
    for (let at = 0; at < 3; at++) {
      // One after the other: workspaces that start in the same millisecond could give two terminals the same id.
      const other = await terminalSetting({ server });
      const record = await other.start('sleep 600');
      const parts = { ...other.parts, tmux: tmuxOn(host, server.socket) };
      const terminal = followTerminal(parts, record, { everyMs: 100, lookMs: 300 });
      onTestFinished(() => terminal.close());
    }
    await sleep(1_000);
    expect(looks).toBeGreaterThan(0);
    // Once per pause: each terminal on its own would be three times as many.
    expect(looks).toBeLessThan((performance.now() - began) / 300 + 2);
  });

  it('leaves no listener on its signals, however long it runs', async () => {
    const any = vi.spyOn(AbortSignal, 'any');
    onTestFinished(() => any.mockRestore());
    const setting = await terminalSetting();
    await setting.run('seq 1 5');
    expect(any).not.toHaveBeenCalled();
  });
});
