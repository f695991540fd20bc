// Who is who in this workspace: ids and secrets, made at random on the first run and kept for its owner's eyes only.

import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { ThreadmuxError } from '../../core/errors.ts';
import { readText, writeWhole } from '../../home/whole-file.ts';
import { makeSnowflakes } from '../storage/new-snowflake.ts';

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
