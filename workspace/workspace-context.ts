// What every route works with: the state, the one way to change it (journal first, then memory) and the one way to tell.

import type { Identity } from './access/identity.ts';
import type { OpenInteractions } from './open-interactions.ts';
import type { StoreRecord, WorkspaceState } from './storage/store.ts';
import type { Uploads } from './storage/uploads.ts';
import type { Actor } from './wire/guild.ts';

export interface WorkspaceContext {
  readonly identity: Identity;
  readonly state: WorkspaceState;
  readonly url: string;
  readonly messageContentIntent: boolean;
  readonly nonceWindowMs: number;
  readonly attachments: Uploads;
  readonly interactions: OpenInteractions;
  nextId(): string;
  commit(...records: readonly StoreRecord[]): void;
  publish(event: WorkspaceEvent): void;
  /** For a caller who reaches us by this name. */
  gatewayInfo(host: string): { readonly url: string };
  /** A link that signs one browser in. */
  newLink(): string;
}

export interface WorkspaceEvent {
  readonly type: string;
  /** The intent a bot must have asked for; 0 for events that always come. */
  readonly intent: number;
  /** Who hears of it; both if left out. */
  readonly only?: Actor;
  /** Each side sees its own version: its own reactions, and content only if it may read it. */
  dataFor(viewer: Viewer): unknown;
}

export interface Viewer {
  readonly actor: Actor;
  readonly seesContent: boolean;
}

export const INTENT_BITS = {
  guilds: 1 << 0,
  messages: 1 << 9,
  reactions: 1 << 10,
  typing: 1 << 11,
  content: 1 << 15,
} as const;
