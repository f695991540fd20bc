// Puts our own marker lines around what a script prints, so that a login shell's greetings are not taken
// for its output, and a lost connection is not taken for its success.

import { randomBytes } from 'node:crypto';
import type { OutputFrame } from './process.ts';

export interface Frame {
  readonly script: string;
  /** Goes before the script's own arguments. */
  readonly mark: string;
}

export interface Framed {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number;
}

export function frameScript(script: string): Frame {
  return {
    mark: randomBytes(8).toString('hex'),
    script: `m=$1; shift
printf '\\n%s\\n' "threadmux-begin-$m"; printf '\\n%s\\n' "threadmux-begin-$m" >&2
(
${script}
)
s=$?; printf '\\nthreadmux-end-%s %s\\n' "$m" "$s"`,
  };
}

/** For a script that stays: it is the process itself, and nothing follows what it prints. */
export function frameStaying(script: string): Frame & { readonly begin: string } {
  const mark = randomBytes(8).toString('hex');
  return {
    mark,
    begin: beginLine(mark),
    script: `printf '\\n%s\\n' "threadmux-begin-$1"; shift\n${script}`,
  };
}

/** What a process that runs such a script has to know of it. */
export function outputFrame(mark: string, onBegin = () => {}): OutputFrame {
  const isWhole = (stdout: string) => readFrame(stdout, '', mark) !== undefined;
  return { begin: beginLine(mark), isWhole, onBegin };
}

export function hasBegun(stdout: string, mark: string): boolean {
  return stdout.includes(beginLine(mark));
}

export function isMarkLine(line: string): boolean {
  return /^threadmux-(?:begin|end)-[0-9a-f]{16}/.test(line);
}

/** What the script printed; undefined if it did not come to its end. */
export function readFrame(stdout: string, stderr: string, mark: string): Framed | undefined {
  const begin = stdout.indexOf(beginLine(mark));
  const endLine = `\nthreadmux-end-${mark} `;
  const end = stdout.lastIndexOf(endLine);
  if (begin === -1 || end === -1) return undefined;
  const status = stdout.slice(end + endLine.length).match(/^(\d+)\n/)?.[1];
  if (status === undefined) return undefined;
  return {
    stdout: stdout.slice(begin + beginLine(mark).length, end),
    stderr: stderr.slice(Math.max(0, stderr.indexOf(beginLine(mark)))).replace(beginLine(mark), ''),
    status: Number(status),
  };
}

function beginLine(mark: string): string {
  return `\nthreadmux-begin-${mark}\n`;
}
