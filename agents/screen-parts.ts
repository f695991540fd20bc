// The parts of a screen between vertical lines: a program may show an agent beside something else (a split, a frame, a popup). Pure.

const LINE = /[│┃┆┇┊┋║▏▕|]/u;
/** Shorter lines belong to a drawing. */
const FEWEST_ROWS = 5;
const MOST_LINES = 4;
/** Every dialog of an agent names one of these keys. */
const KEYS = /\b(?:esc|escape|enter|tab)\b/iu;

/** Each part between two of the lines, or a line and the edge, as text; none if there is no line. Line numbers in front of the rows count as one. */
export function screenParts(text: string): readonly string[] {
  const rows = text.split('\n').map((row) => [...row]);
  const lines = verticalLines(rows);
  const parts = [-1, ...lines].flatMap((left, at) =>
    [...lines.slice(at), undefined].flatMap((right) => {
      const edge = left < 0 ? right : left;
      if (edge === undefined) return [];
      const beside = rows.filter((row) => LINE.test(row[edge] ?? ''));
      return [beside.map((row) => row.slice(left + 1, right).join('')).join('\n')];
    }),
  );
  const numbered = withoutNumbers(text.split('\n')).join('\n');
  return [...parts, numbered].filter((part) => KEYS.test(part));
}

function verticalLines(rows: readonly (readonly string[])[]): readonly number[] {
  const counts = new Map<number, number>();
  for (const row of rows)
    for (const [column, char] of row.entries()) if (LINE.test(char)) counts.set(column, (counts.get(column) ?? 0) + 1);
  const long = [...counts].filter(([, count]) => count >= FEWEST_ROWS).map(([column]) => column);
  return long.toSorted((a, b) => a - b).slice(0, MOST_LINES);
}

const NUMBERED = /^ *\d+ /u;

function withoutNumbers(rows: readonly string[]): readonly string[] {
  const numbered = rows.filter((row) => NUMBERED.test(row));
  return numbered.length < FEWEST_ROWS ? [] : numbered.map((row) => row.replace(NUMBERED, ''));
}
