// What every route works with: the state, the only way to change it (journal first, then memory) and the only way to publish.

import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { ThreadmuxError } from '../core/errors.ts';
import { parsedJson } from '../core/json.ts';
import { readText, writeWhole } from '../home/atomic-write.ts';
import type { OpenInteractions } from './open-interactions.ts';
import { makeSnowflakes } from './storage/message-log.ts';
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
  /** The gateway's address, for a caller that uses this host name. */
  gatewayInfo(host: string): { readonly url: string };
  /** A link that signs in one browser. */
  newLink(): string;
  /** By thread, as the bridge told them. */
  readonly states: Map<string, ThreadState>;
  /** What the view of all sessions shows, as the bridge told it. */
  readonly panel: { view: PanelData };
}

/** Everything that the view of all sessions shows; only the page looks inside. */
export interface PanelData {
  readonly rows: readonly object[];
  readonly worktrees: readonly object[];
  /** What the form for a new session offers. */
  readonly choices: object;
}

/** What the session of a thread does, for the page. */
export interface ThreadState {
  readonly state: string;
  readonly for?: string;
  /** When it became so. */
  readonly since: number;
  /** The name of the agent that runs there. */
  readonly agent?: string;
}

export interface WorkspaceEvent {
  readonly type: string;
  /** The intent that a bot needs for it; 0 for events that are always sent. */
  readonly intent: number;
  /** Who receives it; default: both. */
  readonly only?: Actor;
  /** Each receives its own version: its own reactions, and content only if it may read it. */
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

// The ids and secrets of this workspace: random, created on the first run, readable only by its owner.
const id = z.string().regex(/^\d{17,20}$/);
const secret = z.string().min(32);

const identitySchema = z.object({
  guildId: id,
  channelId: id,
  roleId: id,
  userId: id,
  botId: id,
  applicationId: id,
  token: secret,
});

export type Identity = Readonly<z.infer<typeof identitySchema>>;

export function loadIdentity(dir: string): Identity {
  const path = join(dir, 'identity.json');
  const text = readText(path);
  if (text === undefined) {
    const made = makeIdentity();
    writeWhole(path, `${JSON.stringify(made, null, 2)}\n`);
    return made;
  }
  const parsed = identitySchema.safeParse(parsedJson(text));
  if (parsed.success) return parsed.data;
  throw new ThreadmuxError('workspace_failed', `The workspace's identity file ${path} is damaged.`, {
    hint: 'Put back a copy of it, or move the whole folder away to begin with an empty workspace.',
  });
}

function makeIdentity(): Identity {
  const next = makeSnowflakes();
  // A random low part, so that two workspaces created in the same millisecond differ.
  const nextId = () => String(BigInt(next()) + BigInt(randomInt(1, 1 << 21)));
  const [guildId, channelId, roleId, userId, botId] = Array.from({ length: 5 }, (_, index) =>
    String(BigInt(nextId()) + (BigInt(index) << 22n)),
  ) as [string, string, string, string, string];
  return {
    guildId,
    channelId,
    roleId,
    userId,
    botId,
    applicationId: botId,
    token: `${Buffer.from(botId).toString('base64url')}.${randomText(6)}.${randomText(32)}`,
  };
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}
