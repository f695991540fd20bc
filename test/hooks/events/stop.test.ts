import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeWhole } from '../../../home/atomic-write.ts';
import { openTestCourier } from '../../support/courier-setup.ts';
import {
  fixture,
  type MachineOptions,
  messagesIn,
  saidIn,
  startMachine,
  stopInput,
  transcriptFixture,
} from '../../support/hook-process.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { startTestWorkspace, type WireMessage } from '../../support/workspace.ts';

const WEB = '[agent] web';
/** Turns of the recorded transcript. */
const HELLO = '79b44c23-994d-47be-a8fd-efa6c1e329b4';
const STEPS = 'c246dd8e-7a77-4077-9e70-f88b8a5d01b7';
const SAID_IN_STEPS = [
  'Step 1 of 2: looking around.',
  'Step 2 of 2: looking around.',
  'Done. The tool said: step 1\nstep 2',
];

async function start(options: MachineOptions = {}) {
  const workspace = await startTestWorkspace();
  const machine = startMachine(workspace, options);
  const folder = tempFolder();
  const transcript = join(folder, 'transcript.jsonl');
  copyFileSync(transcriptFixture(), transcript);
  const stop = (prompt: string | undefined, last: string | undefined, more = {}) => ({
    ...fixture('Stop'),
    transcript_path: transcript,
    prompt_id: prompt,
    last_assistant_message: last,
    ...more,
  });
  const pane = machine.session('web');
  return { workspace, machine, folder, transcript, pane, stop, ...openTestCourier(machine) };
}

/** A text line as Claude Code writes it. */
function saidLine(text: string, uuid: string, prompt?: string): string {
  const line = {
    type: 'assistant',
    isSidechain: false,
    uuid,
    message: { id: `msg_${uuid}`, role: 'assistant', content: [{ type: 'text', text }], stop_reason: 'end_turn' },
    ...(prompt === undefined ? {} : { promptId: prompt }),
  };
  return `${JSON.stringify(line)}\n`;
}

function promptLine(text: string, prompt: string): string {
  const message = { role: 'user', content: text };
  const origin = { kind: 'human' };
  return `${JSON.stringify({ type: 'user', isSidechain: false, uuid: `u-${prompt}`, promptId: prompt, message, origin })}\n`;
}

/** A tool use and its result, as Claude Code writes them. */
function toolLines(id: string, prompt: string, failure?: string): string {
  const use = { type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } };
  const message = { id: `m-${id}`, role: 'assistant', content: [use], stop_reason: 'tool_use' };
  const used = { type: 'assistant', isSidechain: false, uuid: `a-${id}`, message };
  const result = { type: 'tool_result', tool_use_id: id, content: failure ?? 'ok', is_error: failure !== undefined };
  const answer = { type: 'user', isSidechain: false, uuid: `r-${id}`, promptId: prompt };
  const lines = [used, { ...answer, message: { role: 'user', content: [result] } }];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function isSilent(message: WireMessage | undefined): boolean {
  return ((message?.flags ?? 0) & 4096) !== 0;
}

async function fetched(workspace: { url: string }, message: WireMessage | undefined, at = 0) {
  const url = new URL(message?.attachments[at]?.url ?? '', workspace.url);
  return (await fetch(url)).text();
}

describe('a reply', () => {
  it('comes after the earlier texts of its turn, and after nothing of other turns; only the last text notifies', async () => {
    const { workspace, deliver, stop, pane } = await start();
    await deliver(pane, stop(STEPS, SAID_IN_STEPS[2]));
    expect(await saidIn(workspace, WEB)).toEqual(SAID_IN_STEPS);
    expect((await messagesIn(workspace, WEB)).map(isSilent)).toEqual([true, true, false]);
  });

  it('notifies even if the turn ends in a tool, so that all texts were posted before', async () => {
    const { workspace, deliver, stop, pane, transcript } = await start();
    writeFileSync(transcript, promptLine('go', 'p1') + saidLine('one', 'a') + toolLines('t1', 'p1'));
    await deliver(pane, stop('p1', 'one'));
    appendFileSync(transcript, promptLine('go on', 'p2') + toolLines('t2', 'p2'));
    for (let times = 0; times < 2; times++) await deliver(pane, stop('p2', ''));
    expect(await saidIn(workspace, WEB)).toEqual(['one', '✅ Done.']);
    expect((await messagesIn(workspace, WEB)).map(isSilent)).toEqual([false, false]);
  });

  it('is not mistaken for the same words before a tool when the transcript is written late', async () => {
    const { workspace, deliver, stop, pane, transcript } = await start();
    writeFileSync(transcript, promptLine('go', 'p1') + saidLine('Done.', 'a') + toolLines('t1', 'p1'));
    const telling = deliver(pane, stop('p1', 'Done.'));
    setTimeout(() => appendFileSync(transcript, saidLine('more', 'b') + saidLine('Done.', 'c')), 100);
    await telling;
    expect(await saidIn(workspace, WEB)).toEqual(['Done.', 'more', 'Done.']);
  });

  it('comes after a line that sums up the tools of a turn that was too short to be followed, with those that failed', async () => {
    const { workspace, deliver, stop, pane, transcript } = await start();
    writeFileSync(transcript, '');
    const submit = { ...fixture('UserPromptSubmit'), transcript_path: transcript, prompt_id: 'p1' };
    const failure = 'Exit code 2\nls: *x*: no such file\nmore';
    await deliver(pane, { ...submit, session_id: fixture('Stop').session_id });
    appendFileSync(transcript, promptLine('go', 'p1') + toolLines('t1', 'p1') + toolLines('t2', 'p1', failure));
    appendFileSync(transcript, saidLine('done', 'a'));
    await deliver(pane, stop('p1', 'done'));
    const [summary, reply] = await messagesIn(workspace, WEB);
    expect(summary?.content).toMatch(/^-# Bash ×2 · \d+ s\n-# ✘ Bash: ls · Exit code 2: ls: \\\*x\\\*: no such file$/);
    expect(isSilent(summary)).toBe(true);
    expect(reply?.content).toMatch(/\ndone$/);
  });

  it('names its host in a small line above it', async () => {
    const { workspace, deliver, stop, pane } = await start();
    await deliver(pane, stop(HELLO, 'Echo: hello'), { project: '/home/me/shop' });
    const [message] = await messagesIn(workspace, WEB);
    expect(message?.content).toBe('-# laptop · shop · web\nEcho: hello');
  });

  it('contains the text of the hook even if the transcript does not have it yet', async () => {
    const { workspace, deliver, stop, pane } = await start();
    await deliver(pane, stop(STEPS, 'and one more thing'));
    expect(await saidIn(workspace, WEB)).toEqual([...SAID_IN_STEPS, 'and one more thing']);
  });

  it('contains only what is new when Stop comes twice in one turn', async () => {
    const { workspace, deliver, stop, pane, transcript } = await start();
    writeFileSync(transcript, promptLine('go', 'p1') + saidLine('one', 'a'));
    await deliver(pane, stop('p1', 'one'));
    appendFileSync(transcript, saidLine('two', 'b') + saidLine('three', 'c'));
    await deliver(pane, stop('p1', 'three', { stop_hook_active: true }));
    await deliver(pane, stop('p1', 'three', { stop_hook_active: true }));
    expect(await saidIn(workspace, WEB)).toEqual(['one', 'two', 'three']);
  });

  it.each([
    ['with the id of its prompt', { prompt_id: 'p1' }],
    ['without the id of its prompt', { prompt_id: undefined }],
  ])('repeats nothing when the same Stop is reported twice, %s, and the transcript lacks its text', async (_, more) => {
    const { workspace, deliver, pane } = await start();
    const turn = { ...more, session_id: 's' };
    const submit = { ...fixture('UserPromptSubmit'), ...turn };
    await deliver(pane, submit);
    for (let times = 0; times < 2; times++) await deliver(pane, stopInput('Done.', turn));
    expect(await saidIn(workspace, WEB)).toEqual(['Done.']);
    const next = { prompt_id: more.prompt_id && 'p2' };
    await deliver(pane, { ...submit, ...next });
    for (let times = 0; times < 2; times++) await deliver(pane, stopInput('Done.', { ...turn, ...next }));
    expect(await saidIn(workspace, WEB)).toEqual(['Done.', 'Done.']);
  });

  it('contains every text when nothing names its prompt', async () => {
    const { workspace, deliver, pane } = await start();
    for (const text of ['one', 'two', 'two']) await deliver(pane, stopInput(text));
    expect(await saidIn(workspace, WEB)).toEqual(['one', 'two', 'two']);
  });

  it('repeats nothing when the transcript gets the text after Stop', async () => {
    const { workspace, deliver, stop, pane, transcript } = await start();
    writeFileSync(transcript, promptLine('go', 'p1'));
    await deliver(pane, stop('p1', 'one'));
    appendFileSync(transcript, saidLine('one', 'a') + saidLine('two', 'b'));
    await deliver(pane, stop('p1', 'two', { stop_hook_active: true }));
    expect(await saidIn(workspace, WEB)).toEqual(['one', 'two']);
  });

  it('contains nothing that was said later, when the letter had to wait', async () => {
    const { workspace, deliver, stop, pane, transcript } = await start();
    writeFileSync(transcript, promptLine('go', 'p1') + saidLine('one', 'a') + saidLine('two', 'b'));
    await deliver(pane, stop('p1', 'one'));
    await deliver(pane, stop('p1', 'two', { stop_hook_active: true }));
    expect(await saidIn(workspace, WEB)).toEqual(['one', 'two']);
  });

  it('is read from the end of the transcript when Claude Code is too old to send it', async () => {
    const { workspace, deliver, stop, pane, transcript } = await start();
    const old = stop(undefined, undefined);
    writeFileSync(transcript, promptLine('go', 'p1'));
    const telling = deliver(pane, old);
    setTimeout(() => appendFileSync(transcript, saidLine('late, but here', 'a')), 100);
    await telling;
    expect(await saidIn(workspace, WEB)).toEqual(['late, but here']);
  });

  it.each([
    ['the transcript is written late', promptLine('go', 'p1'), ''],
    ['even the prompt is written late', promptLine('earlier', 'p0'), promptLine('go', 'p1')],
  ])('contains what was said before the last text, also if %s', async (_, before, after) => {
    const { workspace, deliver, stop, pane, transcript } = await start();
    writeFileSync(transcript, before);
    const telling = deliver(pane, stop('p1', 'two'));
    setTimeout(() => appendFileSync(transcript, after + saidLine('one', 'a') + saidLine('two', 'b')), 100);
    await telling;
    expect(await saidIn(workspace, WEB)).toEqual(['one', 'two']);
  });

  it('is not posted if it is empty, and needs no transcript', async () => {
    const { workspace, deliver, pane } = await start();
    await deliver(pane, stopInput('  \n '));
    await deliver(pane, stopInput('alone'));
    expect(await saidIn(workspace, WEB)).toEqual(['alone']);
  });

  it('omits what the user does not want to see', async () => {
    const config = { strip: ['^---\\n\\[COACH\\][\\s\\S]*?^---\\n', '^— yours, Claude$'] };
    const { workspace, deliver, pane } = await start({ config });
    await deliver(pane, stopInput('---\n[COACH] breathe\n---\nThe answer.\n\n\n\n— yours, Claude'));
    await deliver(pane, stopInput('— yours, Claude'));
    expect(await saidIn(workspace, WEB)).toEqual(['The answer.']);
  });

  it('shows tables as aligned text, and mentions nobody', async () => {
    const { workspace, deliver, stop, pane, transcript } = await start();
    const table = readFileSync(transcript, 'utf8').match(/"promptId": "(981a[^"]+)"/)?.[1];
    const text = `@everyone <@${workspace.userId}> look:\n\n| a | bb |\n|---|---|\n| 1 | 22 |`;
    await deliver(pane, stop(table, undefined));
    await deliver(pane, stopInput(text));
    const [recorded, typed] = await messagesIn(workspace, WEB);
    expect(recorded?.content).toContain('@everyone');
    expect(recorded?.content).not.toContain('|------|');
    expect(typed?.content).toMatch(/```\n *a +bb\n/);
    for (const message of [recorded, typed]) {
      expect(message?.mention_everyone).toBe(false);
      expect(message?.mentions).toEqual([]);
    }
  });

  const long = (lines: number) => Array.from({ length: lines }, (_, n) => `line ${n} ${'x'.repeat(40)}`).join('\n');

  it('that is long is posted whole in messages, and only the first one notifies', async () => {
    const { workspace, deliver, pane } = await start();
    await deliver(pane, stopInput(long(600)));
    const messages = await messagesIn(workspace, WEB);
    expect(messages.length).toBeGreaterThan(12);
    expect((await saidIn(workspace, WEB)).join('\n').trim()).toBe(long(600));
    expect(messages.flatMap(({ attachments }) => attachments)).toEqual([]);
    expect(messages.map(isSilent)).toEqual(messages.map((_, at) => at > 0));
  });

  it('that needs more than 20 messages has the first ones, and all of it as a file', async () => {
    const { workspace, deliver, pane } = await start();
    await deliver(pane, stopInput(long(1_000)));
    const messages = await messagesIn(workspace, WEB);
    expect(messages).toHaveLength(20);
    expect(messages.every(({ content }) => content.length <= 2_000)).toBe(true);
    expect(messages.at(-1)?.content).toMatch(/^\*… about \d+ more messages\. The whole reply is in the file\.\*$/);
    expect(messages.at(-1)?.attachments.map(({ filename }) => filename)).toEqual(['reply.md']);
    expect(await fetched(workspace, messages.at(-1))).toBe(long(1_000));
  });

  it('has the same parts at every attempt, even if the footer has changed in between', async () => {
    let isLost = false;
    const workspace = await startTestWorkspace({
      faults: {
        onRequest: ({ method, body }) =>
          isLost && method === 'POST' && JSON.stringify(body).includes('line 70')
            ? { kind: 'answer', status: 403, body: { code: 50013, message: 'not now' } }
            : undefined,
      },
    });
    const machine = startMachine(workspace);
    const { deliver } = openTestCourier(machine);
    const pane = machine.session('web');
    const lines = Array.from({ length: 75 }, (_, n) => `line ${n} ${'x'.repeat(30)}`);
    const letter = { salt: 'one letter' };
    const input = stopInput(lines.join('\n'), { session_id: 's1' });
    isLost = true;
    await expect(deliver(pane, input, letter)).rejects.toThrow();
    isLost = false;
    const model = { display_name: `A model with a name of ${'some '.repeat(12)}length` };
    writeWhole(join(machine.home.folder('status'), 's1.json'), JSON.stringify({ session_id: 's1', model }));
    machine.tmux.call('rename-session', '-t', '=web', 'a-much-longer-name-than-before');
    await deliver(pane, input, letter);
    expect((await saidIn(workspace, WEB)).join('\n').trim()).toBe(lines.join('\n'));
  });

  it('shows its cost in a small line below, if the status line reported it', async () => {
    const { workspace, machine, deliver, pane } = await start();
    const status = {
      session_id: 's1',
      model: { display_name: 'Opus 4.8 (1M context)' },
      context_window: { used_percentage: 41.7 },
      cost: { total_cost_usd: 1.5 },
      rate_limits: { five_hour: { used_percentage: 12, resets_at: 1_800_000_000 } },
    };
    writeWhole(join(machine.home.folder('status'), 's1.json'), JSON.stringify(status));
    await deliver(pane, stopInput('hello', { session_id: 's1' }));
    await deliver(pane, stopInput('hello', { session_id: '../../etc/passwd' }));
    const [first, second] = await messagesIn(workspace, WEB);
    expect(first?.content.split('\n').at(-1)).toBe(
      '-# Opus 4.8 · 42% context · $1.50 · 5h 12% (resets <t:1800000000:R>)',
    );
    expect(second?.content.split('\n').at(-1)).toBe('hello');
  });

  it('notifies its users, but a start does not', async () => {
    const { workspace, deliver, pane } = await start();
    await deliver(pane, fixture('SessionStart'));
    await deliver(pane, stopInput('hello'));
    const [begun, reply] = await messagesIn(workspace, WEB);
    expect((begun?.flags ?? 0) & 4096).toBe(4096);
    expect((reply?.flags ?? 0) & 4096).toBe(0);
  });
});

describe('a disk without space for the saved state', () => {
  it('delays and repeats nothing', async () => {
    const { workspace, machine, deliver, stop, pane } = await start();
    for (const name of ['threads.json', 'shown.json', 'panes.json', 'progress.json'])
      mkdirSync(machine.home.path('state', name)); // no file can be written in its place
    writeFileSync(machine.home.path('panes'), 'in the way');
    await deliver(pane, stop(STEPS, SAID_IN_STEPS[2]));
    await deliver(pane, stopInput('next'));
    expect(await saidIn(workspace, WEB)).toEqual([...SAID_IN_STEPS, 'next']);
  });
});

describe('notifications', () => {
  const idle = (transcript: string, prompt: string) => ({
    ...fixture('Notification.idle_prompt'),
    session_id: fixture('Stop').session_id,
    transcript_path: transcript,
    prompt_id: prompt,
  });

  it('add nothing after the reply, whichever courier posted it', async () => {
    const { workspace, machine, deliver, stop, pane, transcript } = await start();
    await deliver(pane, stop(STEPS, SAID_IN_STEPS[2]));
    await deliver(pane, idle(transcript, STEPS));
    await openTestCourier(machine).deliver(pane, idle(transcript, STEPS));
    expect(await saidIn(workspace, WEB)).toEqual(SAID_IN_STEPS);
  });

  it('post the reply if it never arrived', async () => {
    const { workspace, deliver, pane, transcript } = await start();
    await deliver(pane, idle(transcript, HELLO));
    expect(await saidIn(workspace, WEB)).toEqual(['Echo: hello']);
  });
});

describe('a turn that failed', () => {
  it('posts what was said before, and only the failure notifies', async () => {
    const { workspace, deliver, pane, transcript } = await start();
    writeFileSync(transcript, promptLine('go', 'p1') + saidLine('one', 'a') + saidLine('two', 'b'));
    await deliver(pane, { ...fixture('StopFailure'), transcript_path: transcript, prompt_id: 'p1' });
    expect(await saidIn(workspace, WEB)).toEqual(['one', 'two', expect.stringMatching(/^⚠️ Claude stopped/)]);
    expect((await messagesIn(workspace, WEB)).map(isSilent)).toEqual([true, true, false]);
  });

  it.each([
    ['rate_limit', 'a usage limit was reached'],
    ['authentication_failed', 'Claude Code is not logged in'],
    ['unknown', 'the turn ended with an error'],
    [undefined, 'the turn ended with an error'],
  ])('with the error %s says: %s', async (error, words) => {
    const { workspace, deliver, pane } = await start();
    await deliver(pane, { ...fixture('StopFailure'), error });
    expect(await saidIn(workspace, WEB)).toEqual([
      `⚠️ Claude stopped: ${words}.\n> API Error: 400 scripted failure 400`,
    ]);
  });
});
