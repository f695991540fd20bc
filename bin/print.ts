// Prints results to stdout and messages to stderr. Names of sessions, paths and hosts are escaped, so that none of them can
// control the terminal.

import { setTimeout as sleep } from 'node:timers/promises';
import { harmless } from '../core/json.ts';
import { displayWidth } from '../core/markdown-tables.ts';
import { maskKnown, maskSecrets } from '../core/mask-secrets.ts';
import { neutralise, spelledOut } from '../core/untrusted-text.ts';

const SHOWN_AFTER_MS = 300;

export function printJson(value: unknown): void {
  process.stdout.write(`${harmless(maskKnown(JSON.stringify(value, null, 2)))}\n`);
}

/** For output that goes on: one value per line. */
export function printJsonLine(value: unknown): void {
  process.stdout.write(`${harmless(maskKnown(JSON.stringify(value)))}\n`);
}

export function printText(text: string): void {
  print(neutralise(maskKnown(text)));
}

/** What a session shows or its agent says: its sequences could set the clipboard or the title of this terminal, or turn its words around. */
export function printForeignText(text: string): void {
  print(text.replace(/[^\P{Cc}\n\t]|\p{Bidi_Control}/gu, spelledOut));
}

function print(text: string): void {
  if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** For people: on stderr, so that programs which read stdout do not see it. */
export function printNote(text: string): void {
  process.stderr.write(`${neutralise(maskSecrets(text))}\n`);
}

/** Always one line. */
export function printable(text: string): string {
  return neutralise(text).replace(/[\n\t]/g, ' ');
}

/** A longer cell does not widen its column any further. */
const WIDEST = 200;

/** Pads each column to its widest cell, except the last one. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map(printable));
  const widthOf = (cell: string) => Math.min(WIDEST, displayWidth(cell.slice(0, 10 * WIDEST)));
  const widths = head.map((_, at) => cells.reduce((most, row) => Math.max(most, widthOf(row[at] ?? '')), 0));
  return cells
    .map((row) =>
      row
        .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - widthOf(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** On a terminal, shows what we are waiting for if it takes long, and removes the line afterwards. */
export async function withProgress<T>(doing: string, work: Promise<T>): Promise<T> {
  if (!process.stderr.isTTY) return work;
  const done = new AbortController();
  const { signal } = done;
  const line = sleep(SHOWN_AFTER_MS, undefined, { signal, ref: false }).then(
    () => process.stderr.write(`${printable(doing)} …`),
    () => undefined,
  );
  try {
    return await work;
  } finally {
    done.abort();
    if (await line) process.stderr.write('\r\x1b[K');
  }
}
