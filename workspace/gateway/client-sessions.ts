// Gateway sessions: numbers the events of each session and keeps them for a while, so that a client can resume. No sockets here.

import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { parseJson } from '../../core/json.ts';
import { sameSecret } from '../access/admit.ts';
import { applicationFlags, idOf, isoOf, wireChannel, wireGuild, wireMe, wireMember } from '../wire/guild.ts';
import { wireThread } from '../wire/message.ts';
import { INTENT_BITS, type Viewer, type WorkspaceContext, type WorkspaceEvent } from '../workspace-context.ts';
import { PANEL_EVENT, panelOf, STATES_EVENT, statesOf } from './publish.ts';

interface GatewayFrame {
  readonly op: 0;
  readonly t: string;
  readonly s: number;
  readonly d: unknown;
}

export interface ClientSession {
  readonly id: string;
  readonly viewer: Viewer;
  readonly intents: number;
  seq: number;
  readonly sent: GatewayFrame[];
  /** Sends a frame to the client; undefined while it is disconnected. */
  deliver: ((frame: GatewayFrame) => void) | undefined;
  leftAt: number;
}

type Resumption =
  | { readonly kind: 'resumed'; readonly session: ClientSession; readonly missed: readonly GatewayFrame[] }
  | { readonly kind: 'gone' }
  | { readonly kind: 'bad-sequence' };

export interface ClientSessions {
  open(viewer: Viewer, intents: number): ClientSession;
  resume(viewer: Viewer['actor'], id: string, seq: number): Resumption;
  /** The client is disconnected. It may resume the session unless it closed it. */
  leave(session: ClientSession, forGood: boolean): void;
  end(id: string): void;
  publish(event: WorkspaceEvent): void;
}

const MAX_REPLAY = 2000;

export function makeClientSessions(keepMs: number): ClientSessions {
  const sessions = new Map<string, ClientSession>();
  const dropOld = () => {
    for (const [id, session] of sessions) {
      if (session.deliver === undefined && Date.now() - session.leftAt > keepMs) sessions.delete(id);
    }
  };
  return {
    open(viewer, intents) {
      dropOld();
      const id = randomBytes(16).toString('hex');
      const session: ClientSession = { id, viewer, intents, seq: 0, sent: [], deliver: undefined, leftAt: Date.now() };
      sessions.set(id, session);
      return session;
    },
    resume(actor, id, seq) {
      dropOld();
      const session = sessions.get(id);
      if (session === undefined || session.viewer.actor !== actor) return { kind: 'gone' };
      if (!Number.isSafeInteger(seq) || seq < 0 || seq > session.seq) return { kind: 'bad-sequence' };
      const oldest = session.sent[0]?.s ?? session.seq + 1;
      if (seq + 1 < oldest) return { kind: 'gone' };
      return { kind: 'resumed', session, missed: session.sent.filter(({ s }) => s > seq) };
    },
    leave(session, forGood) {
      session.deliver = undefined;
      session.leftAt = Date.now();
      if (forGood) sessions.delete(session.id);
    },
    end: (id) => void sessions.delete(id),
    publish(event) {
      dropOld();
      for (const session of sessions.values()) {
        if (hears(session, event)) sendToSession(session, event.type, event.dataFor(session.viewer));
      }
    },
  };
}

function hears({ viewer, intents }: ClientSession, { only, intent }: WorkspaceEvent): boolean {
  if (only !== undefined && only !== viewer.actor) return false;
  return viewer.actor === 'person' || intent === 0 || (intents & intent) !== 0;
}

/** Stored before it is sent: a frame lost in transit must be sent again on resume. */
export function sendToSession(session: ClientSession, type: string, data: unknown): void {
  const frame: GatewayFrame = { op: 0, t: type, s: ++session.seq, d: data };
  session.sent.push(frame);
  if (session.sent.length > MAX_REPLAY) session.sent.splice(0, session.sent.length - MAX_REPLAY);
  session.deliver?.(frame);
}

// Checks what a client sends on the gateway. Pure.
const MAX_PAYLOAD_BYTES = 4096;
const ALL_INTENTS = (1 << 26) - 1;
const KNOWN_GAPS = (1 << 17) | (1 << 18) | (1 << 19) | (1 << 22) | (1 << 23);
const MEMBERS = 1 << 1;
const PRESENCES = 1 << 8;

const payloadSchema = z.object({ op: z.number().int(), d: z.unknown() });

const identifySchema = z.object({
  token: z.string(),
  intents: z.unknown(),
  properties: z.record(z.string(), z.unknown()),
  shard: z.unknown().optional(),
});

const resumeSchema = z.object({ token: z.string(), session_id: z.string(), seq: z.number().int() });

type Payload = z.infer<typeof payloadSchema>;

export function readPayload(raw: Buffer, isBinary: boolean): Payload | undefined {
  if (isBinary || raw.length > MAX_PAYLOAD_BYTES) return undefined;
  try {
    return payloadSchema.safeParse(parseJson(raw.toString('utf8'))).data;
  } catch {
    return undefined; // not JSON: the caller closes with 4002
  }
}

type Identified = { readonly kind: 'ok'; readonly intents: number } | { readonly kind: 'close'; readonly code: number };

export interface Gatekeeper {
  readonly token: string;
  readonly messageContentIntent: boolean;
}

export function judgeIdentify(data: unknown, gate: Gatekeeper): Identified {
  const parsed = identifySchema.safeParse(data);
  if (!parsed.success) return { kind: 'close', code: 4002 };
  const { token, intents, shard } = parsed.data;
  if (!sameSecret(token, gate.token)) return { kind: 'close', code: 4004 };
  if (shard !== undefined && !isOnlyShard(shard)) return { kind: 'close', code: 4010 };
  if (typeof intents !== 'number' || !Number.isSafeInteger(intents) || intents < 0)
    return { kind: 'close', code: 4013 };
  if (intents > ALL_INTENTS || (intents & KNOWN_GAPS) !== 0) return { kind: 'close', code: 4013 };
  const forbidden = MEMBERS | PRESENCES | (gate.messageContentIntent ? 0 : INTENT_BITS.content);
  if ((intents & forbidden) !== 0) return { kind: 'close', code: 4014 };
  return { kind: 'ok', intents };
}

/** One guild has one shard. */
function isOnlyShard(shard: unknown): boolean {
  return Array.isArray(shard) && shard.length === 2 && shard[0] === 0 && shard[1] === 1;
}

export function readResume(data: unknown): z.infer<typeof resumeSchema> | undefined {
  return resumeSchema.safeParse(data).data;
}

/** The token in an identify of the page, which contains nothing else. */
export function tokenIn(data: unknown): string {
  return z.object({ token: z.string() }).safeParse(data).data?.token ?? '';
}

// The first events of a new session: READY, then the guild with its channel, active threads and members.
export function greet(context: WorkspaceContext, session: ClientSession, gatewayUrl: string): void {
  const { identity, messageContentIntent } = context;
  sendToSession(session, 'READY', {
    v: 10,
    user: wireMe(identity, session.viewer.actor),
    user_settings: {},
    session_id: session.id,
    session_type: 'normal',
    resume_gateway_url: gatewayUrl,
    guilds: [{ id: identity.guildId, unavailable: true }],
    private_channels: [],
    relationships: [],
    presences: [],
    guild_join_requests: [],
    geo_ordered_rtc_regions: [],
    ...(session.viewer.actor === 'bot' && { shard: [0, 1] }),
    application: { id: identity.applicationId, flags: applicationFlags(messageContentIntent) },
    _trace: ['workspace'],
  });
  const all = session.viewer.actor === 'person';
  if (all || (session.intents & INTENT_BITS.guilds) !== 0)
    sendToSession(session, 'GUILD_CREATE', guildFor(context, session));
  if (all) sendToSession(session, STATES_EVENT, statesOf(context));
  if (all) sendToSession(session, PANEL_EVENT, panelOf(context));
}

function guildFor(context: WorkspaceContext, session: ClientSession) {
  const { identity, state } = context;
  const active = [...state.threads.values()].filter((thread) => !thread.archived);
  return {
    ...wireGuild(identity),
    joined_at: isoOf(identity.guildId),
    large: false,
    unavailable: false,
    member_count: 2,
    voice_states: [],
    // Without the members intent a bot only receives itself.
    members: [wireMember(identity, idOf(identity, session.viewer.actor))],
    channels: [wireChannel(identity, state)],
    threads: active.map((thread) => wireThread(context, thread, session.viewer)),
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
    activity_instances: [],
    embedded_activities: [],
  };
}
