// Finds `[ATTACH: path]` in a reply. Pure.

const MARK = /^\[(?:DISCORD_)?ATTACH:(.*)\]$/s;
const FENCE = /^\s{0,3}(`{3,}|~{3,})/;

export const TOO_MANY = 'more files than one message can hold';
const TOO_LONG = 'the text is too long to look for files in it';
/** Each costs time, on another host a round trip. */
const MAX_ASKED = 20;

interface AttachMarkers {
  /** The text without the marks. */
  readonly kept: string;
  /** Each once, and not more than may be looked at. */
  readonly paths: readonly string[];
  /** A sentence about the others. */
  readonly tooMany: readonly string[];
}

/** Millions of lines take seconds. No agent writes so much at once. */
const LONGEST_SEARCHED = 2 ** 20;

/** A mark inside a code block is not an attachment. */
export function attachMarkersIn(text: string): AttachMarkers {
  if (text.length > LONGEST_SEARCHED)
    return { kept: text, paths: [], tooMany: text.includes('ATTACH:') ? [TOO_LONG] : [] };
  const paths = new Set<string>();
  let fence: string | undefined;
  const kept = text.split('\n').filter((line) => {
    const mark = line.match(FENCE)?.[1];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
    const path = fence === undefined ? markedPath(line) : undefined;
    if (path !== undefined) paths.add(path);
    return path === undefined;
  });
  const more = paths.size - MAX_ASKED;
  return {
    kept: kept.join('\n'),
    paths: [...paths].slice(0, MAX_ASKED),
    tooMany: more > 0 ? [`${more} more: ${TOO_MANY}`] : [],
  };
}

function markedPath(line: string): string | undefined {
  return MARK.exec(line.trim())?.[1]?.trim() || undefined;
}
