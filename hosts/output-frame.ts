// Puts marker lines around the output of a script, so that the greeting of a login shell is not mistaken for output, and a
// lost connection is not mistaken for success.

import { randomBytes } from 'node:crypto';
import type { OutputFrame } from './process.ts';

export interface Frame {
  readonly script: string;
  /** Passed before the script's own arguments. */
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

/** For a script that keeps running: it has a begin marker but no end marker. */
export function frameStaying(script: string): Frame & { readonly begin: string } {
  const mark = randomBytes(8).toString('hex');
  return {
    mark,
    begin: beginLine(mark),
    script: `printf '\\n%s\\n' "threadmux-begin-$1"; shift\n${script}`,
  };
}

/** Tells runProcess which part of the output is ours. */
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

/** The output of the script; undefined if it did not run to its end. */
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
