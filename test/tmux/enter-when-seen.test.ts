// Enter is pressed as soon as the box shows the text. The limit is so long here that a test would fail if it had to pass.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { claude } from '../../agents/claude/driver.ts';
import { shownText } from '../../agents/claude/typing.ts';
import { localHost } from '../../hosts/host.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import { typeMessage } from '../../tmux/type-message.ts';
import { SHELLS } from '../support/shells.ts';
import { notedTmux, pasted, startRawPane, startTmux, type TmuxServer } from '../support/tmux-server.ts';

const FAKE = fileURLToPath(new URL('../support/fake-claude.mjs', import.meta.url));
const LIMIT = { settleMs: 60_000 };
const LONG = `${'word '.repeat(40)}end of it`;

const TEXTS = [
  ...['short', 'one\ntwo\nthree', '漢字 かな', `.* [x] \\ $(id) \`id\` "q" 'q' *? end`, LONG],
  ...['-n', 'x'.repeat(4_000), 'a\nb\nc\nd', 'family 👩‍👩‍👧 of many people', '#{pane_id} ;', 'e'],
];

describe('typing into a box that shows the text', () => {
  it.each(SHELLS)('presses Enter when it is seen, whatever the text is (%s)', async (...shell) => {
    const server = startTmux();
    const { guard, prompts } = await startFake(server);
    const tmux = withShell(server, shell.slice(1));
    for (const [at, text] of TEXTS.entries()) {
      const typed = await typeMessage(tmux, guard, { id: `${at + 1}`, text }, { ...LIMIT, shown: shownText(text) });
      expect(typed).toEqual({ kind: 'delivered' });
      await vi.waitFor(() => expect(prompts()).toEqual(TEXTS.slice(0, at + 1)));
    }
  });

  it('sees a slash command, which ends with a no-break space', async () => {
    const server = startTmux();
    const { guard } = await startFake(server);
    const text = '/cost\u00a0';
    const typed = await typeMessage(server.tmux, guard, { id: '1', text }, { ...LIMIT, shown: shownText(text) });
    expect(typed).toEqual({ kind: 'delivered' });
  });

  it('puts no part of the text into a command line, which other users can read', async () => {
    const server = startTmux();
    const { guard, prompts } = await startFake(server);
    const { tmux, commandLines } = notedTmux(server);
    const texts = ['hunter2hunter2', `${LONG} hunter2hunter2`];
    for (const [at, text] of texts.entries())
      await typeMessage(tmux, guard, { id: `${at + 1}`, text }, { ...LIMIT, shown: shownText(text) });
    await vi.waitFor(() => expect(prompts()).toEqual(texts));
    expect(commandLines()).toContain('paste-buffer');
    expect(commandLines()).not.toContain('hunter2');
  });

  it('sees it each time the same text is typed', async () => {
    const server = startTmux();
    const { guard, prompts } = await startFake(server);
    for (const id of ['1', '2', '3']) {
      await typeMessage(server.tmux, guard, { id, text: 'again' }, { ...LIMIT, shown: shownText('again') });
      await vi.waitFor(() => expect(prompts()).toHaveLength(Number(id)));
    }
  });

  it('sees it in a narrow pane, where it is broken into lines', async () => {
    const server = startTmux();
    const { guard, prompts } = await startFake(server, 34);
    const texts = [LONG, 'a-text-without-any-space-that-is-wider-than-its-pane', '漢字'.repeat(20)];
    for (const [at, text] of texts.entries())
      await typeMessage(server.tmux, guard, { id: `${at + 1}`, text }, { ...LIMIT, shown: shownText(text) });
    await vi.waitFor(() => expect(prompts()).toEqual(texts));
  });

  it.each([
    ['in the conversation above the box', ['❯ seen', '● seen', '', '─────', '❯\u00a0', '─────', '  ? for shortcuts']],
    ['in a box of the conversation', ['❯\u00a0seen', '─────', '', '─────', '❯\u00a0', '─────', '  ? for shortcuts']],
    ['in the line below the box', ['─────', '❯\u00a0', '─────', '  seen']],
    ['in the hint of an empty box', ['─────', '❯\u00a0Press up to edit what was seen', '─────', '  x']],
  ])('does not count the same text %s', async (_, rows) => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server, 'web', { shows: rows.join('\r\n') });
    const typing = typeMessage(
      server.tmux,
      guard,
      { id: '1', text: 'seen' },
      { settleMs: 2_000, shown: shownText('seen') },
    );
    await vi.waitFor(() => expect(received().toString()).toContain('seen'));
    await sleep(700);
    expect(received().toString()).not.toContain('\r');
    expect(await typing).toMatchObject({ kind: 'text-only', because: 'unread' }); // the box stays as it was
    expect(received().toString()).not.toContain('\r');
  });

  it('does not count the same text on a screen without a box, and presses it after the limit', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server, 'web', { shows: 'seen\r\nseen' });
    const options = { settleMs: 2_000, shown: shownText('seen') };
    const typing = typeMessage(server.tmux, guard, { id: '1', text: 'seen' }, options);
    await vi.waitFor(() => expect(received().toString()).toContain('seen'));
    await sleep(700);
    expect(received().toString()).not.toContain('\r');
    expect(await typing).toEqual({ kind: 'delivered' });
    await vi.waitFor(() => expect(received().toString()).toContain('\r'));
  });

  it('does not press it for a part of the text, as while a slow program is still drawing', async () => {
    const server = startTmux();
    const rows = ['─────', '❯\u00a0one', '  two', '─────', '  ? for shortcuts'];
    const { guard, received } = await startRawPane(server, 'web', { shows: rows.join('\r\n') });
    const text = 'one\ntwo\nthree';
    const typing = typeMessage(server.tmux, guard, { id: '1', text }, { settleMs: 2_000, shown: shownText(text) });
    await vi.waitFor(() => expect(received().toString()).toContain('three'));
    await sleep(500);
    expect(received().toString()).not.toContain('\r');
    expect(await typing).toMatchObject({ kind: 'text-only', because: 'unread' });
  });

  it('presses it after the end of a turn that is about to end', async () => {
    const server = startTmux();
    const { turnEnds } = claude.typing;
    const shows = ['✻ Clauding… (running stop hook · 0s · ↓ 12 tokens)', '─────', '❯\u00a0hello', '─────', '  x'].join(
      '\r\n',
    );
    const { guard, received } = await startRawPane(server, 'web', { shows });
    const options = { ...LIMIT, shown: shownText('hello'), turnEnds };
    const typing = typeMessage(server.tmux, guard, { id: '1', text: 'hello' }, options);
    await vi.waitFor(() => expect(received().toString()).toContain('hello'));
    await sleep(400);
    expect(received().toString()).not.toContain('\r');
    server.call('send-keys', '-R', '-t', guard.pane.paneId); // clears the screen
    expect(await typing).toEqual({ kind: 'delivered' });
    await vi.waitFor(() => expect(received()).toEqual(pasted('hello')));
  });

  it.each([
    ['a reply mentions it', '● Clauding… means that it is running stop hooks'],
    ['it takes long', '✻ Fix the tests… (running 2 stop hooks · 1m 2s)'],
  ])('presses it also if %s', async (_, line) => {
    const server = startTmux();
    const shows = [line, '─────', '❯\u00a0hello', '─────', '  x'].join('\r\n');
    const { guard, received } = await startRawPane(server, 'web', { shows });
    const options = { ...LIMIT, shown: shownText('hello'), turnEnds: claude.typing.turnEnds };
    expect(await typeMessage(server.tmux, guard, { id: '1', text: 'hello' }, options)).toEqual({ kind: 'delivered' });
    await vi.waitFor(() => expect(received()).toEqual(pasted('hello')));
  });

  it('presses nothing if another text is in the box before it, also not if it is tried again', async () => {
    const server = startTmux();
    const { guard, tell, prompts } = await startFake(server);
    await tell('draft', 'slow 50');
    const options = { settleMs: 200, shown: shownText('hello') };
    const typed = () => typeMessage(server.tmux, guard, { id: '1', text: 'hello' }, options);
    expect(await typed()).toMatchObject({ kind: 'text-only', because: 'mixed' });
    expect(await typed()).toMatchObject({ kind: 'text-only' });
    expect(server.call('capture-pane', '-p', '-t', guard.pane.paneId)).toContain('slow 50hello');
    expect(prompts()).toEqual([]);
  });

  it.each([
    ['while the box stays as it was', '❯\u00a0', { kind: 'text-only', because: 'unread' }],
    ['unless there is no box', 'no box', { kind: 'delivered' }],
    ['unless the text is there already', '❯\u00a0hello to you', { kind: 'delivered' }],
  ])('holds it back after the pause, too, %s', async (_, box, expected) => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server, 'web', {
      shows: ['─────', box, '─────', '  x'].join('\r\n'),
    });
    const shown = { ...shownText('hello to you'), whole: '', parts: ['hellotoyou'], late: true };
    expect(
      await typeMessage(server.tmux, guard, { id: '1', text: 'hello to you' }, { settleMs: 200, shown }),
    ).toMatchObject(expected);
    await sleep(100);
    expect(received().toString().includes('\r')).toBe(expected.kind === 'delivered');
  });

  it('comes after the whole pause if the program needs that, also when the text is seen late', async () => {
    const server = startTmux();
    const { guard, tell, prompts } = await startFake(server);
    const shown = { ...shownText('hello'), whole: '', parts: [], late: true };
    const typed = (id: string) => typeMessage(server.tmux, guard, { id, text: 'hello' }, { settleMs: 800, shown });
    const from = performance.now();
    expect(await typed('1')).toEqual({ kind: 'delivered' });
    expect(performance.now() - from).toBeGreaterThan(800);
    await tell('slow', 1_500);
    const later = performance.now();
    expect(await typed('2')).toEqual({ kind: 'delivered' });
    expect(performance.now() - later).toBeGreaterThan(1_500 + 800);
    await vi.waitFor(() => expect(prompts()).toEqual(['hello', 'hello']));
  });

  it('holds Enter back if a dialog covers the box instead', async () => {
    const server = startTmux();
    const { guard, tell, noted } = await startFake(server);
    await tell('slow', 300);
    const guarded = { ...guard, dialog: '^ *Esc to cancel' };
    const typing = typeMessage(
      server.tmux,
      guarded,
      { id: '1', text: 'hello' },
      { settleMs: 1_500, shown: shownText('hello') },
    );
    await sleep(100);
    await tell('dialog', 'rm -rf /');
    expect(await typing).toMatchObject({ because: 'dialog' });
    expect(noted().filter(({ kind }) => kind === 'approved')).toEqual([]);
  });
});

async function startFake(server: TmuxServer, width = 120) {
  const folder = join(server.dir, 'fake');
  mkdirSync(folder);
  writeFileSync(join(folder, 'record'), '');
  const [paneId = '', panePid, serverPid] = server
    .call(
      'new-session',
      '-d',
      '-s',
      'web',
      '-x',
      String(width),
      '-y',
      '40',
      '-P',
      '-F',
      '#{pane_id} #{pane_pid} #{pid}',
      process.execPath,
      FAKE,
      folder,
    )
    .split(' ');
  await vi.waitFor(() => expect(existsSync(join(folder, 'ready'))).toBe(true), 10_000);
  const noted = (): readonly { kind: string; text: string }[] =>
    readFileSync(join(folder, 'record'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  return {
    guard: { pane: { serverPid: Number(serverPid), paneId, panePid: Number(panePid) }, command: 'node' },
    noted,
    prompts: () =>
      noted()
        .filter(({ kind }) => kind === 'prompt')
        .map(({ text }) => text),
    tell: (order: string, value: unknown) =>
      new Promise<void>((resolve, reject) => {
        const socket = connect(join(folder, 'control'), () => socket.write(JSON.stringify({ order, value })));
        socket
          .on('data', () => {})
          .on('close', () => resolve())
          .on('error', reject);
      }),
  };
}

/** The same server, reached with another sh. */
function withShell(server: TmuxServer, [program = '', ...args]: readonly string[]) {
  const bin = join(server.dir, 'bin');
  mkdirSync(bin);
  const found = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { encoding: 'utf8' }).stdout.trim();
  if (args[0] === 'sh') symlinkSync(found, join(bin, 'sh'));
  else writeFileSync(join(bin, 'sh'), `#!${found}\nexec ${found} ${args.join(' ')} "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: server.dir, LANG: 'C.UTF-8' };
  return tmuxOn(localHost({ name: 'here', env }), server.socket);
}
