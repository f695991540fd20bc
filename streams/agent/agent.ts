// A headless agent and its thread: runs prompts one at a time, in order, each as a turn of the same conversation. The result of
// a prompt is reported once. After a restart the conversation continues, and an interrupted turn is reported as such.

import { setTimeout as sleep } from 'node:timers/promises';
import { asHeadless, type ConfiguredAgent } from '../../agents/configured-agent.ts';
import { isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Rest } from '../../discord/rest.ts';
import type { Home } from '../../home/home.ts';
import type { StreamRecord } from '../../home/stream-record.ts';
import { openUnpostedFile, type PostedTurn, postTurn, type UnpostedTurn } from './post.ts';
import { agentEnvironment } from './process.ts';
import type { AgentHost } from './remote-process.ts';
import {
  type AgentJob,
  type AgentPrompt,
  type AskedTurn,
  createAgentJob,
  type FinishedTurn,
  isTurnOver,
  openAgentState,
  overAs,
  withOver,
} from './state.ts';
import { CUT_OFF, endOf, isLost, notStarted, type RunningTurn, startTurn, stopped, type TurnOutput } from './turn.ts';

export interface AgentParts {
  readonly home: Home;
  readonly rest: Rest;
  readonly botId: string;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The agent of this record, as the configuration describes it now. */
  readonly agentOf: (record: Pick<StreamRecord, 'agent'>) => ConfiguredAgent;
  /** A file with settings for Claude Code that add our permission hook. */
  readonly agentSettings: string | undefined;
  /** Whether a prompt is a command, of the agent or the user's own, that may be used there. Other text that looks like one is sent as text. */
  readonly isCommand?: (text: string, record: StreamRecord) => Promise<boolean>;
  /** For an agent on another host, which must be reachable: where it runs, and the settings there. */
  readonly there?: (host: string) => Promise<AgentHost & { readonly agentSettings: string }>;
  readonly shell?: string;
  readonly unaskedMs?: number;
  /** Called before every start, because the configuration may have changed. Rejects if the directory is no longer allowed. */
  readonly check?: (record: StreamRecord) => Promise<{ readonly skipPermissions: boolean }>;
}

export interface Agent {
  ask(prompt: AgentPrompt): AskedTurn;
  /** Ends the running turn with all its processes and drops waiting prompts. False if there was nothing to stop. */
  stop(): Promise<boolean>;
  /** The next prompt begins a new conversation. */
  fresh(): Promise<void>;
  state(): 'working' | 'idle';
  /** Ends the process silently. The next process that opens the agent reports the turn as interrupted. */
  close(): Promise<void>;
  /** The thread is gone or done: ends the process and drops running and waiting prompts, permanently. */
  end(): Promise<void>;
}

interface Told {
  readonly due: UnpostedTurn;
  readonly streamed?: Promise<PostedTurn> | undefined;
}

/** How long a stopped agent may take to report it. */
const LAST_WORDS_MS = 5_000;
/** Much longer than its processes take to end. */
const END_MS = 20_000;
const GONE: FinishedTurn = { kind: 'dropped', because: 'the agent was ended' };

export function openAgent(parts: AgentParts, record: StreamRecord): Agent {
  const { home, rest, log } = parts;
  const { thread } = record;
  const state = openAgentState(home, thread);
  const dues = openUnpostedFile(home, thread);
  const closing = new AbortController();
  const waiting: AgentJob[] = [];
  let running: { readonly job: AgentJob; turn: RunningTurn | undefined } | undefined;
  const told = { toStop: false, dropped: 0 };
  let conversation = 0;
  let isGone = false;
  const unsaid = unsaidBefore();
  let idle = unsaid === undefined ? Promise.resolve() : finish(unsaid).then(() => {});

  /** Of a turn whose end the previous bridge process could not report. */
  function unsaidBefore(): UnpostedTurn | undefined {
    const { running: id, over } = state.get();
    const due = dues.load();
    if (due !== undefined && overAs(over, due.id) === undefined) return due;
    return id === undefined ? undefined : { ...CUT_OFF, id, startedAt: 0, parts: [], shown: [] };
  }

  /** Posts the end of a turn. False if this process had to close first: the next one continues. */
  async function finish(due: UnpostedTurn, streamed?: Promise<PostedTurn>): Promise<boolean> {
    const { id, turn } = due;
    const { signal } = closing;
    keep(() => dues.save(due));
    const onShown = (now: PostedTurn) => keep(() => dues.note(due, now));
    const shown = (await streamed) ?? due.shown;
    onShown(shown);
    if (!(await postTurn({ ...due, shown }, { rest, thread, log, signal, onShown }))) return false;
    remember({ running: undefined, over: withOver(state.get().over, { id, kind: turn.kind }) });
    keep(dues.remove);
    return true;
  }

  function remember(change: Parameters<typeof state.set>[0]): void {
    keep(() => state.set(change));
  }

  /** The end is already posted, so a full disk must not fail it. A removed agent keeps no state. */
  function keep(write: () => void): void {
    if (isGone) return;
    try {
      write();
    } catch (error) {
      log.warn('remembering an agent', { thread, because: (error as Error).message });
    }
  }

  async function work(): Promise<void> {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      if (closing.signal.aborted) return;
      running = { job, turn: undefined };
      remember({ running: job.id });
      job.begin();
      const said = await turnOf(job).catch((error: Error): Told => {
        complain(error);
        return { due: { ...notStarted(error), id: job.id, startedAt: Date.now(), parts: [], shown: [] } };
      });
      const isFinished = said !== undefined && (await finish(said.due, said.streamed));
      if (said === undefined) remember({ running: undefined });
      running = undefined;
      if (!isFinished || closing.signal.aborted) return;
      job.settle(said.due.turn);
    }
  }

  function complain(error: Error): void {
    if (isThreadmuxError(error)) log.info('a turn of an agent', { thread, because: error.message });
    else log.error('a turn of an agent', { thread, because: error.stack ?? error.message });
  }

  /** Undefined if this process closes and the turn was not started. */
  async function turnOf(job: AgentJob): Promise<Told | undefined> {
    const began = Date.now();
    Object.assign(told, { toStop: false, dropped: 0 });
    const resumed = state.get().session;
    let said = await run(job, resumed);
    const isNew = resumed !== undefined && isLost(said, runnable().driver.headless);
    if (isNew && !told.toStop && !closing.signal.aborted) {
      await said?.streamed;
      remember({ session: undefined });
      said = await run(job, undefined);
    }
    if (said === undefined && !told.toStop) return undefined;
    const { startedAt = began, parts = [], shown = [], streamed } = said ?? {};
    const end = said === undefined || told.toStop ? stopped(Date.now() - began, told.dropped) : endOf(said, isNew);
    return { streamed, due: { ...end, id: job.id, startedAt, parts, shown } };
  }

  const runnable = () => asHeadless(parts.agentOf(record));

  async function run(job: AgentJob, session: string | undefined): Promise<TurnOutput | undefined> {
    const mine = conversation;
    const refusal = job.refusal?.();
    if (refusal !== undefined) throw new ThreadmuxError('bad_usage', refusal);
    const { driver, command, variables } = runnable();
    const allowed = (await parts.check?.(record)) ?? { skipPermissions: true };
    const isCommand = job.text.startsWith('/') && (await parts.isCommand?.(job.text, record)) === true;
    if (told.toStop || closing.signal.aborted) return undefined;
    const skipPermissions = record.skipPermissions && allowed.skipPermissions;
    const there = record.far && (await parts.there?.(record.far.host));
    const { agentSettings: hookSettings } = there ?? parts;
    const turn = startTurn({
      ...parts,
      thread,
      there,
      driver,
      prompt: { id: job.id, text: job.text, isCommand },
      dir: record.dir,
      shell: parts.shell ?? (parts.env.SHELL || '/bin/sh'),
      command: driver.headless.argv({ command, hookSettings, skipPermissions, session }),
      env: agentEnvironment(parts.env, variables, {
        THREADMUX_HOME: home.root,
        ...(driver.headless.asks ? { THREADMUX_THREAD: thread } : {}),
      }),
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
      if (isGone) return isTurnOver(GONE);
      const before = waiting.length + (running === undefined ? 0 : 1);
      const kind = overAs(state.get().over, prompt.id);
      const known = [running?.job, ...waiting].find((job) => job?.id === prompt.id);
      if (known !== undefined) return { before: 0, begun: known.begun, done: known.done };
      if (prompt.id === unsaid?.id) return isTurnOver(unsaid.turn);
      if (kind !== undefined) return isTurnOver({ kind });
      const job = createAgentJob(prompt);
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
