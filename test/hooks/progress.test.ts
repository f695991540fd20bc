import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { TranscriptTurn } from '../../agents/claude/transcript/transcript.ts';
import { silentLog } from '../../core/log.ts';
import {
  createProgress,
  type ProgressLevel,
  type ProgressOptions,
  progressText,
  summaryText,
} from '../../hooks/progress.ts';
import { restOf } from '../support/client.ts';
import { openTestCourier } from '../support/courier-setup.ts';
import { fixture, messagesIn, soon, startMachine, stopInput, transcriptFixture } from '../support/hook-process.ts';
import { tempFolder, tempHome } from '../support/temp-home.ts';
import { startTestWorkspace, type WireMessage } from '../support/workspace.ts';

const STEPS = 'c246dd8e-7a77-4077-9e70-f88b8a5d01b7';
/** The lines of the turn "steps 2", in the order they were written. */
const LINES = readFileSync(transcriptFixture(), 'utf8').split('\n').slice(8, 16);
const LINES_UNTIL_FIRST_TOOL = 3;

async function start(options: Partial<ProgressOptions> = {}, home = tempHome()) {
  const asked: { method: string; path: string; at: number }[] = [];
  const workspace = await startTestWorkspace({
    faults: {
      onRequest({ method, path }) {
        asked.push({ method, path, at: performance.now() });
        return undefined;
      },
    },
  });
  const transcript = join(tempFolder(), 'transcript.jsonl');
  writeFileSync(transcript, `${LINES.slice(0, LINES_UNTIL_FIRST_TOOL).join('\n')}\n`);
  const open = () => {
    const progress = createProgress({ home, log: silentLog, editMs: 50, firstMs: 0, ...options });
    onTestFinished(() => progress.close());
    return progress;
  };
  const rest = restOf(workspace);
  const follow = (level: ProgressLevel = 'normal') => ({
    key: 'web',
    rest,
    thread: workspace.channelId,
    transcript,
    promptId: STEPS,
    level,
  });
  const messages = async (): Promise<readonly WireMessage[]> =>
    (await workspace.person.messages(workspace.channelId)).filter(({ type }) => type === 0);
  const write = (from: number, to: number) => appendFileSync(transcript, `${LINES.slice(from, to).join('\n')}\n`);
  return { workspace, asked, transcript, open, rest, follow, messages, write };
}

describe('while a turn runs,', () => {
  it('one silent message shows what Claude does, and becomes one line at the end', async () => {
    const { open, follow, messages, write, rest } = await start();
    const progress = open();
    progress.begin(follow());
    await soon(async () =>
      expect((await messages())[0]?.content).toMatch(/^Step 1 of 2[^\n]*\n⏳ Bash: Show the step\n/),
    );
    write(3, 7);
    await soon(async () =>
      expect((await messages())[0]?.content).toMatch(/^Step 2 of 2[^\n]*\n✔ Bash: Show the step\n-# working · Bash ×2/),
    );
    expect(progress.isBusy()).toBe(true);
    await progress.end('web', rest, 'done');
    const [message, ...others] = await messages();
    expect(others).toEqual([]);
    expect(message?.content).toMatch(/^-# Bash ×2 · \d+ s$/);
    expect((message?.flags ?? 0) & 4096).toBe(4096);
    expect(progress.isBusy()).toBe(false);
  });

  it('the message is edited at most once per second, however much is written', async () => {
    const { asked, open, follow, transcript, rest } = await start({ editMs: 300 });
    const progress = open();
    progress.begin(follow());
    const line = JSON.parse(LINES[1] ?? '');
    for (let n = 0; n < 60; n++) {
      const content = [{ type: 'text', text: `thought ${n}` }];
      const next = { ...line, uuid: `u${n}`, message: { ...line.message, id: `m${n}`, content } };
      appendFileSync(transcript, `${JSON.stringify(next)}\n`);
      await sleep(20);
    }
    await progress.end('web', rest, 'done');
    const edits = asked.filter(({ method }) => method === 'PATCH').map(({ at }) => at);
    expect(edits.length).toBeGreaterThan(1);
    // The last edit turns the message into one line, and is not delayed.
    for (const [n, at] of edits.slice(1, -1).entries()) expect(at - (edits[n] ?? 0)).toBeGreaterThan(200);
    expect(asked.filter(({ method, path }) => method === 'POST' && path.endsWith('/messages'))).toHaveLength(1);
  });

  it('elapsed time alone causes no edit', async () => {
    const { asked, open, follow, messages } = await start();
    open().begin(follow());
    await soon(async () => expect(await messages()).toHaveLength(1));
    await sleep(1_300);
    expect(asked.filter(({ method }) => method === 'PATCH')).toEqual([]);
  });

  it('typing is shown, and nothing else in quiet mode', async () => {
    const { asked, open, follow, messages } = await start();
    open().begin(follow('quiet'));
    await vi.waitFor(() => expect(asked.filter(({ path }) => path.endsWith('/typing'))).toHaveLength(1), 3_000);
    expect(await messages()).toEqual([]);
  });

  it('a turn that ends without a reply ends its message when Claude is seen idle twice', async () => {
    const { open, follow, messages } = await start({ silentMs: 100 });
    const looks = [true, false, true, true];
    const isAtRest = async () => looks.shift() ?? true;
    const progress = open();
    progress.begin({ ...follow(), isAtRest });
    await vi.waitFor(() => expect(progress.isBusy()).toBe(false), 20_000);
    expect(looks).toEqual([]);
    await soon(async () => expect((await messages())[0]?.content).toMatch(/^-# interrupted · Bash · \d+ s$/));
  });

  it('a turn that is interrupted in the terminal ends its message', async () => {
    const { open, follow, messages, transcript } = await start();
    const progress = open();
    progress.begin(follow());
    await soon(async () => expect(await messages()).toHaveLength(1));
    const text = '[Request interrupted by user]';
    const message = { role: 'user', content: [{ type: 'text', text }] };
    appendFileSync(
      transcript,
      `${JSON.stringify({ type: 'user', isSidechain: false, uuid: 'x', promptId: STEPS, message })}\n`,
    );
    await soon(async () => expect((await messages())[0]?.content).toMatch(/^-# interrupted · Bash · \d+ s$/));
    expect(progress.isBusy()).toBe(false);
  });

  it('the message of a courier that was killed is ended by the next courier', async () => {
    const { open, follow, messages, rest } = await start();
    const killed = open();
    killed.begin(follow());
    await soon(async () => expect(await messages()).toHaveLength(1));
    killed.close();
    await open().end('web', rest, 'done');
    expect((await messages())[0]?.content).toMatch(/^-# \d+ s$/);
  });

  it('problems with the server delay nothing', async () => {
    const { workspace, open, follow, rest } = await start();
    const progress = open();
    progress.begin({ ...follow(), thread: '123456789012345678' });
    await sleep(150);
    await progress.end('web', rest, 'done');
    expect(await workspace.person.messages(workspace.channelId)).toEqual([]);
  });

  it('the turn starts with the prompt and ends with the reply', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const { context, deliver } = openTestCourier(machine);
    const pane = machine.session('web');
    await deliver(pane, fixture('UserPromptSubmit'));
    expect(context.progress.isBusy()).toBe(true);
    await deliver(pane, stopInput('done'));
    expect(context.progress.isBusy()).toBe(false);
    expect((await messagesIn(workspace, '[agent] web')).map(({ content }) => content)).toEqual([
      expect.stringContaining('done'),
    ]);
  });

  it('the reply of one pane does not end the turn of another pane', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const { context, deliver } = openTestCourier(machine);
    const left = machine.session('web');
    machine.tmux.call('split-window', '-d', '-t', '=web:', 'cat');
    const right = machine.paneEnv('=web:.1');
    await deliver(left, fixture('UserPromptSubmit'));
    await deliver(right, fixture('UserPromptSubmit'));
    await deliver(left, stopInput('done'));
    expect(context.progress.isBusy()).toBe(true);
    await deliver(right, stopInput('done too'));
    expect(context.progress.isBusy()).toBe(false);
  });
});

describe('a progress message', () => {
  const tool = (label: string, outcome: 'ok' | 'error' | undefined) => ({
    id: label,
    name: label.split(' ')[0] ?? '',
    label,
    input: {},
    outcome,
  });
  const turn: TranscriptTurn = {
    promptId: 'p',
    prompts: ['go'],
    messages: [{ id: 'm', texts: [{ uuid: 'u', text: 'Looking.' }] }],
    tools: [tool('Bash ls *.ts', 'ok'), tool('Bash rm _x_', 'error'), tool('Edit a.ts', undefined)],
    state: 'running',
    failure: undefined,
    durationMs: undefined,
    whole: true,
  };

  it.each([
    ['quiet', undefined],
    ['normal', 'Looking.\n⏳ Edit a.ts\n-# working · Bash ×2, Edit · 1 min 5 s'],
    ['verbose', 'Looking.\n✔ Bash ls \\*.ts\n✘ Bash rm \\_x\\_\n⏳ Edit a.ts\n-# working · Bash ×2, Edit · 1 min 5 s'],
  ] as const)('fits the level %s', (level, text) => {
    expect(progressText(turn, level, 65_000)).toBe(text);
  });

  it('shows hidden and reordering characters in the name and label of a tool', () => {
    const tools = [{ id: 't', name: 'Ba\u202esh', label: 'Bash: ls \u202e<@1>', input: {}, outcome: undefined }];
    const text = progressText({ ...turn, tools }, 'normal', 1_000) ?? '';
    expect(text).toContain('⏳ Bash: ls ⟨U+202E⟩\\<\\@1\\>');
    expect(text).toContain('Ba⟨U+202E⟩sh');
  });

  it('fits into a message whatever Claude said', () => {
    const texts = [{ uuid: 'u', text: '🧵'.repeat(5_000) }];
    const tools = Array.from({ length: 50 }, (_, n) => tool(`Bash ${'*'.repeat(300)} ${n}`, 'ok'));
    const text = progressText({ ...turn, messages: [{ id: 'm', texts }], tools }, 'verbose', 1) ?? '';
    expect(text.length).toBeLessThanOrEqual(2_000);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toContain('-# working');
  });

  it.each([
    ['done', 3_599_000, '-# Bash ×2, Edit · 59 min 59 s'],
    ['interrupted', 7_260_000, '-# interrupted · Bash ×2, Edit · 2 h 1 min'],
    ['failed', 900, '-# failed · Bash ×2, Edit · 1 s'],
  ] as const)('becomes one line when the turn is %s', (how, ms, text) => {
    expect(summaryText(turn, ms, how)).toBe(text);
  });
});
