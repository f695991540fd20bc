// Cuts a reply into messages that Discord accepts. Only white space is lost between two parts, and a code fence that is open
// at a cut is closed there and opened again in the next part.

export interface SplitOptions {
  /** The maximum of UTF-16 units per part. There are never more code points than units, so both limits hold. */
  readonly limit?: number;
  /** Units to leave free in the first part, for text that the caller puts before it. */
  readonly header?: number;
  /** Units to leave free in the last part, for text that the caller puts after it. */
  readonly footer?: number;
}

const DISCORD_LIMIT = 2000;
const SMALLEST_LIMIT = 48;

export function splitMessage(text: string, options: SplitOptions = {}): readonly string[] {
  const { limit = DISCORD_LIMIT, header = 0, footer = 0 } = options;
  if (limit < SMALLEST_LIMIT || header > limit / 4 || footer > limit / 4)
    throw new RangeError('a part must have 48 units or more; header and footer at most a quarter');

  const end = lastVisible(text);
  const longestFence = Math.floor(limit / 8);
  const parts: string[] = [];
  let at: Place = { pos: 0, fence: undefined };
  for (;;) {
    at = resume(text, end, at, longestFence);
    if (at.pos >= end) return parts;
    const before = at.fence === undefined ? '' : `${openLine(at.fence)}\n`;
    // Near the end, any part may turn out to be the last one, so it leaves room for the footer.
    const nearEnd = end - at.pos <= 1.5 * limit;
    const room = limit - before.length - (parts.length === 0 ? header : 0) - (nearEnd ? footer : 0);
    const cut = chooseCut(text, end, at, room, longestFence);
    const body = text.slice(at.pos, cut.pos);
    parts.push(before + (cut.fence === undefined ? body.slice(0, lastVisible(body)) : closed(body, cut.fence)));
    at = cut;
  }
}

/** A position in the text, and the fence that is open there. */
interface Place {
  readonly pos: number;
  readonly fence: Fence | undefined;
}

/** Discord trims these characters and refuses a message that has no others. */
const BLANK = /[\s\p{Cc}\u200b\u2060]/u;

function lastVisible(text: string): number {
  let end = text.length;
  while (end > 0 && BLANK.test(text.charAt(end - 1))) end--;
  return end;
}

function closed(body: string, fence: Fence): string {
  return `${body}\n${closeLine(fence)}`;
}

/** Where the next part begins: after the white space at the cut. */
function resume(text: string, end: number, at: Place, longestFence: number): Place {
  if (at.fence === undefined) return { pos: skipBlank(text, end, at.pos, longestFence), fence: undefined };
  if (text.charAt(at.pos) !== '\n') return at;
  const pos = at.pos + 1;
  const lineEnd = text.indexOf('\n', pos);
  const line = text.slice(pos, lineEnd < 0 ? end : Math.min(lineEnd, end));
  // This line closes the fence, and the previous part already has a closing line: skip it.
  if (fenceAfter(line, at.fence, longestFence) === undefined)
    return { pos: skipBlank(text, end, pos + line.length, longestFence), fence: undefined };
  return { pos, fence: at.fence };
}

/** Keeps the indentation of the first visible line, unless it is too long. */
function skipBlank(text: string, end: number, from: number, longestIndent: number): number {
  let pos = from;
  let lineStart = from === 0 ? 0 : -1;
  while (pos < end && BLANK.test(text.charAt(pos))) {
    if (text.charAt(pos) === '\n') lineStart = pos + 1;
    pos++;
  }
  return lineStart >= 0 && pos - lineStart <= longestIndent ? lineStart : pos;
}

/**
 * The best place to end a part that begins at `at`: between paragraphs or next to a code block if that fills half the room,
 * else at the end of a line if that fills a quarter, else inside a line.
 */
function chooseCut(text: string, end: number, at: Place, room: number, longestFence: number): Place {
  const window = text.slice(at.pos, Math.min(end, at.pos + room + 1));
  const reachesEnd = at.pos + window.length === end;
  let strong: Place | undefined;
  let weak: Place | undefined;
  let fence = at.fence;
  for (let start = 0; start <= window.length; ) {
    const found = window.indexOf('\n', start);
    if (found < 0 && !reachesEnd) break;
    const lineEnd = found < 0 ? window.length : found;
    const before = fence;
    fence = fenceAfter(window.slice(start, lineEnd), before, longestFence);
    const here: Place = { pos: at.pos + lineEnd, fence };
    const fits = lineEnd + closing(fence) <= room;
    if (found < 0) {
      if (fits) return here;
      break;
    }
    // A cut right after the opening line would leave an empty code block.
    const justOpened = before === undefined && fence !== undefined;
    if (fits && !justOpened && lineEnd > 0) {
      weak = here;
      if (fence === undefined && isStrong(text, here.pos + 1, before)) strong = here;
    }
    start = lineEnd + 1;
  }
  if (strong !== undefined && strong.pos - at.pos >= room / 2) return strong;
  if (weak !== undefined && weak.pos - at.pos >= room / 4) return weak;
  return cutInside(text, at, room, longestFence);
}

function closing(fence: Fence | undefined): number {
  return fence === undefined ? 0 : closeLine(fence).length + 1;
}

/** Directly after or before a code block, or between paragraphs. */
function isStrong(text: string, next: number, before: Fence | undefined): boolean {
  return before !== undefined || looksLikeFence(text, next) || BLANK_LINE.test(text.slice(next, next + 80));
}

const BLANK_LINE = /^[ \t\r]*\n/;

/** A cut inside a line can create or destroy a fence line. Room for the longest fence is always enough. */
function cutInside(text: string, at: Place, room: number, longestFence: number): Place {
  for (const reserved of [0, closing(at.fence)]) {
    const cut = wordEnd(text, at.pos, at.pos + room - reserved);
    const fence = fenceWithin(text.slice(at.pos, cut), at.fence, longestFence);
    if (cut - at.pos + closing(fence) <= room) return { pos: cut, fence };
  }
  const cut = wordEnd(text, at.pos, at.pos + room - longestFence - 1);
  return { pos: cut, fence: fenceWithin(text.slice(at.pos, cut), at.fence, longestFence) };
}

function fenceWithin(body: string, open: Fence | undefined, longestFence: number) {
  return body.split('\n').reduce<Fence | undefined>((fence, line) => fenceAfter(line, fence, longestFence), open);
}

/** The last gap between words in the last two thirds, else the end of the last whole character. */
function wordEnd(text: string, from: number, latest: number): number {
  const earliest = from + Math.ceil((latest - from) / 3);
  for (let cut = latest; cut > earliest; cut--)
    if (BLANK.test(text.charAt(cut)) && !looksLikeFence(text, cut)) return cut;
  const cut = characterStart(text, earliest, latest);
  // The cut becomes the start of a line, where three backticks from the middle of a line would open a fence.
  for (let safe = cut; safe > earliest && safe > cut - 64; safe--)
    if (!looksLikeFence(text, safe) && !splitsPair(text, safe) && !splitsEscape(text, safe)) return safe;
  return cut;
}

/** The start of the grapheme at `index`: joined emoji and accented letters stay whole. */
function characterStart(text: string, earliest: number, index: number): number {
  const from = Math.max(earliest, index - 128);
  const seen = graphemes.segment(text.slice(from, index + 64)).containing(index - from);
  return seen === undefined || seen.index === 0 ? index : from + seen.index;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function splitsPair(text: string, index: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(index - 1, index + 1));
}

/** After a backslash, the next part would begin with what it protects, such as the sign of a heading. */
function splitsEscape(text: string, index: number): boolean {
  let at = index;
  while (at > index - 64 && text.charAt(at - 1) === '\\') at--;
  return (index - at) % 2 === 1;
}

// Finds the lines that open and close a code fence, one line at a time.
// A fence written by `openLine` and `closeLine` is read back as the same fence, so cutting and reopening never changes it.

export interface Fence {
  /** Precedes the marker on a reopened line: indentation and quote signs; list signs are replaced by spaces. */
  readonly prefix: string;
  /** The opening backticks or tildes. */
  readonly marker: string;
  readonly language: string;
}

/** Fences nested in lists and quotes keep their prefix; with a longer prefix and marker than this, a line is plain text. */
const LONGEST = 250;

const OPENS = /^((?:[ \t]*>|[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*[ \t]*)(`{3,}|~{3,})/;
const CLOSES = /^([ \t>]*)(`{3,}|~{3,})[ \t\r]*$/;

/** The fence that is open after this line, given the fence that was open before it. */
export function fenceAfter(line: string, open: Fence | undefined, longest: number = LONGEST): Fence | undefined {
  if (open === undefined) return openedBy(line, longest);
  return closedBy(line, open, longest) ? undefined : open;
}

function openLine(fence: Fence): string {
  return fence.prefix + fence.marker + fence.language;
}

export function closeLine(fence: Fence): string {
  return fence.prefix + fence.marker;
}

/** Whether a line that starts at this position could be a fence line. Ignores the rest of the line. */
function looksLikeFence(text: string, at: number): boolean {
  FENCE_LIKE.lastIndex = at;
  return FENCE_LIKE.test(text);
}

const FENCE_LIKE = /[ \t>]{0,40}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,8})?(?:`{3}|~{3})/y;

function openedBy(line: string, longest: number): Fence | undefined {
  // Search only the start of the line: a line may be megabytes long.
  const [, before = '', marker = ''] = OPENS.exec(line.slice(0, longest + 1)) ?? [];
  const info = line.slice(before.length + marker.length);
  if (marker === '' || before.length + marker.length > longest) return undefined;
  // With another backtick after the marker, it is inline code at the start of a line.
  if (marker.startsWith('`') && info.includes('`')) return undefined;
  const word = info.trim().split(/\s/, 1)[0] ?? '';
  // A leading tilde would lengthen the marker of the reopened fence.
  const language = word.startsWith('~') || word.length > longest ? '' : word;
  return { prefix: before.replace(/[^\s>]/g, ' '), marker, language };
}

/** Fences inside the code are indented deeper or are shorter, and do not close it. */
function closedBy(line: string, open: Fence, longest: number): boolean {
  const [, before = '', marker = ''] = CLOSES.exec(line) ?? [];
  return (
    marker.startsWith(open.marker) &&
    before.length <= open.prefix.length + 3 &&
    before.length + marker.length <= longest
  );
}
