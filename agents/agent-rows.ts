// The rows of a pane, if its agent is what it shows. Everything else is the same for all agents: a dead pane, another program, copy mode,
// and output that is larger than a screen.

import { spelledOut } from '../core/untrusted-text.ts';
import { type AnsiRow, parseAnsi } from './claude/screen/box.ts';
import type { AgentScreen, PaneFacts } from './screen.ts';
import { isShell } from './shell-name.ts';

const MOST_CHARACTERS = 256 * 1024;
const MOST_ROWS = 1_000;

export function rowsOfAgent(
  ansi: string,
  facts: PaneFacts,
): { readonly rows: readonly AnsiRow[] } | { readonly screen: AgentScreen } {
  if (facts.paneDead) return { screen: { kind: 'dead' } };
  if (exceedsScreen(ansi)) return { screen: { kind: 'unknown' } };
  const { currentCommand, agentCommand } = facts;
  if (currentCommand !== undefined && currentCommand !== agentCommand) {
    if (isShell(currentCommand)) return { screen: { kind: 'shell', suspended: false } };
    if (agentCommand !== undefined) return { screen: { kind: 'otherProgram', command: currentCommand } };
  }
  if (facts.inMode) return { screen: { kind: 'copyMode' } };
  const rows = parseAnsi(ansi);
  if (facts.height !== undefined && rows.length !== facts.height) return { screen: { kind: 'unknown' } };
  return { rows };
}

/** A host may send more than a screen, and reading it would block everything else. */
export function exceedsScreen(ansi: string): boolean {
  return ansi.length > MOST_CHARACTERS || ansi.split('\n', MOST_ROWS + 2).length > MOST_ROWS + 1;
}

/** The options around the highlighted one, by their numbers: another line with a number is part of the text, such as a command to approve. */
export function optionsAround<T extends { readonly number: number | undefined }>(
  lines: readonly T[],
  focus: number,
): readonly T[] {
  const follows = (one: number, next: number) => lines[next]?.number === (lines[one]?.number ?? 0) + 1;
  let [first, last] = [focus, focus];
  while (follows(first - 1, first) && lines[first]?.number !== 1) first--;
  while (follows(last, last + 1)) last++;
  return lines.slice(first, last + 1);
}

/** A space that is not the plain one belongs to a word of a command, also at the ends of its line. */
const UNUSUAL_SPACE = /(?! )\s/gu;

/** The row of a dialog with such spaces as codes, so that none is taken for an empty cell. */
export function withSpacesShown(row: AnsiRow): AnsiRow {
  const text = row.cells.map(({ char }) => char).join('');
  return text.search(UNUSUAL_SPACE) < 0 ? row : { ...row, text: text.replace(UNUSUAL_SPACE, spelledOut).trimEnd() };
}

export function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

/** The lines of a command without their common margin. Their other indents and the empty lines between them are a part of it. */
export function withoutMargin(lines: readonly string[]): readonly string[] {
  const isWritten = (line: string) => line.trim() !== '';
  const [first, last] = [lines.findIndex(isWritten), lines.findLastIndex(isWritten)];
  const own = first < 0 ? [] : lines.slice(first, last + 1).map((line) => line.trimEnd());
  const margin = Math.min(...own.filter(isWritten).map((line) => line.search(/\S/u)));
  return own.map((line) => line.slice(margin));
}
