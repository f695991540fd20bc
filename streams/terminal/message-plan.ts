// Decides what the messages of a terminal show next, and how many of them are final. More output at once than is shown becomes
// one message that counts its lines. Pure.

interface TextPlan {
  readonly kind: 'text';
  readonly slices: readonly Slice[];
  /** How many of them will never change again. */
  readonly final: number;
}

interface FloodPlan {
  readonly kind: 'flood';
  /** What is still shown as messages before the flood begins. */
  readonly slices: readonly Slice[];
}

/** More new messages than this at once are a flood. */
const MANY = 3;

/** `stable` can no longer change, `live` can; `open` messages exist already; a message ends at each of `cuts`. */
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
  // The text may have changed since the cut, so never cut between the halves of a surrogate pair.
  const ends = [...inside.map((cut) => cut - (/[\ud800-\udbff]/.test(text.charAt(cut - 1)) ? 1 : 0)), text.length];
  return ends.flatMap((end, at) => slicesOf(text.slice(ends[at - 1] ?? 0, end), most)).slice(0, most);
}

/** Replaces a part that Discord refuses, for example a word that the server's filter blocks or a file that is too large. */
export const REFUSED = '… Discord refused to show this part …';

/** A message that the output of a terminal may have created. */
export function isStreamMessage(content: string): boolean {
  return /^… [\d,]+ lines? …/.test(content) || content === REFUSED || content.startsWith(blockOf('').slice(0, -3));
}

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
  return `… ${linesInWords(lines)} …`;
}

export function linesInWords(lines: number): string {
  return `${amount(lines)} ${lines === 1 ? 'line' : 'lines'}`;
}

function amount(number: number): string {
  return number.toLocaleString('en-US');
}

// Splits a text of any length into messages, each a slice in a code block, and back: together the slices are the text, byte
// for byte. Pure.

/** The language distinguishes output from our other messages in the thread. */
const OPEN = '```text\n';
const CLOSE = '```';
const MESSAGE_LIMIT = 2000;
const ROOM = MESSAGE_LIMIT - OPEN.length - CLOSE.length;

export interface Slice {
  readonly text: string;
  readonly content: string;
}

/** As few as possible; cut after a line end if there is one. */
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

/** Without a newline at the end, the closing fence directly follows the text. */
export function blockOf(text: string): string {
  return OPEN + escaped(text) + CLOSE;
}

/** The slice that such a message shows; undefined for other messages. */
export function sliceOf(content: string): string | undefined {
  if (!content.startsWith(OPEN) || !content.endsWith(CLOSE)) return undefined;
  return content
    .slice(OPEN.length, -CLOSE.length)
    .replace(/⟨U\+(0060|27E8)⟩/g, (_, code) => (code === '0060' ? '`' : '⟨'));
}

/** A code block with the end of a text, as much as fits. */
export function blockOfEnd(text: string, room: number): string {
  const space = room - OPEN.length - CLOSE.length;
  // Escaping never makes text shorter, so text before this cannot fit.
  let part = text.slice(Math.max(0, text.length - space));
  if (part.length < text.length) part = part.slice(part.indexOf('\n') + 1);
  for (;;) {
    const over = escaped(part).length - space;
    if (over <= 0) break;
    const line = part.indexOf('\n');
    const least = Math.ceil(over / 8); // one character takes up to eight
    part = part.slice(line === -1 ? least : line + 1);
  }
  return OPEN + escaped(part.replace(/^[\udc00-\udfff]/, '')) + CLOSE;
}

function sliceEnd(text: string, from: number): number {
  let end = from + ROOM;
  if (end >= text.length && escaped(text.slice(from)).length <= ROOM) return text.length;
  end = Math.min(end, text.length);
  for (;;) {
    // Before the length is checked: backticks that become the end need more room.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    const over = escaped(text.slice(from, end)).length - ROOM;
    if (over <= 0) break;
    end -= Math.max(1, Math.floor(over / 8)); // one character takes up to eight
  }
  const line = text.lastIndexOf('\n', end - 1);
  return line >= from ? line + 1 : end;
}

/**
 * Escapes whatever would end the code block: every third backtick of a run, and those before the closing fence. Text that
 * looks like such an escape is escaped, too.
 */
function escaped(text: string): string {
  return text
    .replace(/⟨(?=U\+(?:0060|27E8)⟩)/g, '⟨U+27E8⟩')
    .replace(/``(`)/g, '``⟨U+0060⟩')
    .replace(/`{1,2}$/, (end) => '⟨U+0060⟩'.repeat(end.length));
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800;
}
