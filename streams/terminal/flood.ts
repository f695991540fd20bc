// The message of a flood: more output at once than is shown. It counts the lines; their text is attached at the end. Pure.

import { blockOfEnd, MESSAGE_LIMIT } from './message-plan.ts';

/** During a flood: the number of lines and the end of the screen. */
export function floodNow(lines: number, live: string): string {
  const head = `${countOf(lines)}\n`;
  return head + (live.trim() === '' ? '' : blockOfEnd(live, MESSAGE_LIMIT - head.length));
}

/** After a flood, with its text attached; `kept` is the number of lines in the file. */
export function floodDone(lines: number, kept: number): string {
  if (kept === lines) return `${countOf(lines)}\n-# Too fast to show here; all of it is attached.`;
  return `${countOf(lines)}\n-# Too much to keep: only the last ${amount(kept)} lines are attached.`;
}

export function isFloodDone(content: string): boolean {
  return /^… [\d,]+ lines? …\n-# /.test(content);
}

function countOf(lines: number): string {
  return `… ${amount(lines)} ${lines === 1 ? 'line' : 'lines'} …`;
}

export function amount(number: number): string {
  return number.toLocaleString('en-US');
}
