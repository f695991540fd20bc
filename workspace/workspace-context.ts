// What every route works with: the state, the one way to change it (journal first, then memory) and the one way to tell.

import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { ThreadmuxError } from '../core/errors.ts';
import { readText, writeWhole } from '../home/whole-file.ts';
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

// MERGED(workspace/access/identity.ts): Who is who in this workspace: ids and secrets, made at random on the first run and kept for its owner's eyes only.
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
  const parsed = identitySchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new ThreadmuxError('workspace_failed', `The workspace's identity file ${path} is damaged.`, {
    hint: 'Put back a copy of it, or move the whole folder away to begin with an empty workspace.',
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // reported by the caller as damaged, together with every other misfit
  }
}

function makeIdentity(): Identity {
  const next = makeSnowflakes();
  // A random low part, so that two workspaces made in the same millisecond differ.
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
