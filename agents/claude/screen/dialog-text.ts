// The text of a dialog without its frame: rules and boxes are removed, and lines that Claude Code wrapped are joined again.

import { indentOf } from '../../agent-rows.ts';

interface DialogText {
  /** Empty if the first line is a row of tabs. */
  readonly title: string;
  readonly text: readonly string[];
}

/**
 * `lines`: the dialog up to its keys; undefined where a row belongs to an option. `width`: of the longest line; undefined for a command to
 * approve, which is left as it is: in a shell, the next line is another command, and only a plain space is one.
 */
export function readDialogText(lines: readonly (string | undefined)[], width: number | undefined): DialogText {
  const spaced = (line: string) => (width === undefined ? line : line.replaceAll('\u00a0', ' '));
  // A line of a command may consist of the same characters as a frame, but does not begin in the first column.
  const unframed = (line: string) =>
    width === undefined && line.startsWith(' ') ? line.trimEnd() : withoutFrame(line);
  const plain = lines.map((line) => (line === undefined ? undefined : spaced(unframed(line))));
  const first = plain.findIndex((line) => line !== undefined && line.trim() !== '' && !STEPS.test(line));
  const title = (plain[first] ?? '').trim();
  const rest = isTabs(title) ? afterBlock(plain, first) : plain.slice(first + 1);
  return {
    title: isTabs(title) ? '' : title,
    text: trimmed(
      joined(
        rest.filter((line) => line !== undefined),
        width,
      ),
    ),
  };
}

/** The row of questions, above the one that is asked now. */
export const STEPS = /^(?:← )? *[☐☒] \S/u;

/** Lines of box drawing become empty; the sides of a box are removed. */
function withoutFrame(line: string): string {
  const inside = line
    .replace(/^( *)[│┃]/u, '$1 ')
    .replace(/[│┃]$/u, '')
    .trimEnd();
  return /^[\s─━═╌╭╮╰╯┌┐└┘▔▁]*$/u.test(inside) ? '' : inside;
}

/** "Settings  Status   Config": names in a row. */
function isTabs(title: string): boolean {
  return /^\S+(?: {2,}\S+(?: \S+)*){2,}$/u.test(title);
}

function afterBlock(lines: readonly (string | undefined)[], from: number): readonly (string | undefined)[] {
  const end = lines.findIndex((line, at) => at > from && line?.trim() === '');
  return end < 0 ? [] : lines.slice(end);
}

function joined(lines: readonly string[], width: number | undefined): readonly string[] {
  if (width === undefined) return lines;
  const out: string[] = [];
  let last = ''; // the row that the next one may continue
  for (const line of lines) {
    const before = out.at(-1);
    if (before !== undefined && continues(last, line, width))
      out[out.length - 1] = before + glue(last, width) + line.trim();
    else out.push(line);
    last = line;
  }
  return out;
}

/** Its first word had no room in the row above, which begins in the same column. */
function continues(above: string, line: string, width: number): boolean {
  const hasColumns = /\S {2,}\S/u.test(line);
  if (above === '' || line === '' || hasColumns || indentOf(above) !== indentOf(line)) return false;
  const [word = ''] = line.trim().split(' ', 1);
  return above.length + 1 + word.length > width - 3;
}

/** An address fills its rows and has no spaces. */
function glue(above: string, width: number): string {
  return above.length >= width && !above.includes(' ') ? '' : ' ';
}

function trimmed(lines: readonly string[]): readonly string[] {
  const some = lines.filter((line) => line !== '');
  const margin = Math.min(...some.map(indentOf));
  const out: string[] = [];
  for (const line of lines) if (line !== '' || (out.length > 0 && out.at(-1) !== '')) out.push(line.slice(margin));
  while (out.at(-1) === '') out.pop();
  return out;
}
