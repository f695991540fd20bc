// One turn of a headless agent: starts it, sends the prompt, and shows its output in the thread while it runs.
// The messages always show a beginning of the document; the caller posts the complete document at the end.
import type { AgentDriver } from '../../agents/driver.ts';
import type { HeadlessEvent, HeadlessResult, HeadlessRunner } from '../../agents/headless.ts';
import { formatDuration } from '../../core/duration.ts';
import type { Log } from '../../core/log.ts';
import { untrustedHint, untrustedText } from '../../core/untrusted-text.ts';
import { showTyping } from '../../discord/messages.ts';
import type { Rest } from '../../discord/rest.ts';
import type { Home } from '../../home/home.ts';
import { loadPromptRecords } from '../../threads/prompts/prompt-record.ts';
import { type OpenStreamMessage, postStreamParts, type StreamPart } from '../post-stream.ts';
import { EMPTY_DOCUMENT, failureReason, lastWords, partsOf, type TurnEnd, withEvent, withResult } from './document.ts';
import { partNonce, pause, type UnpostedTurn } from './post.ts';
import { type AgentCommand, startAgentProcess } from './process.ts';
import { type AgentHost, startRemoteAgentProcess } from './remote-process.ts';

interface TurnOptions extends Omit<AgentCommand, 'onLine'> {
  /** Undefined on this machine. */
  readonly there: AgentHost | undefined;
  readonly home: Home;
  readonly rest: Rest;
  readonly log: Log;
  readonly thread: string;
  readonly prompt: { readonly id: string; readonly text: string; readonly isCommand: boolean };
  readonly driver: AgentDriver & { readonly headless: HeadlessRunner };
  readonly onSession: (id: string) => void;
  /** This process closes: nothing more is shown. */
  readonly signal: AbortSignal;
  /** How long the agent may wait for a permission that the hook has not asked for. */
  readonly unaskedMs?: number;
}

/** How the turn ended, and what remains to be shown. */
export interface TurnOutput extends TurnEnd {
  readonly startedAt: number;
  readonly parts: readonly StreamPart[];
  readonly shown: readonly OpenStreamMessage[];
  /** The turn ended because this process closed. */
  readonly isCut: boolean;
  /** What is shown once no request is running. */
  readonly streamed: Promise<readonly OpenStreamMessage[]>;
}

export interface RunningTurn {
  /** The process has ended. */
  readonly done: Promise<TurnOutput>;
  /** Resolves when no process is left. */
  stop(): Promise<void>;
}

const EDIT_MS = 1_000;
const LOOK_MS = 100;
const ASKING_MS = 1_000;
const COMPLAIN_MS = 60_000;
/** A background task can make Claude Code answer again after its result; wait for that, but not forever. */
const LINGER_MS = 600_000;
const TYPING_MS = 8_000;
const UNASKED_MS = 20_000;
/** Of requests that wait at the same time. */
const MOST_ASKING = 100;
/** It becomes an argument of the next turn. */
const SESSION_ID = /^\w[\w-]{0,99}$/;
const NOBODY = 'Nobody could be asked for this permission, so it was denied.';

export function startTurn(options: TurnOptions): RunningTurn {
  const { home, rest, log, thread, signal, prompt, driver } = options;
  const { headless, title } = driver;
  const reader = headless.reader();
  const startedAt = Date.now();
  let results: readonly HeadlessResult[] = [];
  const asking = new Set<string>();
  let document = EMPTY_DOCUMENT;
  let open: readonly OpenStreamMessage[] = [];
  let heardAt = startedAt;

  const { there } = options;
  const agent =
    there === undefined
      ? startAgentProcess({ ...options, onLine })
      : startRemoteAgentProcess({ ...options, ...there, asks: headless.asks, onLine });
  agent.write(headless.input(prompt.text, prompt.isCommand));
  if (!headless.keepsInput) agent.endInput();

  function onLine(line: string): void {
    heardAt = Date.now();
    take(reader.line(line));
  }

  function take(events: readonly HeadlessEvent[]): void {
    for (const event of events) {
      document = withEvent(document, event);
      if (event.kind === 'init' && SESSION_ID.test(event.sessionId)) options.onSession(event.sessionId);
      if (event.kind === 'asks' && asking.size < MOST_ASKING) asking.add(event.requestId);
      if (event.kind === 'answered') asking.delete(event.requestId);
      if (event.kind === 'result') {
        results = withResult(results, event);
        agent.endInput();
      }
    }
  }

  async function show(): Promise<void> {
    open = await postStreamParts(open, partsOf(document, false), {
      rest,
      thread,
      nonce: (at) => partNonce({ id: prompt.id, startedAt }, at),
      signal,
      onShown: (now) => {
        open = now;
      },
    });
  }

  /** At most once per second. If the server does not answer, the next attempt sends the newest text. */
  async function stream(ended: AbortSignal): Promise<void> {
    const due = createDue();
    let shown = document;
    for (; !ended.aborted; await pause(LOOK_MS, ended)) {
      if (document !== shown && due('edit', EDIT_MS)) {
        const now = document;
        const failure = await show().catch((error: Error) => error);
        if (failure === undefined) shown = now;
        else if (due('complaint', COMPLAIN_MS)) log.info('showing an agent', { thread, because: failure.message });
        due('edit', 0);
      }
      if (asking.size === 0 && due('typing', TYPING_MS)) showTyping(rest, thread).catch(() => {}); // optional, so errors are ignored
      if (due('asking', ASKING_MS)) denyUnasked();
      const silentMs = Date.now() - heardAt;
      if (results.length > 0 && asking.size === 0 && silentMs > LINGER_MS) void agent.end();
    }
    if (document !== shown) await pause(due.left('edit', EDIT_MS), signal);
  }

  /** The hook posts the prompt and waits for the answer. If it cannot, the agent would wait forever. */
  let askedAt = Date.now();
  function denyUnasked(): void {
    const isAsked = asking.size === 0 || loadPromptRecords(home).some((one) => one.thread === thread && !one.shown);
    if (isAsked) askedAt = Date.now();
    if (Date.now() - askedAt < (options.unaskedMs ?? UNASKED_MS)) return;
    for (const requestId of asking) {
      agent.write(headless.denial?.(requestId, NOBODY) ?? '');
      document = withEvent(document, { kind: 'tool failed', text: NOBODY });
    }
    asking.clear();
  }

  async function run(): Promise<TurnOutput> {
    const ended = new AbortController();
    const streaming = stream(ended.signal).catch((error: Error) =>
      log.error('following an agent', { thread, because: error.stack ?? error.message }),
    );
    const exit = await agent.ended;
    take(reader.end?.(exit.status) ?? []);
    const isCut = signal.aborted && (exit.status !== 0 || results.length === 0);
    ended.abort();
    return {
      title,
      results,
      ...exit,
      tookMs: Date.now() - startedAt,
      startedAt,
      isCut,
      shown: open,
      parts: partsOf(document, true),
      streamed: streaming.then(() => open),
    };
  }

  return { done: run(), stop: agent.end };
}

interface Due {
  /** Whether this is due again; marks it as done now if so. */
  (what: string, everyMs: number): boolean;
  left(what: string, everyMs: number): number;
}

function createDue(): Due {
  const last = new Map<string, number>();
  const left = (what: string, everyMs: number) => (last.get(what) ?? 0) + everyMs - Date.now();
  const due = (what: string, everyMs: number) => {
    if (left(what, everyMs) > 0) return false;
    last.set(what, Date.now());
    return true;
  };
  return Object.assign(due, { left });
}

// How a turn ended: the result of its prompt, and the text about it. Pure.
type AgentEnd = Pick<UnpostedTurn, 'words' | 'silent' | 'turn'>;

const RESTARTED = '⚠️ The bridge was restarted while this turn ran, and the turn ended with it.';
const NEW = '-# The earlier conversation no longer exists, so this is a new one.';

export const CUT_OFF: AgentEnd = {
  words: `${RESTARTED}\n-# The conversation is kept. Write a message to continue it.`,
  silent: false,
  turn: { kind: 'failed', because: 'it was cut off' },
};

/** `isCut`: it ended because this process closed. `isNew`: the conversation to continue did not exist any longer. */
export function endOf(ended: TurnEnd & { readonly isCut: boolean }, isNew: boolean): AgentEnd {
  if (ended.isCut) return CUT_OFF;
  if (ended.lost !== undefined && ended.results.length === 0) return lostOnTheWay(ended.lost);
  const because = failureReason(ended);
  const words = lastWords(ended, isNew ? NEW : '');
  const turn: AgentEnd['turn'] = because === undefined ? { kind: 'done' } : { kind: 'failed', because };
  return { words, silent: false, turn };
}

function lostOnTheWay(because: string): AgentEnd {
  const [why = ''] = because.split('\n', 1); // the rest is advice that does not fit here
  const words = `⚠️ The turn ended: ${untrustedText(why, 700)}\n-# The conversation is kept. Write a message to continue it.`;
  return { words, silent: false, turn: { kind: 'failed', because } };
}

/** The conversation to continue does not exist any longer. */
export function isLost(ended: TurnEnd | undefined, headless: HeadlessRunner): boolean {
  const failure = ended && failureReason(ended);
  return failure !== undefined && headless.isLost(`${failure}\n${ended?.stderr ?? ''}`);
}

export function stopped(afterMs: number, dropped: number): AgentEnd {
  const words = `⏹️ Stopped after ${formatDuration(afterMs)}.${droppedNote(dropped)}`;
  return { words, silent: true, turn: { kind: 'stopped' } };
}

function droppedNote(dropped: number): string {
  if (dropped === 0) return '';
  return dropped === 1 ? ' The message that waited was dropped.' : ` ${dropped} messages that waited were dropped.`;
}

export function notStarted(error: Error): AgentEnd {
  const words = `⚠️ The agent could not be started: ${untrustedHint(error)}`;
  return { words, silent: false, turn: { kind: 'failed', because: error.message } };
}
