// What the messages of a terminal are to show next. Pure: it looks at the text and says how many of its messages are final.

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

// A text of any length as messages, each a slice of it in a code block, and back: put together again they are the text,
// byte by byte. Pure.

/** The language marks the messages that are a stream's, among all that we post in its thread. */
const OPEN = '```text\n';
const CLOSE = '```';
const MESSAGE_LIMIT = 2000;
const ROOM = MESSAGE_LIMIT - OPEN.length - CLOSE.length;

export interface Slice {
  readonly text: string;
  readonly content: string;
}

/** As few as possible; cut behind a line where one ends in time. */
export function slicesOf(text: string, most = Number.POSITIVE_INFINITY): readonly Slice[] {
  const slices: Slice[] = [];
  for (let at = 0; at < text.length && slices.length < most; ) {
    const end = sliceEnd(text, at);
    const part = text.slice(at, end);
    slices.push({ text: part, content: blockOf(part) });
    at = end;
  }
  return slices;
}

/** The last line that is not ended by a newline has the closing fence directly behind it. */
export function blockOf(text: string): string {
  return OPEN + spelledOut(text) + CLOSE;
}

/** The slice that such a message shows; undefined for any other message. */
export function sliceOf(content: string): string | undefined {
  if (!content.startsWith(OPEN) || !content.endsWith(CLOSE)) return undefined;
  return content
    .slice(OPEN.length, -CLOSE.length)
    .replace(/⟨U\+(0060|27E8)⟩/g, (_, code) => (code === '0060' ? '`' : '⟨'));
}

/** Only what fits: a message that shows the end of a text. */
export function blockOfEnd(text: string, room: number): string {
  const space = room - OPEN.length - CLOSE.length;
  // Spelling out makes nothing shorter: what is in front of this does not fit in any case.
  let part = text.slice(Math.max(0, text.length - space));
  if (part.length < text.length) part = part.slice(part.indexOf('\n') + 1);
  for (;;) {
    const over = spelledOut(part).length - space;
    if (over <= 0) break;
    const line = part.indexOf('\n');
    const least = Math.ceil(over / 8); // one character takes up to eight
    part = part.slice(line === -1 ? least : line + 1);
  }
  return OPEN + spelledOut(part.replace(/^[\udc00-\udfff]/, '')) + CLOSE;
}

function sliceEnd(text: string, from: number): number {
  let end = from + ROOM;
  if (end >= text.length && spelledOut(text.slice(from)).length <= ROOM) return text.length;
  end = Math.min(end, text.length);
  for (;;) {
    const over = spelledOut(text.slice(from, end)).length - ROOM;
    if (over <= 0) break;
    end -= Math.max(1, Math.floor(over / 8)); // one character takes up to eight
  }
  const line = text.lastIndexOf('\n', end - 1);
  if (line >= from) return line + 1;
  return isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
}

/**
 * Nothing in it ends the block: every third backtick of a run and those before the closing fence are spelled out, and what
 * looks like one that was spelled out is, too.
 */
function spelledOut(text: string): string {
  return text
    .replace(/⟨(?=U\+(?:0060|27E8)⟩)/g, '⟨U+27E8⟩')
    .replace(/``(`)/g, '``⟨U+0060⟩')
    .replace(/`{1,2}$/, (end) => '⟨U+0060⟩'.repeat(end.length));
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}
