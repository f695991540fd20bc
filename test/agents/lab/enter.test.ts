// The real agents, typed into as threadmux does: Enter comes when the box shows the text, and is held back while the agent is frozen.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { driverOf } from '../../../agents/list.ts';
import { localHost } from '../../../hosts/host.ts';
import { pressEnter } from '../../../tmux/keys.ts';
import { tmuxOn } from '../../../tmux/tmux.ts';
import { typeMessage } from '../../../tmux/type-message.ts';
import { processesIn } from '../../support/processes.ts';
import { type AgentPane, openAgentPane } from './agent-pane.ts';
import { labAgents } from './packages.ts';

const lines = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1} of it`).join('\n');
// Nothing is repeated: the scripted model repeats the text, and Gemini CLI asks what to do about a loop.
const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`).join(' ');
const longWord = (length: number) => words(length).replaceAll(' ', '').slice(0, length);
const wide = (count: number) => String.fromCodePoint(...Array.from({ length: count }, (_, at) => 0x4e00 + at));
const TEXTS = {
  'one letter': 'x',
  'one word': 'continue',
  words: 'hello there',
  'the same words again': 'hello there',
  'wide signs': 'what about 漢字 かな',
  'one wide sign': '漢',
  'many wide signs': wide(180),
  'joined signs': 'a family 👩‍👩‍👧 and a flag 🇩🇪',
  'two lines': 'two\nlines',
  'four lines': lines(4),
  'twenty lines': lines(20),
  'blank lines': '\tindented\n\n\nafter blanks',
  'a long line': words(60),
  'a long word': longWord(300),
  'a very long word': longWord(3_000),
  'the hint of an empty box': 'Type your message or @path/to/file',
  rules: 'above\n───────\nbelow',
  'other signs': '.* [x] \\ $(id) `id` "q" * end',
  'edges of boxes': '┃ ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀ > * ›',
};

/** Codex gets Enter as soon as the text is seen. */
const AFTER_A_PAUSE = labAgents().filter((name) => driverOf(name).typing.shownText('')?.late);

describe.each(AFTER_A_PAUSE)('%s', (name) => {
  const driver = driverOf(name);
  const { typing } = driver;
  let pane: AgentPane & { stop(): Promise<void> };
  let id = 0;
  beforeAll(async () => {
    pane = await openAgentPane(name, driver, { byHand: driver.extension?.isNeeded === true, canStop: true });
    await pane.next('started');
  });
  afterAll(() => pane?.stop());

  const tmux = () => tmuxOn(localHost({ name: 'lab', env: process.env }), join(pane.dir, 's'));
  function guardNow(text: string) {
    const [serverPid, paneId = '', panePid, command = ''] = pane
      .tmux('display-message', '-p', '-t', 'demo', '#{pid} #{pane_id} #{pane_pid} #{pane_current_command}')
      .split(' ');
    return {
      pane: { serverPid: Number(serverPid), paneId, panePid: Number(panePid) },
      command,
      dialog: driver.screen.dialogLine,
      shows: typing.boxLines(pane.screen(), text, { width: 120, height: 40 }),
    };
  }
  const type = (text: string) =>
    typeMessage(tmux(), guardNow(text), { id: String(++id), text }, { shown: typing.shownText(text) });
  const wordsOf = (text: string) => text.replace(/\s+/g, '');

  /** Its shell first, which would take the terminal back from a program that stops. */
  function freeze() {
    const first = pane.tmux('display-message', '-p', '-t', 'demo', '#{pane_pid}');
    const all = processesIn([first]).filter((pid) => pid !== Number(first));
    const send = (signal: string, pids: readonly number[]) =>
      void execFileSync('kill', [`-${signal}`, ...pids.map(String)]);
    const thaw = () => send('CONT', all.toReversed());
    send('STOP', all);
    onTestFinished(thaw);
    return thaw;
  }

  it.each(Object.entries(TEXTS))('submits %s at once', async (_, text) => {
    await pane.ready();
    const typed = typing.guard?.(text) ?? text;
    expect(await type(typed)).toEqual({ kind: 'delivered' });
    const { prompt } = (await pane.next('submitted')).event;
    expect(wordsOf(prompt)).toContain(wordsOf(text));
    await pane.next('idle');
  });

  it('is typed into while it works', async () => {
    if (typing.onlyWhenIdle) return;
    await pane.ready();
    expect(await type('slow 6')).toEqual({ kind: 'delivered' });
    await pane.next('submitted');
    await pane.waitFor((now) => now.kind === 'empty' && now.busy);
    expect(await type('entered while it works')).toEqual({ kind: 'delivered' });
    expect((await pane.next('submitted')).event.prompt).toContain('entered while it works');
    await pane.next('idle');
  });

  it('gets Enter after a short freeze', async () => {
    await pane.ready();
    const thaw = freeze();
    const typing = type('while it was frozen shortly');
    await sleep(1_300);
    thaw();
    expect(await typing).toEqual({ kind: 'delivered' });
    expect((await pane.next('submitted')).event.prompt).toContain('frozen shortly');
    await pane.next('idle');
  });

  it.each([
    ['words', 'for long'],
    ['twenty lines', lines(20)],
    ['wide signs', '漢字'],
  ])('gets no Enter while it is frozen, and keeps %s in the box', async (_, text) => {
    await pane.ready();
    const before = pane.events().length;
    const thaw = freeze();
    expect(await type(text)).toMatchObject({ kind: 'text-only', because: 'unread' });
    thaw();
    await pane.waitFor((now) => now.kind === 'draft' && driver.screen.boxHolds(now, text) !== 'no');
    await sleep(1_000);
    expect(pane.events().length).toBe(before);
    expect(await pressEnter(tmux(), guardNow(''), String(id))).toEqual({ kind: 'pressed' });
    expect(wordsOf((await pane.next('submitted')).event.prompt)).toContain(wordsOf(text));
    await pane.next('idle');
  });
});
