// What the messages of a terminal are to show next. Pure: it looks at the text and says how many of its messages are final.

import { blockOf, blockOfEnd, MESSAGE_LIMIT, type Slice, slicesOf } from './slices.ts';

interface TextPlan {
  readonly kind: 'text';
  readonly slices: readonly Slice[];
  /** So many of them will never change again. */
  readonly final: number;
}

interface FloodPlan {
  readonly kind: 'flood';
  /** What is still shown line by line before it begins. */
  readonly slices: readonly Slice[];
}

/** More new messages than these at once are a flood. */
const MANY = 3;

/** `stable` changes no more, `live` may; `open` messages are there already; a message ends at every one of `cuts`. */
export function planTextMessages(
  stable: string,
  live: string,
  open: number,
  cuts: readonly number[] = [],
): TextPlan | FloodPlan {
  const shown = Math.max(1, open);
  const slices = cutSlices(stable + live, cuts, shown + MANY + 1);
  let end = 0;
  const final = slices.filter(({ text }) => {
    end += text.length;
    return end <= stable.length && end < stable.length + live.length;
  }).length;
  if (final > shown + MANY) return { kind: 'flood', slices: slices.slice(0, shown) };
  return { kind: 'text', slices: cutSlices(stable + live, cuts), final };
}

function cutSlices(text: string, cuts: readonly number[], most?: number): readonly Slice[] {
  const inside = cuts.filter((cut) => cut < text.length);
  // The text may have changed since it was cut: never between the halves of a character.
  const ends = [...inside.map((cut) => cut - (/[\ud800-\udbff]/.test(text.charAt(cut - 1)) ? 1 : 0)), text.length];
  return ends.flatMap((end, at) => slicesOf(text.slice(ends[at - 1] ?? 0, end), most)).slice(0, most);
}

/** While it lasts: how much, and the end of the screen. */
export function floodNow(lines: number, live: string): string {
  const head = `${countOf(lines)}\n`;
  return head + (live.trim() === '' ? '' : blockOfEnd(live, MESSAGE_LIMIT - head.length));
}

/** When it is over, with its text attached; `kept` are the lines that are in the file. */
export function floodDone(lines: number, kept: number): string {
  if (kept === lines) return `${countOf(lines)}\n-# They came too fast to be shown; they are attached.`;
  return `${countOf(lines)}\n-# Too many to keep: only the last ${amount(kept)} are attached.`;
}

export function isFloodDone(content: string): boolean {
  return /^… [\d,]+ lines? …\n-# /.test(content);
}

/** Stands for a part that Discord does not take: a word that a filter of the server knows, a file that is too large. */
export const REFUSED = '… Discord refused to show this part …';

/** A message that a terminal's stream may have posted. */
export function isStreamMessage(content: string): boolean {
  return /^… [\d,]+ lines? …/.test(content) || content === REFUSED || content.startsWith(blockOf('').slice(0, -3));
}

function countOf(lines: number): string {
  return `… ${amount(lines)} ${lines === 1 ? 'line' : 'lines'} …`;
}

export function amount(number: number): string {
  return number.toLocaleString('en-US');
}
