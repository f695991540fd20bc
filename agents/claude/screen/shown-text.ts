// What Claude Code's box shows once it has taken a pasted text: Enter can be pressed as soon as it is seen. Pure.

/** The box goes from the last line that begins with `from` to the next line that begins with `to`. Spaces and line breaks do not count. */
export interface ShownText {
  readonly from: string;
  readonly to: string;
  /** The box contains exactly this; empty if the text is too long for that. */
  readonly whole: string;
  /** The box contains one of these. */
  readonly parts: readonly string[];
}

/** A longer text may be wider than the pane or scrolled: then only its end is looked for. */
const WHOLE = 60;
const TAIL = 40;
/** A shorter end could also be a part of a hint in an empty box. */
const SHORTEST_TAIL = 8;
/** Claude Code shows these instead of a long text and of images. */
const PLACEHOLDERS = ['[Pastedtext#', '[Image#'] as const;

/** Terminals draw or join these in different ways, and other spaces than those of ASCII. */
const UNSURE = /[\p{C}\p{M}\p{Z}\p{Variation_Selector}\p{Emoji_Modifier}\p{Regional_Indicator}]/u;

export function shownText(text: string): ShownText {
  const points = [...text.replace(/[ \t\n]+/g, '')];
  // A no-break space at the end, as after a slash command, stays one.
  const isSure = points.length <= WHOLE && !points.some((point, at) => UNSURE.test(point) && !isLastSpace(points, at));
  const tail = isSure ? '' : tailOf(points);
  return {
    from: '❯\u00a0',
    to: '─',
    whole: isSure ? points.join('') : '',
    parts: [...(tail === '' ? [] : [tail]), ...PLACEHOLDERS],
  };
}

function isLastSpace(points: readonly string[], at: number): boolean {
  return points[at] === '\u00a0' && at === points.length - 1;
}

/** The last run of characters that every terminal draws alike; empty if there is none near the end. */
function tailOf(points: readonly string[]): string {
  const end = points.slice(-2 * TAIL);
  for (let to = end.length; to > 0; ) {
    const from = end.slice(0, to).findLastIndex((point) => UNSURE.test(point)) + 1;
    if (to - from >= SHORTEST_TAIL) return end.slice(Math.max(from, to - TAIL), to).join('');
    to = from - 1;
  }
  return '';
}
