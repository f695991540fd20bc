// threadmux logs: the last lines of the log, including the rotated file, and with --follow the new ones.

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readText } from '../../home/atomic-write.ts';
import { openContext } from '../command-context.ts';
import { printable, printJsonLine, printNote, printText } from '../print.ts';

interface LogsFlags {
  readonly follow?: boolean;
  readonly lines: number;
  readonly json?: boolean;
}

const LOOK_MS = 250;

export async function logs({ follow, lines, json }: LogsFlags): Promise<void> {
  const { home } = openContext('cli');
  const path = home.path('log', 'threadmux.log');
  const show = (line: string) => (json ? printJsonLine(entryOf(line)) : printText(printable(line)));
  const file = open(path);
  const [now, start] = file === undefined ? ['', 0] : readFrom(file.fd, 0);
  if (file !== undefined) closeSync(file.fd);
  const text = `${readText(`${path}.1`) ?? ''}${now}`;
  const all = text.split('\n').filter(Boolean);
  for (const line of lines === 0 ? [] : all.slice(-lines)) show(line);
  if (all.length === 0) printNote('The log is empty.');
  if (follow) await followFile(path, start, show);
}

/** A line as JSON data. */
export function entryOf(line: string) {
  const [, at, who, level, text] = line.match(/^(\S+) (\S+) (debug|info|warn|error) (.*)$/s) ?? [];
  return at === undefined ? { text: line } : { at, who, level, text };
}

/** Runs until Ctrl-C. A rotated file is read to its end, then the new file from its start. */
async function followFile(path: string, from: number, show: (line: string) => void): Promise<void> {
  let file = open(path);
  let at = from;
  let rest = '';
  for (; ; await sleep(LOOK_MS)) {
    file ??= open(path);
    if (file === undefined) continue;
    // Asked before reading: lines may be written until the file is rotated.
    const isRotated = statSync(path, { throwIfNoEntry: false })?.ino !== file.ino;
    const [bytes, size] = readFrom(file.fd, at);
    at = size;
    const parts = (rest + bytes).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts.filter(Boolean)) show(line);
    if (!isRotated) continue;
    closeSync(file.fd);
    file = open(path);
    at = 0;
  }
}

function open(path: string): { readonly fd: number; readonly ino: number } | undefined {
  try {
    const fd = openSync(path, 'r');
    return { fd, ino: fstatSync(fd).ino };
  } catch {
    return undefined; // not written yet
  }
}

/** Each line is written at once, so no character is cut. */
function readFrom(fd: number, at: number): readonly [text: string, size: number] {
  const { size } = fstatSync(fd);
  if (size <= at) return ['', size];
  const buffer = Buffer.alloc(size - at);
  const length = readSync(fd, buffer, 0, buffer.length, at);
  return [buffer.toString('utf8', 0, length), at + length];
}
