// Gateway sessions: what each was told, numbered, and kept for a while so that a client may resume. No sockets in here.

import { randomBytes } from 'node:crypto';
import type { Viewer, WorkspaceEvent } from './world.ts';

export interface Frame {
  readonly op: 0;
  readonly t: string;
  readonly s: number;
  readonly d: unknown;
}

export interface Session {
  readonly id: string;
  readonly viewer: Viewer;
  readonly intents: number;
  seq: number;
  readonly sent: Frame[];
  /** Hands a frame to the client; undefined while it is away. */
  deliver: ((frame: Frame) => void) | undefined;
  leftAt: number;
}

type Resumption =
  | { readonly kind: 'resumed'; readonly session: Session; readonly missed: readonly Frame[] }
  | { readonly kind: 'gone' }
  | { readonly kind: 'bad-sequence' };

export interface Sessions {
  open(viewer: Viewer, intents: number): Session;
  resume(viewer: Viewer['actor'], id: string, seq: number): Resumption;
  /** Its client is away, and may resume it unless it left for good. */
  leave(session: Session, forGood: boolean): void;
  end(id: string): void;
  publish(event: WorkspaceEvent): void;
}

const MAX_REPLAY = 2000;

export function makeSessions(keepMs: number, now: () => number = Date.now): Sessions {
  const sessions = new Map<string, Session>();
  const dropOld = () => {
    for (const [id, session] of sessions) {
      if (session.deliver === undefined && now() - session.leftAt > keepMs) sessions.delete(id);
    }
  };
  return {
    open(viewer, intents) {
      dropOld();
      const id = randomBytes(16).toString('hex');
      const session: Session = {
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
      if (!Number.isSafeInteger(seq) || seq < 0 || seq > session.seq)
        return { kind: 'bad-sequence' };
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
        if (hears(session, event)) tell(session, event.type, event.dataFor(session.viewer));
      }
    },
  };
}

function hears({ viewer, intents }: Session, { only, intent }: WorkspaceEvent): boolean {
  if (only !== undefined && only !== viewer.actor) return false;
  return viewer.actor === 'person' || intent === 0 || (intents & intent) !== 0;
}

/** Kept before it is sent: a frame lost on the way is the very one a resume must bring again. */
export function tell(session: Session, type: string, data: unknown): void {
  const frame: Frame = { op: 0, t: type, s: ++session.seq, d: data };
  session.sent.push(frame);
  if (session.sent.length > MAX_REPLAY) session.sent.splice(0, session.sent.length - MAX_REPLAY);
  session.deliver?.(frame);
}
