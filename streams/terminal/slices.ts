// A text of any length as messages, each a slice of it in a code block, and back: put together again they are the text,
// byte by byte. Pure.

/** The language marks the messages that are a stream's, among all that we post in its thread. */
const OPEN = '```text\n';
const CLOSE = '```';
export const MESSAGE_LIMIT = 2000;
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
