import { describe, expect, it } from 'vitest';
import {
  FATAL_CLOSE_CODES,
  firstGatewayState,
  type GatewayEffect,
  type GatewayEvent,
  type GatewaySession,
  type GatewayState,
  nextGatewayStep,
} from '../../discord/gateway-state.ts';

const session: GatewaySession = { id: 's1', resumeUrl: 'wss://resume.test', seq: 7 };
const trying = { session, attempt: 0, failedResumes: 0 };
const fresh = { session: undefined, attempt: 0, failedResumes: 0 };
const waiting: GatewayState = { at: 'waiting', ...trying };
const greeting: GatewayState = { at: 'greeting', ...trying };
const authenticating: GatewayState = { at: 'authenticating', acked: true, ...trying };
const live: GatewayState = { at: 'live', session, acked: true };
const stopped: GatewayState = { at: 'stopped', why: 'x' };
const every = [waiting, greeting, authenticating, live, stopped];

function play(from: GatewayState, ...events: GatewayEvent[]) {
  const effects: GatewayEffect[] = [];
  let state = from;
  for (const event of events) {
    const [next, ...todo] = nextGatewayStep(state, event);
    state = next;
    effects.push(...todo);
  }
  return { state, effects };
}
const HANG_UP = { do: 'hangUp' };
const RECONNECT = { do: 'connect', url: session.resumeUrl, attempt: 0, pace: 'backoff' };

describe('the gateway state machine, connecting,', () => {
  it('connects without a url when it has no session', () => {
    expect(play(firstGatewayState(undefined), { on: 'start' }).effects).toEqual([
      { do: 'connect', url: undefined, attempt: 0, pace: 'soon' },
    ]);
  });

  it('connects to the resume url of a stored session', () => {
    expect(play(firstGatewayState(session), { on: 'start' }).effects).toEqual([
      { do: 'connect', url: session.resumeUrl, attempt: 0, pace: 'soon' },
    ]);
  });

  it('waits for hello once the socket is open', () => {
    expect(play(waiting, { on: 'opened' })).toEqual({ state: greeting, effects: [] });
  });

  it('identifies on the first hello', () => {
    const { state, effects } = play({ at: 'greeting', ...fresh }, { on: 'hello', intervalMs: 41_250 });
    expect(state).toEqual({ at: 'authenticating', acked: true, ...fresh });
    expect(effects).toEqual([{ do: 'startBeating', everyMs: 41_250 }, { do: 'identify' }]);
  });

  it('resumes on hello when it has a session', () => {
    expect(play(greeting, { on: 'hello', intervalMs: 1 }).effects).toEqual([
      { do: 'startBeating', everyMs: 1 },
      { do: 'resume', session },
    ]);
  });

  it('is live with the new session after READY', () => {
    const next = { ...session, id: 's2', seq: 1 };
    expect(play(authenticating, { on: 'ready', session: next })).toEqual({
      state: { at: 'live', session: next, acked: true },
      effects: [],
    });
  });

  it('is live with the old session after RESUMED, and counts what was replayed', () => {
    expect(play(authenticating, { on: 'dispatch', seq: 9 }, { on: 'resumed' }).state).toEqual({
      at: 'live',
      session: { ...session, seq: 9 },
      acked: true,
    });
  });

  it('ignores RESUMED without a session', () => {
    const state: GatewayState = { at: 'authenticating', acked: true, ...fresh };
    expect(play(state, { on: 'resumed' })).toEqual({ state, effects: [] });
  });
});

describe('the gateway state machine, on events,', () => {
  it('only increases the sequence number', () => {
    expect(play(live, { on: 'dispatch', seq: 9 }, { on: 'dispatch', seq: 8 }).state).toMatchObject({
      session: { seq: 9 },
    });
  });

  it('counts nothing before it has a session', () => {
    const state: GatewayState = { at: 'authenticating', acked: true, ...fresh };
    expect(play(state, { on: 'dispatch', seq: 9 }).state).toEqual(state);
    expect(play(waiting, { on: 'dispatch', seq: 9 }).state).toEqual(waiting);
  });
});

describe('the gateway state machine, on heartbeats,', () => {
  it.each([live, authenticating])('sends the last sequence number when %j', (state) => {
    expect(play(state, { on: 'beat' })).toEqual({
      state: { ...state, acked: false },
      effects: [{ do: 'beat', seq: 7 }],
    });
  });

  it('sends null before the first event', () => {
    const state: GatewayState = { at: 'authenticating', acked: true, ...fresh };
    expect(play(state, { on: 'beat' }).effects).toEqual([{ do: 'beat', seq: null }]);
  });

  it('continues when heartbeats are acknowledged', () => {
    const { state, effects } = play(live, { on: 'beat' }, { on: 'acked' }, { on: 'beat' });
    expect(state.at).toBe('live');
    expect(effects).toHaveLength(2);
  });

  it('closes a dead connection and resumes', () => {
    const { state, effects } = play(live, { on: 'beat' }, { on: 'beat' });
    expect(state).toEqual(waiting);
    expect(effects.slice(1)).toEqual([HANG_UP, RECONNECT]);
  });

  it('answers a requested heartbeat at once, in addition to the regular one', () => {
    const { state, effects } = play({ ...live, acked: false }, { on: 'beatAsked' });
    expect(state).toEqual({ ...live, acked: false });
    expect(effects).toEqual([{ do: 'beat', seq: 7 }]);
  });

  it.each([waiting, greeting])('sends no heartbeat when %j', (state) => {
    expect(play(state, { on: 'beat' })).toEqual({ state, effects: [] });
    expect(play(state, { on: 'beatAsked' })).toEqual({ state, effects: [] });
    expect(play(state, { on: 'acked' })).toEqual({ state, effects: [] });
  });
});

describe('the gateway state machine, on a lost connection,', () => {
  it('closes and resumes when asked to reconnect, even before hello', () => {
    expect(play(live, { on: 'reconnectAsked' }).effects).toEqual([HANG_UP, RECONNECT]);
    expect(play(greeting, { on: 'reconnectAsked' })).toEqual({
      state: { ...waiting, attempt: 1, failedResumes: 1 },
      effects: [HANG_UP, { ...RECONNECT, attempt: 1 }],
    });
  });

  it('keeps a session that is invalid but resumable', () => {
    expect(play(live, { on: 'invalidated', resumable: true })).toEqual({
      state: waiting,
      effects: [HANG_UP, { ...RECONNECT, pace: 'soon' }],
    });
  });

  it('forgets an invalid session and sends a new identify after a pause', () => {
    expect(play(authenticating, { on: 'invalidated', resumable: false })).toEqual({
      state: { at: 'waiting', session: undefined, attempt: 1, failedResumes: 0 },
      effects: [HANG_UP, { do: 'connect', url: undefined, attempt: 1, pace: 'soon' }],
    });
  });

  it('gives up on a connection without hello or READY', () => {
    for (const state of [waiting, greeting, authenticating])
      expect(play(state, { on: 'stalled' }).effects).toEqual([HANG_UP, { ...RECONNECT, attempt: 1 }]);
    expect(play(live, { on: 'stalled' })).toEqual({ state: live, effects: [] });
  });

  it.each([1005, 1006, 1011, 4000, 4001, 4002, 4900])('resumes after close code %i', (code) => {
    expect(play(live, { on: 'closed', code })).toEqual({ state: waiting, effects: [RECONNECT] });
  });

  it.each([1000, 1001, 4003, 4005, 4007, 4008, 4009])('sends a new identify after close code %i', (code) => {
    expect(play(live, { on: 'closed', code })).toEqual({
      state: { at: 'waiting', ...fresh },
      effects: [{ do: 'connect', url: undefined, attempt: 0, pace: 'backoff' }],
    });
  });

  it.each([4004, 4010, 4011, 4012, 4013, 4014])('stops permanently on close code %i and says why', (code) => {
    for (const from of [greeting, authenticating, live]) {
      const { state, effects } = play(from, { on: 'closed', code });
      expect(state).toEqual({ at: 'stopped', why: FATAL_CLOSE_CODES[code] });
      expect(effects).toEqual([{ do: 'stop', why: FATAL_CLOSE_CODES[code] }]);
    }
    expect(FATAL_CLOSE_CODES[code]?.length).toBeGreaterThan(30);
  });

  it('sends a new identify after three failed resumes', () => {
    const lost: GatewayEvent = { on: 'closed', code: 1006 };
    const { state, effects } = play(live, lost, lost, lost, lost);
    expect(effects.map((effect) => effect.do === 'connect' && effect.url)).toEqual([
      session.resumeUrl,
      session.resumeUrl,
      session.resumeUrl,
      undefined,
    ]);
    expect(state).toEqual({ at: 'waiting', session: undefined, attempt: 3, failedResumes: 0 });
  });

  it('waits longer each time, until it is live again', () => {
    const lost: GatewayEvent = { on: 'closed', code: 1006 };
    const attempts = play({ at: 'waiting', ...fresh }, lost, lost, lost).effects;
    expect(attempts.map((effect) => effect.do === 'connect' && effect.attempt)).toEqual([1, 2, 3]);
    expect(play(live, lost).effects).toEqual([RECONNECT]);
  });
});

describe('the gateway state machine, on any input,', () => {
  const events: GatewayEvent[] = [
    { on: 'start' },
    { on: 'opened' },
    { on: 'hello', intervalMs: 1 },
    { on: 'ready', session },
    { on: 'resumed' },
    { on: 'dispatch', seq: 8 },
    { on: 'beat' },
    { on: 'beatAsked' },
    { on: 'acked' },
    { on: 'reconnectAsked' },
    { on: 'invalidated', resumable: false },
    { on: 'stalled' },
    { on: 'closed', code: 1006 },
  ];

  it.each(events)('stays stopped on %j', (event) => {
    expect(play(stopped, event)).toEqual({ state: stopped, effects: [] });
  });

  it.each<[GatewayEvent, readonly GatewayState['at'][]]>([
    [{ on: 'opened' }, ['waiting']],
    [{ on: 'hello', intervalMs: 1 }, ['greeting']],
    [{ on: 'ready', session }, ['authenticating']],
    [{ on: 'resumed' }, ['authenticating']],
  ])('ignores %j out of turn', (event, inTurn) => {
    for (const state of every.filter((one) => !inTurn.includes(one.at)))
      expect(play(state, event)).toEqual({ state, effects: [] });
  });
});
