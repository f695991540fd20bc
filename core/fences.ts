// Which lines open and close a code fence, read one line at a time.
// A fence made by `openLine` and `closeLine` is read back as the same fence: cutting and reopening never drifts.

export interface Fence {
  /** What stands before the marker on a reopened line: indentation and quote signs, list signs blanked out. */
  readonly prefix: string;
  /** The backticks or tildes that opened it. */
  readonly marker: string;
  readonly language: string;
}

/** Fences nested in lists and quotes keep their place; a deeper or longer one than this is plain text. */
const LONGEST = 250;

const OPENS = /^((?:[ \t]*>|[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*[ \t]*)(`{3,}|~{3,})/;
const CLOSES = /^([ \t>]*)(`{3,}|~{3,})[ \t\r]*$/;

/** The fence that is open after this line, given the one open before it. */
export function fenceAfter(
  line: string,
  open: Fence | undefined,
  longest: number = LONGEST,
): Fence | undefined {
  if (open === undefined) return openedBy(line, longest);
  return closedBy(line, open, longest) ? undefined : open;
}

export function openLine(fence: Fence): string {
  return fence.prefix + fence.marker + fence.language;
}

export function closeLine(fence: Fence): string {
  return fence.prefix + fence.marker;
}

/** Says whether text that starts here would be taken for a fence line; asks nothing about the rest of the line. */
export function looksLikeFence(text: string, at: number): boolean {
  FENCE_LIKE.lastIndex = at;
  return FENCE_LIKE.test(text);
}

const FENCE_LIKE = /[ \t>]{0,40}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,8})?(?:`{3}|~{3})/y;

function openedBy(line: string, longest: number): Fence | undefined {
  // Only the head of the line is searched: a line may be megabytes long.
  const [, before = '', marker = ''] = OPENS.exec(line.slice(0, longest + 1)) ?? [];
  const info = line.slice(before.length + marker.length);
  if (marker === '' || before.length + marker.length > longest) return undefined;
  // A backtick after the marker makes it inline code that happens to begin the line.
  if (marker.startsWith('`') && info.includes('`')) return undefined;
  const word = info.trim().split(/\s/, 1)[0] ?? '';
  // A tilde first would lengthen the marker of the reopened fence.
  const language = word.startsWith('~') || word.length > longest ? '' : word;
  return {
    prefix: before.replace(/[^\s>]/g, ' '),
    marker,
    language,
  };
}

/** Code that shows fences of its own indents them deeper, or uses shorter ones. */
function closedBy(line: string, open: Fence, longest: number): boolean {
  const [, before = '', marker = ''] = CLOSES.exec(line) ?? [];
  return (
    marker.startsWith(open.marker) &&
    before.length <= open.prefix.length + 3 &&
    before.length + marker.length <= longest
  );
}
