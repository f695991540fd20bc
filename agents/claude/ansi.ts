// Parses the output of `tmux capture-pane -e` into rows of cells. Colours are kept, because only they distinguish a hint from a
// draft; escape sequences and control characters are removed, so no returned text contains one.

export interface AnsiCell {
  readonly char: string;
  readonly dim: boolean;
  readonly inverse: boolean;
  /** Not in the default text colour. */
  readonly coloured: boolean;
}

export interface AnsiRow {
  readonly cells: readonly AnsiCell[];
  /** The characters, without the spaces at the end. */
  readonly text: string;
}

export function parseAnsi(ansi: string): readonly AnsiRow[] {
  const rows: AnsiRow[] = [];
  let style = PLAIN;
  for (const line of ansi.replace(/\n$/, '').split('\n')) {
    const cells: AnsiCell[] = [];
    for (const [token, sgr] of line.matchAll(TOKEN)) {
      if (sgr !== undefined) style = restyle(style, sgr);
      else if (!CONTROL.test(token)) cells.push({ char: token, ...style });
    }
    // tmux cuts off spaces at the end of a line, but keeps the inverse attribute of a cursor on one.
    if (style.inverse) cells.push({ char: ' ', ...style });
    rows.push({ cells, text: textOf(cells).trimEnd() });
  }
  return rows;
}

export function textOf(cells: readonly AnsiCell[]): string {
  return cells.map((cell) => cell.char).join('');
}

type Style = Omit<AnsiCell, 'char'>;

const PLAIN: Style = { dim: false, inverse: false, coloured: false };

/** A colour change (its numbers are captured), any other escape sequence, even an incomplete one, or one character. */
const TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  /\u001b\[([\d;:]*)m|\u001b\[[\d;:<=>?]*[ -/]*[@-~]?|\u001b[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?|./gu;

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROL = /^[\u0000-\u001f\u007f-\u009f]/;

function restyle(style: Style, sgr: string): Style {
  const codes = sgr.split(/[;:]/).map(Number);
  let { dim, inverse, coloured } = style;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) ({ dim, inverse, coloured } = PLAIN);
    else if (code === 2) dim = true;
    else if (code === 22) dim = false;
    else if (code === 7) inverse = true;
    else if (code === 27) inverse = false;
    else if (code === 39) coloured = false;
    else if ((code >= 30 && code <= 38) || (code >= 90 && code <= 97)) coloured = true;
    // Skip the parameters of an extended colour.
    if (code === 38 || code === 48 || code === 58) i += codes[i + 1] === 2 ? 4 : 2;
  }
  return { dim, inverse, coloured };
}
