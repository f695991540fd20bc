// A headless agent and its thread: prompts one at a time, in order, each a turn of the same conversation. What becomes of
// a prompt is told once; after a restart the conversation goes on, and a turn that was cut off is said to have been.

import { setTimeout as sleep } from 'node:timers/promises';
import { explain, isThreadmuxError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { stableNonce } from '../core/nonce.ts';
import { createMessage } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import type { Home } from '../home/home.ts';
import type { StreamRecord } from '../home/stream-record.ts';
import { agentArguments, guarded } from './agent-arguments.ts';
import { type Asked, createJob, type Job, over, type Prompt, type Turn } from './agent-job.ts';
import { agentEnvironment } from './agent-process.ts';
import { openAgentState, overAs, withOver } from './agent-state.ts';
import { duration, type Ended, failureReason, lastWords } from './agent-text.ts';
import { type RunningTurn, startTurn } from './agent-turn.ts';
import { untilShown } from './until-shown.ts';

export interface AgentParts {
  readonly home: Home;
  readonly rest: Rest;
  readonly botId: string;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The agent and arguments that always come first. */
  readonly command: readonly string[];
  /** A file for `--settings` that brings our permission hook along. */
  readonly agentSettings: string | undefined;
  /** Commands of Claude Code that may be given; any other text that looks like one is just text. */
  readonly slashCommands?: readonly string[];
  readonly shell?: string;
  readonly unaskedMs?: number;
  /** Before every start, because what is allowed may have changed since: rejects if its directory is not any more. */
  readonly check?: (record: StreamRecord) => Promise<{ readonly skipPermissions: boolean }>;
}

export interface Agent {
  ask(prompt: Prompt): Asked;
  /** Ends what runs, with every process of it, and drops what waits; false if there was nothing. */
  stop(): Promise<boolean>;
  /** What is asked from now on begins a new conversation. */
  fresh(): Promise<void>;
  state(): 'working' | 'idle';
  /** Ends the process and says nothing; a turn that ran is told to have been cut off by whoever opens it next. */
  close(): Promise<void>;
  /** There is no next time, because its thread is gone or it is done: ends the process and drops what ran or waited. */
  end(): Promise<void>;
}

/** What was stopped may still say so. */
const LAST_WORDS_MS = 5_000;
/** Far longer than its processes take to end. */
const END_MS = 20_000;
const GONE: Turn = { kind: 'dropped', because: 'the agent was ended' };
const NEVER_STARTED: Ended = { results: [], status: undefined, stderr: '' };
const LOST = /No conversation found with session ID/;

export function openAgent(parts: AgentParts, record: StreamRecord): Agent {
  const { home, rest, log } = parts;
  const { thread } = record;
  const state = openAgentState(home, thread);
  const closing = new AbortController();
  const waiting: Job[] = [];
  let running: { readonly job: Job; turn: RunningTurn | undefined } | undefined;
  const told = { toStop: false, dropped: 0 };
  let conversation = 0;
  let isGone = false;
  const cutOff = state.get().running;
  let idle = cutOff === undefined ? Promise.resolve() : tellOfCutOff(cutOff);

  async function say(about: readonly string[], content: string, silent = false): Promise<void> {
    const nonce = stableNonce('agent', thread, ...about);
    const { signal } = closing;
    await untilShown(() => createMessage(rest, thread, nonce, { content, silent }, { signal }), {
      thread,
      log,
      signal,
    });
  }

  /** What was said has been said: a full disk must not end it. Of one that is gone nothing is kept. */
  function remember(change: Parameters<typeof state.set>[0]): void {
    if (isGone) return;
    try {
      state.set(change);
    } catch (error) {
      log.warn('remembering an agent', { thread, because: (error as Error).message });
    }
  }

  async function tellOfCutOff(id: string): Promise<void> {
    const words = '⚠️ The bridge was restarted while this turn ran, and the turn ended with it.';
    await say([id, 'cut off'], `${words}\n-# The conversation is kept: write to go on.`);
    if (!closing.signal.aborted) ended(id, { kind: 'failed' });
  }

  function ended(id: string, { kind }: Turn): void {
    remember({ running: undefined, over: withOver(state.get().over, { id, kind }) });
  }

  async function work(): Promise<void> {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      if (closing.signal.aborted) return;
      running = { job, turn: undefined };
      remember({ running: job.id });
      job.begin();
      const turn = await turnOf(job).catch(async (error: Error): Promise<Turn> => {
        if (isThreadmuxError(error))
          log.info('a turn of an agent', { thread, because: error.message });
        else log.error('a turn of an agent', { thread, because: error.stack ?? error.message });
        await say([job.id, 'failed'], `⚠️ The agent could not be started: ${explain(error)}`);
        return { kind: 'failed', because: error.message };
      });
      running = undefined;
      if (closing.signal.aborted) return;
      ended(job.id, turn);
      job.settle(turn);
    }
  }

  async function turnOf(job: Job): Promise<Turn> {
    const began = Date.now();
    Object.assign(told, { toStop: false, dropped: 0 });
    const resumed = state.get().session;
    let outcome = await run(job, resumed);
    const isLost = resumed !== undefined && LOST.test(failureReason(outcome) ?? '');
    if (isLost && !told.toStop && !closing.signal.aborted) {
      remember({ session: undefined });
      outcome = await run(job, undefined);
    }
    const note = isLost ? '-# The earlier conversation was gone: this is a new one.' : '';
    if (told.toStop) {
      const after = `⏹️ Stopped after ${duration(Date.now() - began)}.`;
      await say([job.id, 'stopped', String(began)], after + droppedNote(told.dropped), true);
      return { kind: 'stopped' };
    }
    const because = failureReason(outcome);
    await say([job.id, 'result', String(began)], lastWords(outcome, note));
    return because === undefined ? { kind: 'done' } : { kind: 'failed', because };
  }

  async function run(job: Job, session: string | undefined): Promise<Ended> {
    const allowed = (await parts.check?.(record)) ?? { skipPermissions: true };
    if (told.toStop || closing.signal.aborted) return NEVER_STARTED;
    const skipPermissions = record.skipPermissions && allowed.skipPermissions;
    const { agentSettings } = parts;
    const mine = conversation;
    const turn = startTurn({
      ...parts,
      thread,
      prompt: { id: job.id, text: guarded(job.text, parts.slashCommands ?? []) },
      dir: record.dir,
      shell: parts.shell ?? (parts.env.SHELL || '/bin/sh'),
      command: [...parts.command, ...agentArguments({ agentSettings, skipPermissions, session })],
      env: agentEnvironment(parts.env, { THREADMUX_HOME: home.root, THREADMUX_THREAD: thread }),
      signal: closing.signal,
      onSession(id) {
        if (mine === conversation && state.get().session !== id) remember({ session: id });
      },
    });
    running = { job, turn };
    return turn.done;
  }

  async function close(): Promise<void> {
    if (told.toStop) await within(LAST_WORDS_MS, idle);
    closing.abort();
    await running?.turn?.stop();
    await idle;
  }

  return {
    ask(prompt) {
      if (isGone) return over(GONE);
      const before = waiting.length + (running === undefined ? 0 : 1);
      const kind = overAs(state.get().over, prompt.id);
      const known = [running?.job, ...waiting].find((job) => job?.id === prompt.id);
      if (known !== undefined) return { before: 0, begun: known.begun, done: known.done };
      if (prompt.id === cutOff) return over({ kind: 'failed', because: 'it was cut off' });
      if (kind !== undefined) return over({ kind });
      const job = createJob(prompt);
      waiting.push(job);
      if (before === 0) idle = idle.then(work);
      return { before, begun: job.begun, done: job.done };
    },
    async stop() {
      const dropped = waiting.splice(0);
      const turn = { kind: 'dropped', because: 'it was told to stop' } as const;
      const more = dropped.map(({ id }) => ({ id, kind: turn.kind }));
      if (more.length > 0) remember({ over: withOver(state.get().over, ...more) });
      for (const job of dropped) job.settle(turn);
      if (running === undefined) return dropped.length > 0;
      told.toStop = true;
      told.dropped += dropped.length;
      await running.turn?.stop();
      return true;
    },
    async fresh() {
      conversation += 1;
      remember({ session: undefined });
    },
    state: () => (running === undefined && waiting.length === 0 ? 'idle' : 'working'),
    close,
    async end() {
      isGone = true;
      const open = [...(running === undefined ? [] : [running.job]), ...waiting.splice(0)];
      await within(END_MS, close());
      for (const job of open) job.settle(GONE);
    },
  };
}

async function within(ms: number, what: Promise<void>): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([what, sleep(ms, undefined, { ref: false, signal }).catch(() => {})]);
  over.abort();
}

function droppedNote(dropped: number): string {
  if (dropped === 0) return '';
  return dropped === 1
    ? ' The message that waited was dropped.'
    : ` ${dropped} messages that waited were dropped.`;
}
