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

export function openLine(fence: Fence): string {
  return fence.prefix + fence.marker + fence.language;
}

export function closeLine(fence: Fence): string {
  return fence.prefix + fence.marker;
}

/** Whether a line that starts at this position could be a fence line. Ignores the rest of the line. */
export function looksLikeFence(text: string, at: number): boolean {
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
  return {
    prefix: before.replace(/[^\s>]/g, ' '),
    marker,
    language,
  };
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
