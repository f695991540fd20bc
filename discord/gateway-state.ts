// The gateway protocol as a pure state machine: (state, event) -> next state and effects. gateway.ts has the socket and
// the timers.

export interface GatewaySession {
  readonly id: string;
  readonly resumeUrl: string;
  /** The last event received. gateway.ts stores which events were handled. */
  readonly seq: number;
}

interface Trying {
  readonly session: GatewaySession | undefined;
  /** Connections in a row that did not reach READY or RESUMED. */
  readonly attempt: number;
  readonly failedResumes: number;
}

export type GatewayState =
  | ({ readonly at: 'waiting' } & Trying)
  | ({ readonly at: 'greeting' } & Trying)
  | ({ readonly at: 'authenticating'; readonly acked: boolean } & Trying)
  | { readonly at: 'live'; readonly session: GatewaySession; readonly acked: boolean }
  | { readonly at: 'stopped'; readonly why: string };

export type GatewayEvent =
  | { readonly on: 'start' }
  | { readonly on: 'opened' }
  | { readonly on: 'hello'; readonly intervalMs: number }
  | { readonly on: 'ready'; readonly session: GatewaySession }
  | { readonly on: 'resumed' }
  | { readonly on: 'dispatch'; readonly seq: number }
  | { readonly on: 'beat' }
  | { readonly on: 'beatAsked' }
  | { readonly on: 'acked' }
  | { readonly on: 'reconnectAsked' }
  | { readonly on: 'invalidated'; readonly resumable: boolean }
  | { readonly on: 'stalled' }
  | { readonly on: 'closed'; readonly code: number };

type GatewayPace = 'backoff' | 'soon';

export type GatewayEffect =
  /** Without a url, request one. `pace` "soon" is the 1 to 5 s that Discord requires after an invalid session. */
  | {
      readonly do: 'connect';
      readonly url: string | undefined;
      readonly attempt: number;
      readonly pace: GatewayPace;
    }
  | { readonly do: 'startBeating'; readonly everyMs: number }
  | { readonly do: 'beat'; readonly seq: number | null }
  | { readonly do: 'identify' }
  | { readonly do: 'resume'; readonly session: GatewaySession }
  | { readonly do: 'hangUp' }
  | { readonly do: 'stop'; readonly why: string };

type GatewayStep = readonly [GatewayState, ...GatewayEffect[]];

/** After this many failed resumes, start a new session: its server may be gone. */
const RESUMES_TRIED = 3;

/** Close codes after which a retry cannot help; the text says what to fix. */
export const FATAL_CLOSE_CODES: Readonly<Record<number, string>> = {
  4004: 'Discord refused the bot token. Reset it in the developer portal (Bot, Reset Token) and put the new one into the configuration.',
  4010: 'Discord refused the shard. This is a bug in threadmux. Please report it.',
  4011: 'The bot is in too many servers for one connection. Use a bot of your own for threadmux.',
  4012: 'Discord no longer supports this gateway version. Update threadmux.',
  4013: 'Discord refused the intents. This is a bug in threadmux. Please report it.',
  4014: 'The bot may not read messages. Turn on "Message Content Intent" in the Discord developer portal (Bot, Privileged Gateway Intents).',
};

/** Close codes that end the session, so that the next connection must identify again. */
const FORGETS_SESSION: ReadonlySet<number> = new Set([1000, 1001, 4003, 4005, 4007, 4008, 4009]);

export function firstGatewayState(session: GatewaySession | undefined): GatewayState {
  return { at: 'waiting', session, attempt: 0, failedResumes: 0 };
}

export function nextGatewayStep(state: GatewayState, event: GatewayEvent): GatewayStep {
  if (state.at === 'stopped') return [state];
  switch (event.on) {
    case 'start':
      return [state, connect(state.session, 0, 'soon')];
    case 'opened':
      return state.at === 'waiting' ? [{ ...state, at: 'greeting' }] : [state];
    case 'hello':
      return state.at === 'greeting' ? greet(state, event.intervalMs) : [state];
    case 'ready':
      return state.at === 'authenticating' ? [{ at: 'live', session: event.session, acked: state.acked }] : [state];
    case 'resumed':
      return state.at === 'authenticating' && state.session !== undefined
        ? [{ at: 'live', session: state.session, acked: state.acked }]
        : [state];
    case 'dispatch':
      return [count(state, event.seq)];
    case 'acked':
      return 'acked' in state ? [{ ...state, acked: true }] : [state];
    case 'beat':
      return beat(state);
    case 'beatAsked':
      return 'acked' in state ? [state, { do: 'beat', seq: state.session?.seq ?? null }] : [state];
    case 'reconnectAsked':
      return again(state, state.session, 'backoff', { do: 'hangUp' });
    case 'invalidated':
      return again(state, event.resumable ? state.session : undefined, 'soon', { do: 'hangUp' });
    case 'stalled':
      return state.at === 'live' ? [state] : again(state, state.session, 'backoff', { do: 'hangUp' });
    case 'closed':
      return closed(state, event.code);
  }
}

/** Stores the position, so that a resume replays only missed events. */
function count(state: GatewayState, seq: number): GatewayState {
  if (state.at !== 'live' && state.at !== 'authenticating') return state;
  if (state.session === undefined || seq <= state.session.seq) return state;
  return { ...state, session: { ...state.session, seq } };
}

function greet(state: GatewayState & { at: 'greeting' }, intervalMs: number): GatewayStep {
  return [
    { ...state, at: 'authenticating', acked: true },
    { do: 'startBeating', everyMs: intervalMs },
    state.session === undefined ? { do: 'identify' } : { do: 'resume', session: state.session },
  ];
}

/** Without an acknowledgement since the last heartbeat, the connection is dead: close it and resume. */
function beat(state: GatewayState): GatewayStep {
  if (!('acked' in state)) return [state];
  if (!state.acked) return again(state, state.session, 'backoff', { do: 'hangUp' });
  return [
    { ...state, acked: false },
    { do: 'beat', seq: state.session?.seq ?? null },
  ];
}

function closed(state: Exclude<GatewayState, { at: 'stopped' }>, code: number): GatewayStep {
  const why = FATAL_CLOSE_CODES[code];
  if (why !== undefined)
    return [
      { at: 'stopped', why },
      { do: 'stop', why },
    ];
  return again(state, FORGETS_SESSION.has(code) ? undefined : state.session, 'backoff');
}

/** Every reconnect goes through this function. */
function again(
  state: Exclude<GatewayState, { at: 'stopped' }>,
  session: GatewaySession | undefined,
  pace: GatewayPace,
  ...first: readonly GatewayEffect[]
): GatewayStep {
  const attempt = state.at === 'live' ? 0 : state.attempt + 1;
  const failed = state.at === 'live' || state.session === undefined ? 0 : state.failedResumes + 1;
  const kept = failed >= RESUMES_TRIED ? undefined : session;
  return [
    { at: 'waiting', session: kept, attempt, failedResumes: kept === undefined ? 0 : failed },
    ...first,
    connect(kept, attempt, pace),
  ];
}

function connect(session: GatewaySession | undefined, attempt: number, pace: GatewayPace): GatewayEffect {
  return { do: 'connect', url: session?.resumeUrl, attempt, pace };
}

// Tracks received events until they are handled, in any order. The saved position is the last event before the first
// unhandled one, so that none is skipped.

interface HandledEvents {
  /** Adds an event; call the result when it was handled. */
  open(at: GatewaySession): () => void;
}

interface Entry {
  readonly at: GatewaySession;
  done: boolean;
}

export function createHandledEvents(save: (session: GatewaySession) => void): HandledEvents {
  const entries: Entry[] = [];
  return {
    open(at) {
      const entry: Entry = { at, done: false };
      entries.push(entry);
      return () => {
        entry.done = true;
        let handled: GatewaySession | undefined;
        while (entries[0]?.done) handled = entries.shift()?.at;
        if (handled !== undefined) save(handled);
      };
    },
  };
}
