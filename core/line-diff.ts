// A line diff for people: "-" is removed, "+" is added, with a few unchanged lines around each change.

const CONTEXT = 2;

export function lineDiff(before: string, after: string): readonly string[] {
  const marked = compare(before.split('\n'), after.split('\n'));
  const changed = marked.flatMap((line, at) => (line.startsWith(' ') ? [] : [at]));
  const near = new Set(changed.flatMap((at) => Array.from({ length: 2 * CONTEXT + 1 }, (_, i) => at - CONTEXT + i)));
  const last = changed.at(-1) ?? -1;
  const shown: string[] = [];
  marked.forEach((line, at) => {
    if (near.has(at)) shown.push(line.replace(/\r$/, ''));
    else if (shown.length > 0 && shown.at(-1) !== '  …' && last > at) shown.push('  …');
  });
  return shown;
}

function compare(before: readonly string[], after: readonly string[]): string[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++;
  const unchanged = (line: string) => `  ${line}`;
  return [
    ...before.slice(0, head).map(unchanged),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(unchanged),
  ];
}

/** With more pairs of lines than this, nothing is compared: all old lines are removed and all new ones added. */
const MOST_PAIRS = 4_000_000;

/** Longest common subsequence with a table of all pairs: the files are small. */
function middle(before: readonly string[], after: readonly string[]): string[] {
  if (before.length * after.length > MOST_PAIRS)
    return [...before.map((line) => `- ${line}`), ...after.map((line) => `+ ${line}`)];
  const width = after.length + 1;
  const longest = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      longest[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: string[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; )
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push(`  ${before[i++]}`);
      j++;
    } else if (i < before.length && (j === after.length || at(i + 1, j) >= at(i, j + 1)))
      lines.push(`- ${before[i++]}`);
    else lines.push(`+ ${after[j++]}`);
  return lines;
}
