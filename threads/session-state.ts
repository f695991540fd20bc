// The state of a session, from everything that is known about it. Pure. test/threads/session-state.test.ts has the table.

import type { AgentScreen } from '../agents/screen.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { ThreadRecord } from './registry.ts';

/** In JSON as they are. */
export const STATE_NAMES = [
  ...(['starting', 'idle', 'working', 'needs_person', 'delivering', 'shell', 'ended', 'unreachable'] as const),
];
export type StateName = (typeof STATE_NAMES)[number];

export interface SessionState {
  readonly state: StateName;
  /** For `needs_person`: "permission", "question", "plan" or "dialog: <its title>". */
  readonly for?: string;
}

export interface TimedState extends SessionState {
  /** When it became so. */
  readonly since: number;
}

/** A prompt of a hook that nobody has answered yet. */
export interface WaitingPrompt {
  readonly kind: string;
  readonly at: number;
  /** Its dialog may not be on the screen. */
  readonly ofSubagent: boolean;
}

/** What the screen says, if it says anything certain. */
export type ScreenReading = SessionState & { readonly state: 'idle' | 'working' | 'needs_person' | 'shell' };

/** The last certain reading of the screen, and when the screen still showed it. */
interface SeenReading {
  readonly reading: ScreenReading;
  readonly at: number;
  /** When it last showed a dialog, and when it last showed that the agent works. */
  readonly dialogAt?: number;
  readonly workingAt?: number;
}

export interface KnownFacts {
  /** Undefined if no hook has reported and the session has no thread. */
  readonly record: Pick<ThreadRecord, 'shell' | 'state' | 'claudeSession' | 'at' | 'closed'> | undefined;
  readonly isHostAway: boolean;
  readonly prompts: readonly WaitingPrompt[];
  /** Messages that are not typed yet. */
  readonly waiting: number;
  /** The pane no longer exists, or its program has ended. Undefined: it was not looked at yet. */
  readonly isOver: boolean | undefined;
  readonly seen: SeenReading | undefined;
  readonly now: number;
}

/** A newly started agent may need this long until it shows or reports something. */
const STARTS_WITHIN_MS = 60_000;
/** The dialog of a prompt is on the screen at most this long after, or before, the hook has asked. */
const DIALOG_SHOWN_MS = 1_500;
/** On a busy machine, an agent that has reported a prompt may show for seconds that it is idle. */
const WORK_SHOWN_MS = 10_000;

/** Each rule counts only if none before it does. */
export function stateOfSession(facts: KnownFacts): SessionState {
  const { record, seen } = facts;
  if (record?.closed) return { state: 'ended' };
  if (facts.isHostAway) return { state: 'unreachable' };
  if (facts.isOver) return { state: 'ended' };
  const shown = newest(facts);
  if (shown?.state === 'needs_person') return shown;
  const prompt = facts.prompts.find((one) => !isAnswered(one, seen));
  if (prompt !== undefined) return promptState(prompt);
  if (facts.waiting > 0) return { state: 'delivering' };
  const isOurs = record?.shell === 'no' && record.claudeSession === '';
  const isYoung = record !== undefined && facts.now - record.at < STARTS_WITHIN_MS;
  if (isOurs && isYoung && (shown === undefined || shown.state === 'shell')) return { state: 'starting' };
  if (shown !== undefined) return shown;
  return { state: record?.shell === 'no' ? 'idle' : 'shell' };
}

/** A hook reports once, the screen is looked at again and again: the newer one is right. */
function newest({ record, seen, now }: KnownFacts): SessionState | undefined {
  const isReported = record !== undefined && record.shell === 'no' && record.claudeSession !== '';
  if (!isReported || (seen !== undefined && seen.at >= record.at && !isBehind(seen, record, now))) return seen?.reading;
  switch (record.state) {
    case 'waiting':
      return { state: 'needs_person', for: 'dialog' };
    case 'ended':
      return { state: 'shell' };
    default:
      return { state: record.state };
  }
}

/** The agent has begun to work, and its screen does not show it yet. */
function isBehind(
  { reading, workingAt = 0, dialogAt = 0 }: SeenReading,
  { state, at }: NonNullable<KnownFacts['record']>,
  now: number,
): boolean {
  return (
    state === 'working' && reading.state === 'idle' && Math.max(workingAt, dialogAt) < at && now - at < WORK_SHOWN_MS
  );
}

/** The box is on the screen again: the dialog was answered there. */
function isAnswered({ at, ofSubagent }: WaitingPrompt, seen: KnownFacts['seen']): boolean {
  if (ofSubagent || seen === undefined || seen.at < at) return false;
  if (seen.reading.state !== 'idle' && seen.reading.state !== 'working') return false;
  return (seen.dialogAt ?? 0) > at - DIALOG_SHOWN_MS || seen.at >= at + DIALOG_SHOWN_MS;
}

/** Undefined if the screen does not say it: then the last certain reading stays. */
export function readingOf(screen: AgentScreen, isAgent: boolean): ScreenReading | undefined {
  switch (screen.kind) {
    case 'empty':
      return { state: screen.busy || screen.queued ? 'working' : 'idle' };
    case 'draft':
      return { state: screen.busy ? 'working' : 'idle' };
    case 'dialog':
      return isAgent ? { state: 'needs_person', for: dialogFor(screen) } : { state: 'shell' };
    case 'shell':
      return { state: 'shell' };
    default:
      return isAgent ? undefined : { state: 'shell' };
  }
}

const WORDS: readonly string[] = ['permission', 'question', 'plan'];

function dialogFor({ which, title }: AgentScreen & { kind: 'dialog' }): string {
  return WORDS.includes(which) ? which : `dialog: ${title.slice(0, 80).replace(/:$/, '') || which}`;
}

export function promptState({ kind }: WaitingPrompt): SessionState {
  return { state: 'needs_person', for: WORDS.includes(kind) ? kind : 'permission' };
}

export function isSameState(a: SessionState | undefined, b: SessionState | undefined): boolean {
  return a?.state === b?.state && a?.for === b?.for;
}

const STATE_WORDS: Readonly<Record<SessionState['state'], string>> = {
  starting: 'starting',
  idle: 'idle',
  working: 'working',
  needs_person: 'needs you',
  delivering: 'a message waits',
  shell: 'shell',
  ended: 'ended',
  unreachable: 'unreachable',
};

export function stateWords({ state, for: about }: SessionState): string {
  return about === undefined ? STATE_WORDS[state] : `${STATE_WORDS[state]} (${about})`;
}

/** For a message. The title of a dialog comes from the pane, which is not trusted. */
export function stateInMessage(state: SessionState, longest?: number): string {
  const about = state.for;
  return stateWords(about?.startsWith('dialog:') ? { ...state, for: untrustedCode(about, longest) } : state);
}

// What is known of one pane from looking at it. A reading counts when it was seen twice: one look may catch a half-drawn screen.

export interface SeenPane {
  seen?: KnownFacts['seen'];
  isOver?: boolean;
  /** The host was away since the last look. */
  isStale?: boolean;
  /** Another reading, seen once. */
  next?: ScreenReading | undefined;
  /** When the screen last showed that the agent works. */
  workingAt?: number;
  print?: string;
  told?: string;
}

/** Undefined: the screen says nothing certain. */
export function addReading(view: SeenPane, reading: ScreenReading | undefined, at: number): void {
  if (reading?.state === 'working') view.workingAt = at;
  const known = [view.seen?.reading, view.next];
  if (reading === undefined) view.next = undefined;
  else if (view.seen === undefined || known.some((one) => isSameState(one, reading))) {
    const dialogAt = reading.state === 'needs_person' ? at : (view.seen?.dialogAt ?? 0);
    view.seen = { reading, at, dialogAt, workingAt: view.workingAt ?? 0 };
    view.next = undefined;
  } else view.next = reading;
}

/** What the screen shows was seen only once. */
export function isUnsure(view: SeenPane): boolean {
  return view.next !== undefined || view.print !== view.told;
}
