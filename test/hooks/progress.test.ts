import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readTurn } from '../../agents/claude/transcript/transcript.ts';
import type { AgentTurn } from '../../agents/turn.ts';
import { silentLog } from '../../core/log.ts';
import { createMessage } from '../../discord/messages.ts';
import { createProgress, type FollowedTurn, type ProgressOptions } from '../../hooks/progress.ts';
import { progressText, summaryText } from '../../hooks/progress-text.ts';
import { restOf } from '../support/client.ts';
import { openTestCourier } from '../support/courier-setup.ts';
import { fixture, messagesIn, soon, startMachine, stopInput, transcriptFixture } from '../support/hook-process.ts';
import { tempFolder, tempHome } from '../support/temp-home.ts';
import { startTestWorkspace, type WireMessage } from '../support/workspace.ts';

const STEPS = 'c246dd8e-7a77-4077-9e70-f88b8a5d01b7';
/** The lines of the turn "steps 2", in the order they were written. */
const LINES = readFileSync(transcriptFixture(), 'utf8').split('\n').slice(8, 16);
const LINES_UNTIL_FIRST_TOOL = 3;
const TEXTS = ['Step 1 of 2: looking around.', 'Step 2 of 2: looking around.'];

async function start(options: Partial<ProgressOptions> = {}, home = tempHome()) {
  const asked: { method: string; path: string }[] = [];
  const workspace = await startTestWorkspace({
    faults: {
      onRequest({ method, path }) {
        asked.push({ method, path });
        return undefined;
      },
    },
  });
  const transcript = join(tempFolder(), 'transcript.jsonl');
  writeFileSync(transcript, `${LINES.slice(0, LINES_UNTIL_FIRST_TOOL).join('\n')}\n`);
  const fast = { lookMs: 20, editMs: 50, moveMs: 50, firstMs: 0 };
  const open = () => {
    const progress = createProgress({ home, log: silentLog, levelOf: () => 'normal', ...fast, ...options });
    onTestFinished(() => progress.close());
    return progress;
  };
  const rest = restOf(workspace);
  const thread = workspace.channelId;
  const said: string[] = [];
  let last = '0';
  const follow = (more: Partial<FollowedTurn> = {}, since = Date.now()): FollowedTurn => ({
    read: () => readTurn(transcript, { promptId: STEPS }),
    version: () => statSync(transcript, { throwIfNoEntry: false })?.size ?? 0,
    key: 'web',
    rest,
    isAsking: () => false,
    look: async () => 'busy',
    lastPosted: () => last,
    async say(texts) {
      for (const { uuid, text } of texts.slice(said.length)) {
        said.push(text);
        last = (await createMessage(rest, thread, uuid.slice(0, 25), { content: text }))?.id ?? last;
      }
    },
    record: {
      thread,
      message: '',
      posts: 0,
      since,
      host: 'laptop',
      tmux: '',
      pane: '%1',
      directory: '/',
      cwd: '/',
      agent: 'claude',
      claudeSession: 's',
      transcript,
      promptId: STEPS,
    },
    ...more,
  });
  const messages = async (): Promise<readonly WireMessage[]> =>
    (await workspace.person.messages(workspace.channelId)).filter(({ type }) => type === 0);
  const write = (from: number, to: number) => appendFileSync(transcript, `${LINES.slice(from, to).join('\n')}\n`);
  const contents = async () => (await messages()).map(({ content }) => content).toReversed();
  return { workspace, asked, transcript, open, rest, follow, messages, contents, write, said };
}

const WORKING = /^-# working · Bash: Show the step · started <t:\d+:R>$/;

describe('while a turn runs,', () => {
  it('each text is posted when a tool follows it, and one silent line below the last text shows what runs', async () => {
    const { open, follow, messages, contents, write, rest } = await start();
    const progress = open();
    progress.begin(follow());
    await soon(async () => expect(await contents()).toEqual([TEXTS[0], expect.stringMatching(WORKING)]));
    write(3, 6);
    await soon(async () => expect(await contents()).toEqual([TEXTS[0], TEXTS[1], expect.stringMatching(WORKING)]));
    expect(((await messages())[0]?.flags ?? 0) & 4096).toBe(4096);
    write(6, 8);
    await soon(async () => expect((await contents()).at(-1)).toMatch(/^-# working · Bash ×2 · started <t:\d+:R>$/));
    expect(progress.isBusy()).toBe(true);
    await progress.end('web', rest, 'done');
    // The last text is posted by the end of the turn, because it notifies.
    expect(await contents()).toEqual([TEXTS[0], TEXTS[1], expect.stringMatching(/^-# Bash ×2 · \d+ s$/)]);
    expect(progress.isBusy()).toBe(false);
  });

  it('the line is edited at most once per second, however much is written', async () => {
    const { asked, open, follow, transcript, rest } = await start({ editMs: 300, moveMs: 60_000 });
    const progress = open();
    const began = performance.now();
    progress.begin(follow({ say: async () => {} }));
    const line = JSON.parse(LINES[2] ?? '');
    for (let n = 0; n < 60; n++) {
      const content = [{ type: 'tool_use', id: `t${n}`, name: 'Bash', input: { command: `echo ${n}` } }];
      const next = { ...line, uuid: `u${n}`, message: { ...line.message, id: `m${n}`, content } };
      appendFileSync(transcript, `${JSON.stringify(next)}\n`);
      await sleep(20);
    }
    await progress.end('web', rest, 'done');
    const edits = asked.filter(({ method }) => method === 'PATCH').length;
    expect(edits).toBeGreaterThan(1);
    // Counted, because a busy machine delays single requests. The last edit sums up the turn and does not wait.
    expect(edits).toBeLessThanOrEqual(Math.ceil((performance.now() - began) / 300) + 1);
    expect(asked.filter(({ method, path }) => method === 'POST' && path.endsWith('/messages'))).toHaveLength(1);
  });

  it('the line moves at most once every few seconds, so that texts come first', async () => {
    const { asked, open, follow, write, contents } = await start({ moveMs: 60_000 });
    open().begin(follow());
    await soon(async () => expect(await contents()).toEqual([TEXTS[0], expect.stringMatching(WORKING)]));
    write(3, 6);
    await soon(async () => expect((await contents()).at(-1)).toBe(TEXTS[1]));
    await sleep(300);
    expect((await contents()).at(-1)).toBe(TEXTS[1]);
    expect(asked.filter(({ method }) => method === 'DELETE')).toEqual([]);
  });

  it('elapsed time alone causes no edit, and the line has no clock that could stop', async () => {
    const { asked, open, follow, messages } = await start();
    open().begin(follow());
    await soon(async () => expect(await messages()).toHaveLength(2));
    await sleep(1_300);
    expect(asked.filter(({ method }) => method === 'PATCH')).toEqual([]);
  });

  it('the line says that Claude waits for you while a prompt is open, and moves below the prompt afterwards', async () => {
    const { asked, open, follow, contents, messages } = await start();
    let isAsking = false;
    open().begin(follow({ isAsking: () => isAsking }));
    await soon(async () => expect(await contents()).toEqual([TEXTS[0], expect.stringMatching(WORKING)]));
    const before = (await messages())[0]?.id;
    isAsking = true;
    await soon(async () => expect((await contents()).at(-1)).toBe('-# waiting for you · Bash: Show the step'));
    expect((await messages())[0]?.id).toBe(before);
    isAsking = false;
    await soon(async () => expect((await contents()).at(-1)).toMatch(WORKING));
    expect((await messages())[0]?.id).not.toBe(before);
    expect(asked.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  it('the line says that Claude waits for you while only the screen shows a dialog', async () => {
    const { open, follow, contents } = await start({ silentMs: 100 });
    let isOpen = false;
    open().begin(follow({ look: async () => (isOpen ? 'dialog' : 'busy') }));
    await soon(async () => expect((await contents()).at(-1)).toMatch(WORKING)); // a dialog posts no new line
    isOpen = true;
    await soon(async () => expect((await contents()).at(-1)).toBe('-# waiting for you · Bash: Show the step'));
  });

  it('a text that could not be posted is posted later', async () => {
    const { open, follow, contents, said } = await start();
    const turn = follow();
    let failures = 3;
    const say: FollowedTurn['say'] = async (texts) => {
      if (failures-- > 0) throw new Error('not now');
      return turn.say(texts);
    };
    open().begin({ ...turn, say });
    await soon(() => expect(said).toEqual([TEXTS[0]]));
    await soon(async () => expect((await contents())[0]).toBe(TEXTS[0]));
  });

  it('typing and the texts are shown, and nothing else in quiet mode', async () => {
    const { asked, open, follow, contents, rest } = await start({ levelOf: () => 'quiet' });
    const progress = open();
    progress.begin(follow());
    await vi.waitFor(() => expect(asked.filter(({ path }) => path.endsWith('/typing'))).toHaveLength(1), 3_000);
    await progress.end('web', rest, 'done');
    expect(await contents()).toEqual([TEXTS[0]]);
  });

  it('the line appears when the level of the thread changes during the turn', async () => {
    let level: 'quiet' | 'normal' = 'quiet';
    const { open, follow, contents } = await start({ levelOf: () => level });
    open().begin(follow());
    await soon(async () => expect(await contents()).toEqual([TEXTS[0]]));
    level = 'normal';
    await soon(async () => expect((await contents()).at(-1)).toMatch(/^-# working/));
  });

  it('a turn that ends without a reply ends its line when Claude is seen idle twice', async () => {
    const { open, follow, contents } = await start({ silentMs: 100 });
    const looks = ['idle', 'busy', 'idle', 'idle'] as const;
    let at = 0;
    const progress = open();
    progress.begin(follow({ look: async () => looks[at++] ?? 'idle' }));
    await vi.waitFor(() => expect(progress.isBusy()).toBe(false), 20_000);
    expect(at).toBe(looks.length);
    await soon(async () => expect((await contents()).at(-1)).toMatch(/^-# interrupted · Bash · \d+ s$/));
  });

  it('a turn that is interrupted in the terminal ends its line, and posts what was said', async () => {
    const { open, follow, contents, transcript, write } = await start();
    const progress = open();
    progress.begin(follow());
    await soon(async () => expect(await contents()).toHaveLength(2));
    write(3, 5); // the second text, and no tool after it
    const text = '[Request interrupted by user]';
    const message = { role: 'user', content: [{ type: 'text', text }] };
    appendFileSync(
      transcript,
      `${JSON.stringify({ type: 'user', isSidechain: false, uuid: 'x', promptId: STEPS, message })}\n`,
    );
    await soon(async () => {
      const now = await contents();
      expect(now).toContain(TEXTS[1]);
      expect(now).toContainEqual(expect.stringMatching(/^-# interrupted · Bash · \d+ s$/));
    });
    expect(progress.isBusy()).toBe(false);
  });

  it('the turn of a process that was killed is followed by the next process, with the same line', async () => {
    const { open, follow, contents, write, rest } = await start();
    const killed = open();
    const turn = follow();
    killed.begin(turn);
    await soon(async () => expect(await contents()).toHaveLength(2));
    killed.close();
    const next = open();
    next.takeUp(
      () => true,
      (_, record) => ({ ...turn, record }),
    );
    write(3, 6);
    await soon(async () => expect(await contents()).toEqual([TEXTS[0], TEXTS[1], expect.stringMatching(WORKING)]));
    await next.end('web', rest, 'done');
    expect(await contents()).toEqual([TEXTS[0], TEXTS[1], expect.stringMatching(/^-# Bash ×2 · \d+ s$/)]);
    const third = open();
    third.takeUp(
      () => true,
      (_, record) => ({ ...turn, record }),
    );
    expect(third.isBusy()).toBe(false);
  });

  it('problems with the server delay nothing', async () => {
    const { workspace, open, follow, rest } = await start();
    const progress = open();
    const turn = follow();
    progress.begin({ ...turn, say: async () => {}, record: { ...turn.record, thread: '123456789012345678' } });
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

describe('the line of a turn', () => {
  const tool = (label: string, outcome: 'ok' | 'error' | undefined, failure = '') => ({
    id: label,
    name: label.split(' ')[0] ?? '',
    label,
    input: {},
    at: 1,
    failure,
    outcome,
  });
  const turn: AgentTurn = {
    promptId: 'p',
    prompts: ['go'],
    messages: [{ id: 'm', texts: [{ uuid: 'u', text: 'Looking.', at: 0, writtenAt: 0 }] }],
    tools: [
      tool('Bash ls *.ts', 'ok'),
      tool('Bash rm _x_', 'error', 'Exit code 1: rm: _x_: no such file'),
      tool('Edit a.ts', undefined),
    ],
    state: 'running',
  };
  const now = { since: 1_800_000_000_000, waits: false };
  const working = '-# working · Edit a.ts · started <t:1800000000:R>';
  const failed = '-# ✘ Bash rm \\_x\\_ · Exit code 1: rm: \\_x\\_: no such file';

  it.each([
    ['quiet', undefined],
    ['normal', working],
    ['verbose', `-# ✔ Bash ls \\*.ts\n${failed}\n-# ⏳ Edit a.ts\n${working}`],
  ] as const)('fits the level %s', (level, text) => {
    expect(progressText(turn, level, now)).toBe(text);
  });

  it('counts the tools between two tools, and has no clock while Claude waits for you', () => {
    const between = { ...turn, tools: turn.tools.slice(0, 2) };
    expect(progressText(between, 'normal', now)).toBe('-# working · Bash ×2 · started <t:1800000000:R>');
    expect(progressText(turn, 'normal', { ...now, waits: true })).toBe('-# waiting for you · Edit a.ts');
    const asking = { ...turn, tools: [{ ...tool('AskUserQuestion', undefined), name: 'AskUserQuestion' }] };
    expect(progressText(asking, 'normal', { ...now, waits: true })).toBe('-# waiting for you');
    expect(progressText({ ...turn, tools: [] }, 'normal', now)).toBe('-# working · started <t:1800000000:R>');
  });

  it('shows hidden and reordering characters in the name and label of a tool', () => {
    const tools = [{ ...tool('Bash: ls \u202e<@1>\nsecond', undefined), name: 'Ba\u202esh' }];
    expect(progressText({ ...turn, tools }, 'normal', now)).toContain('Bash: ls ⟨U+202E⟩\\<\\@1\\> second ·');
    expect(summaryText({ ...turn, tools }, 1_000, 'done')).toContain('Ba⟨U+202E⟩sh');
  });

  it('fits into a message whatever the tools are', () => {
    const tools = Array.from({ length: 50 }, (_, n) =>
      tool(`Bash ${'🧵*'.repeat(300)} ${n}`, 'error', '*'.repeat(900)),
    );
    for (const text of [
      progressText({ ...turn, tools }, 'verbose', now),
      summaryText({ ...turn, tools }, 1, 'failed'),
    ]) {
      expect(text?.length).toBeLessThanOrEqual(2_000);
      expect(text?.isWellFormed()).toBe(true);
      expect(text?.split('\n').every((line) => line.startsWith('-# '))).toBe(true);
    }
  });

  it.each([
    ['done', 3_599_000, `-# Bash ×2, Edit · 59 min 59 s\n${failed}`],
    ['interrupted', 7_260_000, `-# interrupted · Bash ×2, Edit · 2 h 1 min\n${failed}`],
    ['failed', 900, `-# failed · Bash ×2, Edit · 1 s\n${failed}`],
  ] as const)('sums up the turn and keeps its failures when it is %s', (how, ms, text) => {
    expect(summaryText(turn, ms, how)).toBe(text);
  });

  it('names five failures and counts the others', () => {
    const tools = Array.from({ length: 7 }, (_, n) => tool(`Bash ${n}`, 'error', 'no'));
    const lines = summaryText({ ...turn, tools }, 1_000, 'done').split('\n');
    expect(lines).toHaveLength(7);
    expect(lines.at(-1)).toBe('-# ✘ 2 more');
  });
});
