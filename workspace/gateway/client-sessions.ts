// Gateway sessions: what each was told, numbered, and kept for a while so that a client may resume. No sockets in here.

import { randomBytes } from 'node:crypto';
import type { Viewer, WorkspaceEvent } from '../workspace-context.ts';

export interface GatewayFrame {
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
  /** Hands a frame to the client; undefined while it is away. */
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
  /** Its client is away, and may resume it unless it left for good. */
  leave(session: ClientSession, forGood: boolean): void;
  end(id: string): void;
  publish(event: WorkspaceEvent): void;
}

const MAX_REPLAY = 2000;

export function makeClientSessions(keepMs: number, now: () => number = Date.now): ClientSessions {
  const sessions = new Map<string, ClientSession>();
  const dropOld = () => {
    for (const [id, session] of sessions) {
      if (session.deliver === undefined && now() - session.leftAt > keepMs) sessions.delete(id);
    }
  };
  return {
    open(viewer, intents) {
      dropOld();
      const id = randomBytes(16).toString('hex');
      const session: ClientSession = {
        id,
        viewer,
        intents,
        seq: 0,
        sent: [],
        deliver: undefined,
        leftAt: now(),
      };
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
      session.leftAt = now();
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

/** Kept before it is sent: a frame lost on the way is the very one a resume must bring again. */
export function sendToSession(session: ClientSession, type: string, data: unknown): void {
  const frame: GatewayFrame = { op: 0, t: type, s: ++session.seq, d: data };
  session.sent.push(frame);
  if (session.sent.length > MAX_REPLAY) session.sent.splice(0, session.sent.length - MAX_REPLAY);
  session.deliver?.(frame);
}
