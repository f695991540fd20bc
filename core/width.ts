// The number of columns that a text takes in a fixed-width font, so that tables line up.

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** East Asian wide and full-width blocks: fonts draw them two columns wide. */
const WIDE =
  /^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}{2})/u;
const NOTHING = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]*$/u;
const PRINTABLE_ASCII = /^[ -~]*$/;

/** The segmenter takes quadratic time, so it gets one piece at a time. No real grapheme is longer than this. */
const PIECE = 128;

export function displayWidth(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  let columns = 0;
  for (let at = 0; at < text.length; ) {
    const found = [...graphemes.segment(text.slice(at, at + PIECE))];
    // The last grapheme may continue after the piece.
    if (found.length > 1 && at + PIECE < text.length) found.pop();
    for (const { segment } of found) {
      columns += widthOf(segment);
      at += segment.length;
    }
  }
  return columns;
}

function widthOf(grapheme: string): 0 | 1 | 2 {
  if (NOTHING.test(grapheme)) return 0;
  return WIDE.test(grapheme) || EMOJI.test(grapheme) ? 2 : 1;
}
