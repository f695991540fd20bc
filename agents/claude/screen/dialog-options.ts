// Reads the options of a dialog: numbered lines, or the lines around the highlighted one that begin in its column.

import { indentOf, optionsAround } from '../../agent-rows.ts';
import type { AgentDialogOption } from '../../screen.ts';
import { type AnsiRow, isHint } from './box.ts';

interface OptionList {
  readonly options: readonly AgentDialogOption[];
  /** The rows that belong to options. */
  readonly rows: ReadonlySet<number>;
  readonly hasMore: boolean;
}

interface Line {
  readonly at: number;
  readonly column: number;
  readonly number: number | undefined;
  readonly label: string;
  readonly marked: boolean;
  readonly coloured: boolean;
  readonly scrolls: boolean;
}

/** `inBlocks`: options are separated by empty lines, and their second line is an explanation. */
export function readOptions(body: readonly AnsiRow[], width: number, inBlocks: boolean): OptionList {
  const lines = body.flatMap(readLine);
  const focus = focusOf(lines);
  const heads = headsOf(lines, body, focus, inBlocks).filter(({ at, label, number }, index, all) => {
    const isBelow = all[index - 1]?.at === at - 1;
    return number !== undefined || !isBelow || !hasNoRoom(body[at - 1]?.text ?? '', label, width);
  });
  const isTicked = focus !== undefined && TICK.test(focus.label);
  const isFalse = ({ label, column }: Line) => isTicked && TICK.test(label) && column !== focus.column;
  // A row that is a part of a name begins in another column, and takes the place of one that is scrolled away.
  const hasMore = lines.some((line) => line.scrolls || MORE.test(line.label) || isFalse(line));
  const rows = new Set<number>();
  const options = heads.map((head, index) => {
    const end = heads[index + 1]?.at ?? body.length;
    const own = [head.at, ...followers(body, head, end)];
    for (const at of own) rows.add(at);
    const texts = own.map((at) => body[at]?.text ?? '');
    const field = fieldIn(
      own.map((at) => body[at] as AnsiRow),
      head,
      head === focus,
    );
    return {
      number: head.number,
      ...labelOf(head, texts, width),
      selected: head === focus,
      ...(field === undefined ? {} : { field }),
    };
  });
  // Further up, such words are a part of what is asked.
  const first = (heads[0]?.at ?? Number.POSITIVE_INFINITY) - 1;
  for (const { at, label } of lines) if (MORE.test(label) && at >= first) rows.add(at);
  return { options, rows, hasMore };
}

const OPTION = /^( *)(❯ *)?((?:[↑↓✔] )*)(?:(\d+)\.(?: +|(?=Yes\b)))?(\S.*)$/su;
export const TICK = /^\[.?\]/u;
const MORE = /^(?:\d+ more(?: (?:above|below))?|… \+\d+ \S+)$/u;

function readLine({ text, cells }: AnsiRow, at: number): readonly Line[] {
  const [, margin = '', mark, arrows = '', number, label = ''] = OPTION.exec(text) ?? [];
  if (label === '') return [];
  const column = margin.length + (mark?.length ?? 0) + arrows.length;
  const first = cells[text.length - label.length];
  return [
    {
      at,
      column,
      label,
      marked: mark !== undefined,
      coloured: first?.coloured ?? false,
      number: number === undefined ? undefined : Number(number),
      scrolls: /[↑↓]/u.test(arrows),
    },
  ];
}

/** Claude Code colours the option that has the focus; another list may have an arrow without it. */
function focusOf(lines: readonly Line[]): Line | undefined {
  const marked = lines.filter((line) => line.marked);
  return marked.findLast((line) => line.coloured) ?? (marked.length === 1 ? marked[0] : undefined);
}

function headsOf(
  lines: readonly Line[],
  body: readonly AnsiRow[],
  focus: Line | undefined,
  inBlocks: boolean,
): readonly Line[] {
  if (focus === undefined) return [];
  const alike = lines.filter(
    ({ column, label }) => column === focus.column && !MORE.test(label) && !/^Ctrl\+/u.test(label),
  );
  const numbered = lines.filter(({ number }) => number !== undefined);
  if (focus.number !== undefined) return optionsAround(numbered, numbered.indexOf(focus));
  const isEmpty = (at: number) => (body[at]?.text ?? '') === '';
  if (!inBlocks) {
    const [first, last] = [-1, 1].map((step) => {
      let at = focus.at;
      while (!isEmpty(at + step) && body[at + step] !== undefined) at += step;
      return at;
    }) as [number, number];
    const block = lines.filter(({ at }) => at >= first && at <= last);
    // The line that confirms the ticks begins in another column.
    return block.some(({ label }) => TICK.test(label)) ? block : block.filter((line) => alike.includes(line));
  }
  const starts = alike.filter(
    ({ at }) => isEmpty(at - 1) || MORE.test(lines.find((one) => one.at === at - 1)?.label ?? ''),
  );
  // The name of a folder above a list stands alone.
  return starts.filter((one) => one === focus || !isEmpty(one.at + 1));
}

/** The rows below a label that are indented at least as far, up to an empty one. */
function followers(body: readonly AnsiRow[], head: Line, end: number): readonly number[] {
  const own: number[] = [];
  for (let at = head.at + 1; at < end; at++) {
    const text = body[at]?.text ?? '';
    if (text === '' || /^[─╌]/u.test(text.trim()) || indentOf(text) < Math.min(head.column, 2)) break;
    if (MORE.test(text.trim().replace(/^[↑↓] /u, ''))) break;
    own.push(at);
  }
  return own;
}

/** A second column is the explanation; so is a line below, unless its first word had no room in the line above. */
function labelOf(head: Line, texts: readonly string[], width: number): Pick<AgentDialogOption, 'label' | 'about'> {
  const more = texts.slice(1);
  const [label = '', ...columns] = head.label.split(/ {2,}/u);
  if (columns.length > 0) return { label: label.trim(), about: words([...columns, ...more]) };
  let cut = 0;
  while (cut < more.length && hasNoRoom(texts[cut] ?? '', more[cut] ?? '', width)) cut++;
  return { label: words([head.label, ...more.slice(0, cut)]), about: words(more.slice(cut)) };
}

/** The first word of the next line did not fit into this one, so it was wrapped. */
function hasNoRoom(line: string, next: string, width: number): boolean {
  const [word = ''] = next.trim().split(' ', 1);
  return !line.endsWith('…') && line.length + 1 + word.length > width - 3;
}

function words(lines: readonly string[]): string {
  return lines
    .map((line) => line.trim())
    .join(' ')
    .trim();
}

/** The words that Claude Code shows in an empty one. */
const FIELD = /^(?:Type something\b|Tell Claude what to change$)/u;

/** The cursor is in it, or it shows its hint. */
function fieldIn(
  [first, ...more]: readonly AnsiRow[],
  { label }: Line,
  isSelected: boolean,
): AgentDialogOption['field'] {
  if (first === undefined) return undefined;
  const written = first.cells.slice(first.text.length - label.length);
  if (isSelected && isHint([written])) return 'empty';
  if (isSelected && [written, ...more.map(({ cells }) => cells)].flat().some(({ inverse }) => inverse)) return 'full';
  return FIELD.test(label) ? 'closed' : undefined;
}
