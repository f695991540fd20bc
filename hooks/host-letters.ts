// Saves the letters of another host into our own outbox, in the order of their arrival. A host sends its last letter again if
// our acknowledgement was lost: the repeat is recognised and ignored.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson, writeJson, writeWhole } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';

const lastSchema = z.object({ number: z.number(), identity: z.string() });
type Last = z.output<typeof lastSchema>;

const LETTER = /^(\d{9,})\.(\d+)$/;
const FIRST = 100_000_000;
const MOST_LETTERS = 500;
const MOST_BOXES = 200;
const MOST_BYTES = 256 * 2 ** 20;

/** The outbox for letters of a host. */
export function hostOutbox(home: Home, host: string): string {
  const outbox = home.folder('outbox', `@${host}`);
  // The process may have been killed between writing a letter and noting it: note it now, before the letter is delivered.
  for (const box of readdirSync(outbox).filter((name) => /^\d+\.\d+$/.test(name))) {
    const folder = join(outbox, box);
    const newest = newestIn(folder);
    if (newest !== undefined && newest.number > (lastOf(folder)?.number ?? 0)) note(folder, newest);
  }
  return outbox;
}

/** The letter is on disk when this returns, unless there is no room: at all ('full'), or for its pane ('pane-full'). */
export function putHostLetter(
  outbox: string,
  box: string,
  name: string,
  letter: Buffer,
  mostBytes = MOST_BYTES,
): 'full' | 'pane-full' | undefined {
  const folder = join(outbox, box);
  if (isPaneFull(outbox, folder)) return 'pane-full';
  const isFull = () => (atMost.get(outbox) ?? mostBytes) + letter.length > mostBytes;
  if (isFull()) atMost.set(outbox, bytesIn(outbox));
  if (isFull()) return 'full';
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const identity = identityOf(name, letter);
  const last = lastOf(folder);
  if (last?.identity === identity) return undefined;
  const number = Math.max(FIRST, last?.number ?? 0, newestIn(folder)?.number ?? 0) + 1;
  writeWhole(join(folder, `${number}.${identity}`), letter);
  atMost.set(outbox, (atMost.get(outbox) ?? 0) + letter.length);
  note(folder, { number, identity });
  return undefined;
}

/** Limits the letters that are not posted yet; the others wait on the host. */
function isPaneFull(outbox: string, folder: string): boolean {
  return existsSync(folder) ? readdirSync(folder).length > MOST_LETTERS : readdirSync(outbox).length > MOST_BOXES;
}

/** The bytes of an outbox when they were last counted, plus what came since. Posted letters are not subtracted. */
const atMost = new Map<string, number>();

/** Includes the letters that were set aside: a hostile host could send only letters that cannot be read. */
function bytesIn(outbox: string): number {
  return readdirSync(outbox, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && !one.name.startsWith('.'))
    .map((one) => statSync(join(one.parentPath, one.name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}

/** Only digits, like all parts of the names of letters. */
function identityOf(name: string, letter: Buffer): string {
  const hash = createHash('sha256').update(`${name}\0`).update(letter).digest('hex');
  return String(BigInt(`0x${hash.slice(0, 16)}`));
}

function newestIn(folder: string): Last | undefined {
  return readdirSync(folder)
    .flatMap((name) => {
      const [, number, identity = ''] = name.match(LETTER) ?? [];
      return number === undefined ? [] : [{ number: Number(number), identity }];
    })
    .sort((a, b) => b.number - a.number)[0];
}

function lastOf(folder: string): Last | undefined {
  return readJson(join(folder, '.last'), lastSchema);
}

function note(folder: string, last: Last): void {
  writeJson(join(folder, '.last'), last);
}
