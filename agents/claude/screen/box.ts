// Finds and reads Claude Code's input box. Only a box at the bottom of the screen counts: the conversation above may show a
// copy of a box, and everything below it must look like its footer.

type PermissionMode = 'normal' | 'plan' | 'acceptEdits' | 'auto' | 'bypass' | 'dontAsk';

export interface Box {
  /** The row of the upper rule, above the first line of the box; negative if it is off the screen. */
  readonly top: number;
  /** The row of the lower rule. */
  readonly bottom: number;
  /** In shell mode (`!`), submitted text runs as a command. */
  readonly shell: boolean;
  /** It contains nothing, not even a line break. */
  readonly empty: boolean;
  /** The written text without hints, with the line breaks that the box shows. */
  readonly text: string;
  /** The hint that Claude Code shows in an empty box. */
  readonly hint: string;
  /** Whether the box shows a cursor; it does not while the terminal has no focus. */
  readonly cursor: boolean;
  readonly footer: readonly AnsiRow[];
  /** The running agents, listed below the footer. */
  readonly agents: readonly string[];
}

/** `cursorY` is needed only for a draft that is so long that the upper edge of its box is off the screen. */
export function findBox(rows: readonly AnsiRow[], width = widestRule(rows), cursorY?: number): Box | undefined {
  const bottom = rows.findLastIndex((row) => isRule(row, width));
  const below = rows.slice(bottom + 1, rows.findLastIndex((row) => row.text !== '') + 1);
  const gap = below.findLastIndex((row) => !AGENT.test(row.text));
  const footer = below.slice(0, below[gap]?.text === '' ? gap : gap + 1);
  if (!footer.every((row) => FOOTER.test(row.text)) || hasQuestion(footer)) return undefined;
  let first = bottom - 1;
  while (CONTINUES.test(rows[first]?.text ?? '!')) first--;
  const [upper, line] = [rows[first - 1], rows[first]];
  const prompt = line !== undefined && PROMPT.test(line.text);
  const whole = prompt && upper !== undefined && isUpperRule(upper, width);
  const cut = (first < 0 || (first === 0 && prompt)) && cursorY !== undefined && cursorY < bottom;
  if (!whole && !cut) return undefined;
  const inside = rows.slice(Math.max(first, 0), bottom).map((row) => row.cells.slice(2));
  const hint = isHint(inside) ? inside.map(textOf).join('\n').trim() : '';
  const text = hint === '' ? inside.map(writtenText).join('\n').trimEnd() : '';
  return {
    top: first - 1,
    bottom,
    shell: line?.text.startsWith('!') ?? false,
    empty: whole && text === '' && (hint !== '' || inside.length === 1),
    text,
    hint,
    cursor: inside.flat().some((cell) => cell.inverse),
    footer,
    agents: below.slice(gap + 1).map((row) => row.text),
  };
}

/** A draft has opened a list of commands or files: below the box, or above it in newer versions. */
export function menuOpen(rows: readonly AnsiRow[], box: Box): boolean {
  if (box.footer.some((row) => MENU_BELOW.test(row.text))) return true;
  return /^\/|@/.test(box.text) && MENU_ABOVE.test(rows[box.top - 1]?.text ?? '');
}

/** A turn runs: the footer says so, or the last unindented line of the conversation is the spinner. */
export function isBusy(rows: readonly AnsiRow[], box: Box): boolean {
  if (box.footer.some((row) => row.text.includes('esc to interrupt'))) return true;
  const above = rows.slice(0, Math.max(box.top, 0)).findLast((row) => /^\S/.test(row.text));
  return above !== undefined && SPINNER.test(above.text);
}

/** Notices are in the footer, or in the line above the box in newer versions. */
export function hasStash(rows: readonly AnsiRow[], box: Box): boolean {
  return [rows[box.top - 1], ...box.footer].some((row) => row?.text.endsWith('› stashed'));
}

export function modeOf(box: Box): PermissionMode {
  const said = box.footer.map((row) => row.text).join('\n');
  return MODES.find(([words]) => words.test(said))?.[1] ?? 'normal';
}

const MODES: readonly (readonly [RegExp, PermissionMode])[] = [
  [/⏸ plan mode on/, 'plan'],
  [/⏵⏵ accept edits on/, 'acceptEdits'],
  [/⏵⏵ auto mode on/, 'auto'],
  [/⏵⏵ bypass permissions on/, 'bypass'],
  [/⏵⏵ don['’]t ask on/, 'dontAsk'],
];

/** The prompt is followed by a no-break space; lines of the conversation or of a dialog have a normal space. */
const PROMPT = /^[❯!](?:\u00a0.*)?$/u;
const CONTINUES = /^(?: {2}(?! *❯).*)?$/u;
/** Footers are indented by two columns and have no empty lines; the older list of completions is not indented. */
const FOOTER = /^(?: {2}.*|[/+*@◇].*)$/u;
/** The agent whose conversation is shown has the filled dot. */
const AGENT = /^(?:❯ | {2})[●◯] \S/u;
/** Below the box after a usage limit (seen in 2.1.325): Esc cancels the continuation, and the box takes text. */
const RESUMES = /⚠ Usage limit reached\b.{1,120}· Esc to cancel\b/u;
const QUESTION = /^\s*❯|\b(?:esc|enter) to (?:cancel|select|confirm|continue|close)\b/iu;
const MENU_BELOW = /^[/+*@◇]/u;
const MENU_ABOVE = /^ {2}(?:❯ | {2})\S|^ {20}/u;
const SPINNER = /^[^\s\w❯●⎿─▔│▎] .*…/u;

function hasQuestion(footer: readonly AnsiRow[]): boolean {
  const lines = footer.map((row) => row.text);
  const resumes = RESUMES.test(lines.map((line) => line.trim()).join(' ')); // a narrow pane wraps it
  return lines.some((line) => QUESTION.test(resumes ? line.replace(/\bEsc to cancel$/u, '') : line));
}

/** Claude Code draws its rules over the full width, so the longest rule is the width if tmux did not report it. */
function widestRule(rows: readonly AnsiRow[]): number {
  return Math.max(10, ...rows.filter((row) => /^─+$/.test(row.text)).map((row) => row.text.length));
}

function isRule(row: AnsiRow, width: number): boolean {
  return row.text.length === width && /^─+$/.test(row.text);
}

/** A named session shows its name in the upper rule. */
function isUpperRule(row: AnsiRow, width: number): boolean {
  return isRule(row, width) || /^─{2,} .+ ─{1,2}$/u.test(row.text);
}

/** All dim, except the first character if the cursor is on it. */
export function isHint(lines: readonly (readonly AnsiCell[])[]): boolean {
  const written = lines.flat().filter((cell) => cell.char.trim() !== '');
  const [first, ...others] = written;
  if (first === undefined || !(first.dim || first.inverse)) return false;
  return first.dim ? others.every((cell) => cell.dim) : others.length > 0 && others.every((cell) => cell.dim);
}

/** Completions are dim; the hint for a command's argument is coloured and comes after the cursor. */
function writtenText(line: readonly AnsiCell[]): string {
  const cursor = line.findIndex((cell) => cell.inverse && cell.char === ' ');
  const hinted = (cell: AnsiCell, at: number) => cell.dim || (cursor >= 0 && at > cursor && cell.coloured);
  return textOf(line.filter((cell, at) => !hinted(cell, at))).trimEnd();
}

// Parses the output of `tmux capture-pane -e` into rows of cells. Colours are kept, because only they distinguish a hint from a
// draft; escape sequences and control characters are removed, so no returned text contains one.

interface AnsiCell {
  readonly char: string;
  readonly dim: boolean;
  readonly inverse: boolean;
  /** Not in the default text colour. */
  readonly coloured: boolean;
  /** The numbers of its background colour. */
  readonly background: string;
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
    for (const [token, sgr] of line.matchAll(ANSI_TOKEN)) {
      if (sgr !== undefined) style = restyle(style, sgr);
      else if (!CONTROL.test(token)) cells.push({ char: token, ...style });
    }
    // tmux cuts off spaces at the end of a line, but keeps the inverse attribute of a cursor on one.
    if (style.inverse) cells.push({ char: ' ', ...style });
    rows.push({ cells, text: textOf(cells).trimEnd() });
  }
  return rows;
}

function textOf(cells: readonly AnsiCell[]): string {
  return cells.map((cell) => cell.char).join('');
}

type Style = Omit<AnsiCell, 'char'>;

const PLAIN: Style = { dim: false, inverse: false, coloured: false, background: '' };

/** A colour change (its numbers are captured), any other escape sequence, even an incomplete one, or one character. */
export const ANSI_TOKEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  /\u001b\[([\d;:]*)m|\u001b\[[\d;:<=>?]*[ -/]*[@-~]?|\u001b[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?|./gu;

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROL = /^[\u0000-\u001f\u007f-\u009f]/;

function restyle(style: Style, sgr: string): Style {
  const codes = sgr.split(/[;:]/).map(Number);
  let { dim, inverse, coloured, background } = style;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) ({ dim, inverse, coloured, background } = PLAIN);
    else if (code === 2) dim = true;
    else if (code === 22) dim = false;
    else if (code === 7) inverse = true;
    else if (code === 27) inverse = false;
    else if (code === 39) coloured = false;
    else if ((code >= 30 && code <= 38) || (code >= 90 && code <= 97)) coloured = true;
    // The parameters of an extended colour.
    const end = code === 38 || code === 48 || code === 58 ? i + (codes[i + 1] === 2 ? 4 : 2) : i;
    if (code === 49) background = '';
    else if ((code >= 40 && code <= 48) || (code >= 100 && code <= 107)) background = codes.slice(i, end + 1).join(';');
    i = end;
  }
  return { dim, inverse, coloured, background };
}
