// What Claude wrote before it asks is in the thread before the prompt, and every text of a turn is there once and in order, even if
// the courier is killed at any step.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openTestCourier } from '../support/courier-setup.ts';
import {
  type Courier,
  fixture,
  type Machine,
  messagesIn,
  startMachine,
  threadsOf,
  transcriptFixture,
} from '../support/hook-process.ts';
import { type PromptPane, promptIn, type SaidLate, startHook, startPromptPane } from '../support/prompt-pane.ts';
import { startPromptCourier } from '../support/prompt-setup.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTestWorkspace, type TestWorkspace, type WireMessage } from '../support/workspace.ts';

const WEB = '[agent] web';
const WAIT = { timeout: 25_000, interval: 50 };
const isSilent = ({ flags }: WireMessage) => ((flags ?? 0) & 4096) !== 0;

async function start(options: Parameters<typeof startTestWorkspace>[0] = {}) {
  const workspace = await startTestWorkspace(options);
  const machine = startMachine(workspace);
  const pane = await startPromptPane(machine);
  await pane.show('dialog-permission-bash');
  return { workspace, machine, pane };
}

/** Everything after the message that Claude has started, without the lines of progress. */
async function said(workspace: TestWorkspace): Promise<readonly WireMessage[]> {
  const messages = await messagesIn(workspace, WEB);
  return messages.slice(1).filter(({ content }) => !content.split('\n').every((line) => line.startsWith('-# ')));
}

const contents = async (workspace: TestWorkspace) => (await said(workspace)).map(({ content }) => content);
const begins = (text: string) => expect.stringMatching(new RegExp(`^${text}`));

function ask(machine: Machine, pane: PromptPane, late?: SaidLate, name = 'Bash') {
  return startHook(machine, pane, pane.input(name, {}, late), { PATH: machine.pathWithoutNode });
}

describe('before a prompt,', () => {
  it.each([
    ['Bash', 0],
    ['Bash', 300],
    ['AskUserQuestion', 300],
    ['ExitPlanMode', 700],
  ])(
    'what Claude wrote is posted silently, also if %s is written %i ms after the hook started',
    async (name, afterMs) => {
      const { workspace, machine, pane } = await start();
      await startPromptCourier(machine);
      ask(machine, pane, { text: 'This is why I ask.', afterMs }, name);
      const prompt = await promptIn(workspace, pane.thread);
      const [text, second, ...others] = await said(workspace);
      expect(text?.content).toBe('This is why I ask.');
      expect([second?.id, others]).toEqual([prompt.id, []]);
      expect([text, second].map((one) => one && isSilent(one))).toEqual([true, false]);
    },
  );

  it('nothing is waited for longer than a moment', async () => {
    const { workspace, machine, pane } = await start();
    await startPromptCourier(machine);
    ask(machine, pane, { text: 'too late', afterMs: 60_000 });
    await promptIn(workspace, pane.thread);
    expect(await said(workspace)).toHaveLength(1);
  });

  it('a transcript that cannot be read does not prevent the prompt', async () => {
    const { workspace, machine, pane } = await start();
    await startPromptCourier(machine);
    const input = { ...pane.input('Bash'), transcript_path: '/proc/self/mem' };
    startHook(machine, pane, input, { PATH: machine.pathWithoutNode });
    await promptIn(workspace, pane.thread);
  });

  it('a text that Discord refuses does not prevent the prompt', async () => {
    const { workspace, machine, pane } = await start({
      faults: {
        onRequest: ({ body }) =>
          JSON.stringify(body ?? '').includes('refuse me')
            ? { kind: 'answer', status: 400, body: { code: 50035, message: 'no' } }
            : undefined,
      },
    });
    await startPromptCourier(machine);
    ask(machine, pane, { text: 'refuse me', afterMs: 0 });
    await promptIn(workspace, pane.thread);
  });

  it.each([
    ['text', 'the text is posted', 'apply-then-silence'],
    ['prompt', 'before the prompt is posted', 'reset'],
    ['prompt', 'the prompt is posted', 'apply-then-silence'],
  ] as const)('a courier killed with SIGKILL at the %s (%s) loses and repeats nothing', async (step, _, kind) => {
    let victim: Courier | undefined;
    const { workspace, machine, pane } = await start({
      faults: {
        onRequest({ method, body }) {
          const posted = JSON.stringify(body ?? '');
          const isIt = posted.includes(step === 'text' ? 'This is why' : '"p:');
          if (method !== 'POST' || !isIt || victim === undefined) return undefined;
          victim.child.kill('SIGKILL');
          victim = undefined;
          return { kind };
        },
      },
    });
    ask(machine, pane, { text: 'This is why I ask.', afterMs: 100 });
    await vi.waitFor(() => expect(machine.letters()).toHaveLength(1), WAIT);
    const first = machine.courier();
    victim = first;
    await first.ended;
    expect(first.child.signalCode).toBe('SIGKILL');
    machine.courier();
    await vi.waitFor(() => expect(machine.letters()).toEqual([]), WAIT);
    await promptIn(workspace, pane.thread);
    const messages = await said(workspace);
    expect(messages.map(({ content }) => content)).toEqual(['This is why I ask.', begins('🔔|.*Bash')]);
  });
});

describe('a turn with texts, tools and a reply', () => {
  /** The recorded turn "steps 2". */
  const LINES = readFileSync(transcriptFixture(), 'utf8').split('\n').slice(8, 16);
  const STEPS = 'c246dd8e-7a77-4077-9e70-f88b8a5d01b7';
  const TEXTS = ['Step 1 of 2: looking around.', 'Step 2 of 2: looking around.', 'Done. The tool said: step 1\nstep 2'];

  it.each([0, 1, 2, 3])('is posted once and in order if the courier is killed at its request %i', async (step) => {
    let victim: Courier | undefined;
    let requests = 0;
    const { workspace, machine, pane } = await start({
      faults: {
        onRequest({ method, path }) {
          if (method === 'GET' || path.endsWith('/typing') || victim === undefined || requests++ !== step)
            return undefined;
          victim.child.kill('SIGKILL');
          return { kind: 'apply-then-silence' };
        },
      },
    });
    const { transcript, claudeSession } = pane.record();
    const facts = { session_id: claudeSession, transcript_path: transcript, prompt_id: STEPS };
    const drop = (name: string, more = {}) => machine.write(pane.env, { ...fixture(name), ...facts, ...more });
    const write = (from: number, to: number) => appendFileSync(transcript, `${LINES.slice(from, to).join('\n')}\n`);
    writeFileSync(transcript, '');
    drop('UserPromptSubmit');
    victim = machine.courier();
    let running = victim;
    const alive = async (check: () => Promise<void>) => {
      await vi.waitFor(async () => {
        if (running.child.signalCode !== null) {
          victim = undefined;
          running = machine.courier();
        }
        await check();
      }, WAIT);
    };
    write(0, 3);
    await alive(async () => expect(await contents(workspace)).toEqual(TEXTS.slice(0, 1)));
    write(3, 6);
    await alive(async () => expect(await contents(workspace)).toEqual(TEXTS.slice(0, 2)));
    write(6, 8);
    drop('Stop', { last_assistant_message: TEXTS[2] });
    await alive(async () => {
      expect(machine.letters()).toEqual([]);
      expect(await contents(workspace)).toEqual([TEXTS[0], TEXTS[1], expect.stringContaining(TEXTS[2] ?? '')]);
    });
    await alive(async () => {
      const lines = (await messagesIn(workspace, WEB)).filter(({ content }) => /^-# [^\n]*$/.test(content));
      expect(lines.map(({ content }) => content)).toEqual([expect.stringMatching(/^-# Bash ×2 · \d+ s$/)]);
    });
    expect((await said(workspace)).map(isSilent)).toEqual([true, true, false]);
    expect(requests, 'it was killed').toBeGreaterThan(step);
  });

  it('has one line with its sum if the courier is killed when it posts the line, and the turn is over when the next one starts', async () => {
    let victim: Courier | undefined;
    const { workspace, machine, pane } = await start({
      faults: {
        onRequest({ method, body }) {
          const { content = '' } = (body ?? {}) as { content?: string };
          if (method !== 'POST' || !content.startsWith('-# working')) return undefined;
          victim?.child.kill('SIGKILL');
          return { kind: 'apply-then-silence' };
        },
      },
    });
    const { transcript, claudeSession } = pane.record();
    const facts = { session_id: claudeSession, transcript_path: transcript, prompt_id: STEPS };
    const drop = (name: string, more = {}) => machine.write(pane.env, { ...fixture(name), ...facts, ...more });
    writeFileSync(transcript, '');
    drop('UserPromptSubmit');
    victim = machine.courier();
    appendFileSync(transcript, `${LINES.slice(0, 3).join('\n')}\n`);
    await victim.ended;
    appendFileSync(transcript, `${LINES.slice(3, 8).join('\n')}\n`);
    drop('Stop', { last_assistant_message: TEXTS[2] });
    const next = machine.courier();
    await vi.waitFor(async () => {
      const lines = (await messagesIn(workspace, WEB)).filter(({ content }) => /^-# [^\n]*$/.test(content));
      expect(lines.map(({ content }) => content)).toEqual([expect.stringMatching(/^-# Bash ×2 · \d+ s$/)]);
    }, WAIT);
    await next.kill();
  });

  const begin = async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    const transcript = join(tempFolder(), 't.jsonl');
    writeFileSync(transcript, `${LINES.slice(0, 3).join('\n')}\n`);
    const facts = { transcript_path: transcript, prompt_id: STEPS };
    const courier = openTestCourier(machine);
    await courier.deliver(pane, { ...fixture('UserPromptSubmit'), ...facts });
    await vi.waitFor(async () => expect(await messagesIn(workspace, WEB)).toHaveLength(2), WAIT);
    return { workspace, machine, pane, transcript, facts, ...courier };
  };

  it('is interrupted in its archived thread, and gets no other thread, if its session was closed', async () => {
    const { workspace, machine, transcript, context } = await begin();
    const [{ id = '' } = {}] = await threadsOf(workspace);
    context.threads.registry.change(id, { closed: true });
    appendFileSync(transcript, `${LINES.slice(3, 6).join('\n')}\n`);
    machine.tmux.call('kill-session', '-t', '=web');
    await workspace.bot('PATCH', `/channels/${id}`, { archived: true });
    await vi.waitFor(async () => {
      const [, line] = await messagesIn(workspace, WEB);
      expect(line?.content).toMatch(/^-# interrupted · Bash ×2 · \d+ s$/);
      expect(await threadsOf(workspace)).toMatchObject([{ id, thread_metadata: { archived: true } }]);
    }, WAIT);
    expect(context.progress.isBusy()).toBe(false);
  });

  it('is interrupted by the last report of a session that was closed, which is not posted and opens no thread', async () => {
    const { workspace, pane, facts, deliver, context } = await begin();
    const [{ id = '' } = {}] = await threadsOf(workspace);
    context.threads.registry.change(id, { closed: true });
    await workspace.bot('PATCH', `/channels/${id}`, { archived: true });
    await deliver(pane, { ...fixture('SessionEnd'), ...facts });
    expect(context.progress.isBusy()).toBe(false);
    const texts = (await messagesIn(workspace, WEB)).map(({ content }) => content);
    expect(texts).toEqual([TEXTS[0], expect.stringMatching(/^-# interrupted · /)]);
    expect(await threadsOf(workspace)).toMatchObject([{ id, thread_metadata: { archived: true } }]);
  });

  it('posts what is missing before it tells that Claude has exited', async () => {
    const { workspace, pane, transcript, facts, deliver } = await begin();
    appendFileSync(transcript, `${LINES.slice(3, 5).join('\n')}\n`);
    await deliver(pane, { ...fixture('SessionEnd'), ...facts });
    const texts = (await messagesIn(workspace, WEB)).map(({ content }) => content);
    expect(texts.filter((text) => !text.startsWith('-# '))).toEqual([TEXTS[0], TEXTS[1], '⏹️ Claude has exited.']);
  });
});
