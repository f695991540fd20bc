import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { pressKeys } from '../../tmux/keys.ts';
import { lookAtPane, lookAtPanes, panesPrint, printPaneList, readPaneList } from '../../tmux/look.ts';
import { currentPane, readTmuxVariable } from '../../tmux/pane.ts';
import { typeMessage } from '../../tmux/type-message.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startRawPane, startTmux } from '../support/tmux-server.ts';

describe('look', () => {
  it('shows what runs in a pane and its screen, with and without colours', async () => {
    const server = startTmux();
    const { guard } = await startRawPane(server, 'two words', { shows: '\x1b]2;ti\ttle é\x07\x1b[31mred\x1b[0m é👍' });
    await typeMessage(server.tmux, guard, { id: '42', text: 'x' }, { settleMs: 0 });
    const seen = await lookAtPane(server.tmux, guard.pane);
    expect(seen).toMatchObject({
      kind: 'pane',
      serverPid: guard.pane.serverPid,
      panePid: guard.pane.panePid,
      sessionName: 'two words',
      command: 'node',
      dead: false,
      exitStatus: undefined,
      mode: undefined,
      inputOff: false,
      synchronized: false,
      title: expect.stringContaining('title é'),
      width: 120,
      height: 40,
      cursor: { x: 0, y: 2 },
      historyLines: 0,
      typed: { text: '00000000000000000042', enter: '00000000000000000042' },
    });
    if (seen.kind !== 'pane') throw new Error('no pane');
    expect(seen.text.split('\n').slice(0, 3)).toEqual(['red é👍', 'ready', '']);
    expect(seen.text.split('\n')).toHaveLength(40);
    expect(seen.ansi).toContain('\x1b[31mred\x1b[39m');
  });

  it('shows a mode, and a dead program with its exit status', async () => {
    const server = startTmux();
    const { guard } = await startRawPane(server, 'web', { shows: '\x1b[?1049h' });
    server.call('set-option', '-p', '-t', guard.pane.paneId, 'remain-on-exit', 'on');
    server.call('copy-mode', '-t', guard.pane.paneId);
    expect(await lookAtPane(server.tmux, guard.pane)).toMatchObject({ mode: 'copy-mode' });
    server.call('copy-mode', '-q', '-t', guard.pane.paneId);
    server.call('respawn-pane', '-k', '-t', guard.pane.paneId, 'exit 3');
    await vi.waitFor(async () => {
      server.call('run-shell', 'true'); // tmux 3.3a sometimes learns of an exit only with the next one
      expect(await lookAtPane(server.tmux, guard.pane)).toMatchObject({ dead: true, exitStatus: 3 });
    });
  });

  it('tells a hidden cursor from a visible one, and keeps trailing spaces of a coloured line on request', async () => {
    const server = startTmux();
    const shows = '\x1b[?25l\x1b[41mred   \x1b[0m';
    const { guard } = await startRawPane(server, 'hidden', { shows });
    const seen = await lookAtPane(server.tmux, guard.pane);
    const whole = await lookAtPane(server.tmux, guard.pane, { wholeRows: true });
    if (seen.kind !== 'pane' || whole.kind !== 'pane') throw new Error('no pane');
    expect([seen.cursorShown, seen.ansi.split('\n')[0]]).toEqual([false, '\x1b[41mred']);
    expect(whole.ansi.split('\n')[0]).toContain('\x1b[41mred   ');
    expect(whole.text).toBe(seen.text);
    const { guard: other } = await startRawPane(server, 'shown');
    expect(await lookAtPane(server.tmux, other.pane)).toMatchObject({ cursorShown: true });
  });

  it('shows older lines on request', async () => {
    const server = startTmux();
    const lines = Array.from({ length: 100 }, (_, i) => `line ${i}`).join('\r\n');
    const { guard } = await startRawPane(server, 'web', { shows: lines });
    const seen = await lookAtPane(server.tmux, guard.pane, { history: 500 });
    expect(seen).toMatchObject({ text: expect.stringMatching(/^line 0\nline 1\n/) });
  });

  it('says that a pane is gone, and never looks at another one instead', async () => {
    const server = startTmux();
    await startRawPane(server, 'other');
    const { guard } = await startRawPane(server);
    expect(await lookAtPane(server.tmux, { ...guard.pane, serverPid: 1 })).toEqual({ kind: 'gone' });
    server.call('kill-session', '-t', '=web');
    expect(await lookAtPane(server.tmux, guard.pane)).toEqual({ kind: 'gone' });
    server.call('kill-server');
    expect(await lookAtPane(server.tmux, guard.pane)).toEqual({ kind: 'gone' });
    expect(await lookAtPane(server.tmux, { ...guard.pane, paneId: '' })).toEqual({ kind: 'gone' });
  });
});

describe('pressKeys', () => {
  it('presses keys once per id, and leaves copy mode first', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    server.call('copy-mode', '-t', guard.pane.paneId);
    const any = { ...guard, command: undefined };
    expect(await pressKeys(server.tmux, any, '1', ['C-c', 'Up', '1'])).toEqual({ kind: 'pressed' });
    expect(await pressKeys(server.tmux, any, '1', ['C-c', 'Up', '1'])).toEqual({ kind: 'already' });
    expect(await pressKeys(server.tmux, guard, '2', ['Escape'])).toEqual({ kind: 'pressed' });
    await vi.waitFor(() => expect(received().toString()).toBe('\x03\x1b[A1\x1b'));
  });

  it('refuses a pane that is not the intended one', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const other = { ...guard, command: 'claude' };
    expect(await pressKeys(server.tmux, other, '1', ['Enter'])).toMatchObject({
      kind: 'refused',
      because: 'other-program',
    });
    const reborn = { ...guard, pane: { ...guard.pane, panePid: 1 } };
    expect(await pressKeys(server.tmux, reborn, '1', ['Enter'])).toMatchObject({ because: 'other-process' });
    server.call('kill-server');
    expect(await pressKeys(server.tmux, guard, '1', ['Enter'])).toMatchObject({ because: 'gone' });
    expect(received()).toHaveLength(0);
  });

  it('is not executed by a tmux that responds after the time limit', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const until = Date.now() + 3_000;
    process.kill(guard.pane.serverPid, 'SIGSTOP');
    try {
      const late = pressKeys(server.tmux, guard, '1', ['Enter'], { timeoutMs: 1_000 });
      await expect(late).rejects.toThrow();
      await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(until), { timeout: 5_000 });
    } finally {
      process.kill(guard.pane.serverPid, 'SIGCONT');
    }
    expect(await pressKeys(server.tmux, guard, '2', ['x'])).toEqual({ kind: 'pressed' });
    await vi.waitFor(() => expect(received().toString()).toContain('x'));
    expect(received().toString()).toBe('x');
  });

  it.each(['rm -rf /', ';', 'kill-server', '-X', 'C-;', '{', 'F13', '', 'é', 'Enter;'])(
    'refuses the key %j',
    async (key) => {
      const server = startTmux();
      const { guard } = await startRawPane(server);
      await expect(pressKeys(server.tmux, guard, '1', [key])).rejects.toMatchObject({ code: 'bad_usage' });
    },
  );
});

describe('whoami', () => {
  it('finds its pane and session, also after a rename and in a group', async () => {
    const server = startTmux();
    const { guard } = await startRawPane(server, 'web');
    const variable = `${server.socket},${guard.pane.serverPid},0`;
    expect(await currentPane(server.host, variable, guard.pane.paneId)).toEqual({
      ...guard.pane,
      socket: server.socket,
      sessionId: '$0',
      sessionName: 'web',
      group: undefined,
      command: 'node',
      path: expect.stringContaining('/'),
    });
    server.call('rename-session', '-t', '=web', 'new name');
    server.call('new-session', '-d', '-t', '=new name', '-s', 'second');
    expect(await currentPane(server.host, variable, guard.pane.paneId)).toMatchObject({ group: 'new name' });
  });

  it('does not guess', async () => {
    const server = startTmux();
    const { guard } = await startRawPane(server);
    const { serverPid, paneId } = guard.pane;
    const variable = `${server.socket},${serverPid},0`;
    for (const [tmux, pane] of [
      ['', paneId],
      [variable, ''],
      [variable, '%99'],
      [variable, 'web'],
      [`${server.socket},${serverPid + 1},0`, paneId],
      [`${server.socket}x,${serverPid},0`, paneId],
    ] as const)
      expect([tmux, pane, await currentPane(server.host, tmux, pane)]).toEqual([tmux, pane, undefined]);
  });

  it('reads a socket whose path contains commas', () => {
    expect(readTmuxVariable('/tmp/a,b,1/s,12,3')).toEqual({ socket: '/tmp/a,b,1/s', pid: 12 });
  });
});

describe('a title of a million characters', () => {
  it('is cut at its beginning', async () => {
    const server = startTmux();
    const file = join(tempFolder(), 'titled');
    writeFileSync(file, `\x1b]2;${'x'.repeat(900_000)} the end\x07ready`);
    server.call('new-session', '-d', '-s', 'web', `cat ${file}; exec cat`);
    await vi.waitFor(() => expect(server.call('capture-pane', '-p', '-t', '=web:')).toContain('ready'), 10_000);
    const [seen] = await lookAtPanes(server.tmux, readPaneList(await printPaneList(server.tmux)));
    expect(seen?.kind === 'pane' && seen.title).toMatch(/^x{900,1000} the end$/);
  });
});

describe('a look at many panes', () => {
  it('sees the others if programs fill their screens with attributes', async () => {
    const server = startTmux();
    const cell = (at: number) =>
      `\x1b[1;3;4;5;7;9;38;2;${at % 256};200;201;48;2;202;${at % 255};203;58;2;204;205;${at % 254}m✗`;
    const loud = Array.from({ length: 400 * 149 }, (_, at) => cell(at)).join('');
    const file = join(tempFolder(), 'loud');
    writeFileSync(file, `${loud}\x1b[m end`);
    const start = (name: string, command: string) =>
      server.call('new-session', '-d', '-s', name, '-x', '400', '-y', '150', `${command}; exec cat`);
    for (let at = 0; at < 6; at++) start(`loud${at}`, `cat ${file}`);
    start('calm', 'echo calm words');
    const panes = readPaneList(await printPaneList(server.tmux));
    await vi.waitFor(() => expect(server.call('capture-pane', '-p', '-t', '=loud5:')).toContain('end'), 10_000);
    const seen = await lookAtPanes(server.tmux, panes);
    expect(seen.map(({ kind }) => kind)).toEqual(panes.map(() => 'pane'));
    const texts = seen.map((one) => (one.kind === 'pane' ? one.text.trim() : 'gone'));
    expect(texts.filter((text) => text !== '')).toEqual(['calm words']);
  });
});

describe('the print of all panes', () => {
  it('changes with what they show, and says whether somebody is attached', async () => {
    const server = startTmux();
    const print = async () => {
      const [script, ...args] = panesPrint(server.tmux);
      const printed = await server.host.sh(`(${script}\n)\necho "exit $?"`, args);
      return { print: printed, isAttached: printed.endsWith('exit 0\n') };
    };
    expect(await print()).toMatchObject({ isAttached: false }); // no server
    server.call('new-session', '-d', '-s', '1 name', 'cat');
    server.call('new-session', '-d', '-s', 'other', 'cat');
    const idle = await print();
    expect(idle.isAttached).toBe(false);
    expect(await print()).toEqual(idle);
    server.call('send-keys', '-t', '=other:', 'x');
    await vi.waitFor(async () => expect((await print()).print).not.toBe(idle.print), 5_000);
    const client = spawn('tmux', ['-S', server.socket, '-C', 'attach-session', '-t', '=other']);
    onTestFinished(() => void client.kill('SIGKILL'));
    await vi.waitFor(async () => expect((await print()).isAttached).toBe(true), 5_000);
    client.stdin.end();
    await vi.waitFor(async () => expect((await print()).isAttached).toBe(false), 5_000);
  });
});
