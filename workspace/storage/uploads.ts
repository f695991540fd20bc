// Uploaded files, stored by id. On the port they are served at addresses signed by this process, which are invalid after a
// restart. A file name from an uploader never becomes a path.
import { createHmac, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../home/atomic-write.ts';
import { sameSecret } from '../access/admit.ts';
import { compareSnowflakes } from './message-log.ts';
import type { StoredAttachment, StoredMessage, WorkspaceState } from './store.ts';

export const MAX_FILE_BYTES = 10 * 1024 * 1024;
export const MAX_FILES = 10;

export interface Uploads {
  /** Removes the oldest files if there are too many bytes; their messages stay. */
  keep(id: string, data: Uint8Array): void;
  forget(id: string): void;
  /** Removes files without a message, left by a crash or by messages that existed only until the server stopped. */
  sweep(used: ReadonlySet<string>): void;
  pathOf(channelId: string, file: StoredAttachment): string;
  /** The path on disk, if the address exists. */
  locate(pathname: string): string | undefined;
  isSigned(pathname: string, signature: string | null): boolean;
}

/** A program or a host could send files until the disk is full. */
const MOST_BYTES = 2 * 1024 ** 3;

export function openUploads(dir: string, mostBytes = MOST_BYTES): Uploads {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  /** By age, because ids grow. */
  const sizes = new Map(
    readdirSync(dir)
      .sort(compareSnowflakes)
      .map((id) => [id, statSync(join(dir, id), { throwIfNoEntry: false })?.size ?? 0]),
  );
  let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const forget = (id: string) => {
    rmSync(join(dir, id), { force: true });
    bytes -= sizes.get(id) ?? 0;
    sizes.delete(id);
  };
  const secret = randomBytes(32);
  const sign = (pathname: string) => createHmac('sha256', secret).update(pathname).digest('hex');
  return {
    keep(id, data) {
      writeWhole(join(dir, id), data);
      sizes.set(id, data.length);
      bytes += data.length;
      for (const oldest of sizes.keys()) {
        if (bytes <= mostBytes || oldest === id) break;
        forget(oldest);
      }
    },
    forget,
    sweep(used) {
      for (const name of readdirSync(dir)) if (!used.has(name)) forget(name);
    },
    pathOf(channelId, file) {
      const pathname = `/attachments/${channelId}/${file.id}/${encodeURIComponent(file.filename)}`;
      return `${pathname}?hm=${sign(pathname)}`;
    },
    locate(pathname) {
      const id = /^\/attachments\/\d+\/(\d+)\/[^/]+$/.exec(pathname)?.[1];
      return id === undefined ? undefined : join(dir, id);
    },
    isSigned: (pathname, signature) => signature !== null && sameSecret(signature, sign(pathname)),
  };
}

/** Discord keeps letters, digits, dot, dash and underscore, and replaces the rest with underscores. */
export function cleanFilename(name: string): string {
  const base = name.split(/[/\\]/).at(-1) ?? '';
  const clean = base.replace(/[^\p{L}\p{N}._-]+/gu, '_').replace(/^\.+/, '_');
  return [...clean].slice(-200).join('') || 'file';
}

// Which messages and files are kept. Pure; README.md lists the limits.
export const KEPT = { perChannel: 20_000, altogether: 100_000 } as const;

interface Kept {
  readonly perChannel: number;
  readonly altogether: number;
}

/** The oldest messages that exceed the limit after a post into the channel. */
export function beyondLimits(state: WorkspaceState, channel: string, kept: Kept = KEPT): StoredMessage[] {
  const log = state.messages.get(channel) ?? [];
  const excess = log.slice(0, Math.max(0, log.length - kept.perChannel));
  let total = -excess.length;
  for (const { length } of state.messages.values()) total += length;
  if (total <= kept.altogether) return excess;
  const oldest = [...state.messages.values()]
    .flatMap((all) => (all === log ? all.slice(excess.length) : all).slice(0, total - kept.altogether))
    .sort((a, b) => compareSnowflakes(a.id, b.id));
  return [...excess, ...oldest.slice(0, total - kept.altogether)];
}

/** The ids of all attached files. */
export function uploadsOf(state: WorkspaceState): Set<string> {
  const messages = [...state.messages.values()].flat();
  return new Set(messages.flatMap(({ attachments }) => attachments.map(({ id }) => id)));
}
