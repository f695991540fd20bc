// What a command prints: data on stdout, words on stderr. Nothing that a session, a path or a host calls itself can
// act on the terminal.

import { setTimeout as sleep } from 'node:timers/promises';
import { neutralise } from '../core/neutralise.ts';
import { displayWidth } from '../core/width.ts';

const SHOWN_AFTER_MS = 300;

export function printJson(value: unknown): void {
  // JSON leaves these control characters as they are, and a terminal may act on them.
  const text = JSON.stringify(value, null, 2).replace(
    /[\x7f-\x9f]/g,
    (one) => `\\u00${one.charCodeAt(0).toString(16)}`,
  );
  process.stdout.write(`${text}\n`);
}

export function printText(text: string): void {
  if (text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** For people; a program that reads stdout is not disturbed by it. */
export function printNote(text: string): void {
  process.stderr.write(`${neutralise(text)}\n`);
}

/** One line, whatever it holds. */
export function printable(text: string): string {
  return neutralise(text).replace(/[\n\t]/g, ' ');
}

/** A cell may be longer, but makes no other row longer. */
const WIDEST = 200;

/** Columns as wide as their widest cell; the last one ends where its text ends. */
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

/** Says on a terminal what is waited for, once it takes longer, and takes it back afterwards. */
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
