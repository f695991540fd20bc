// Writes files atomically (temporary file, then rename): a reader never sees a partial file.

import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type * as z from 'zod';
import { parsedJson } from '../core/json.ts';

export function writeWhole(path: string, data: string | Uint8Array, mode = 0o600): void {
  const temp = join(dirname(path), `.${randomBytes(9).toString('base64url')}.tmp`);
  try {
    writeSynced(temp, typeof data === 'string' ? Buffer.from(data) : data, mode);
    renameSync(temp, path);
  } catch (error) {
    rmSync(temp, { force: true });
    throw Object.assign(error as Error, { path }); // users know this path, not the temporary one
  }
}

function writeSynced(path: string, bytes: Uint8Array, mode: number): void {
  const fd = openSync(path, 'wx', mode);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function writeJson(path: string, value: unknown): void {
  writeWhole(path, `${JSON.stringify(value)}\n`);
}

/** Undefined if the file does not exist or its content does not match the schema. */
export function readJson<T extends z.ZodType>(path: string, schema: T): z.output<T> | undefined {
  const value = parsedJson(readText(path) ?? ''); // not JSON: treated like a missing file
  return value === undefined ? undefined : schema.safeParse(value).data;
}

export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
