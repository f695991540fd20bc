// Removes the Markdown from a table cell. Takes linear time: unclosed markup is scanned only once.

/** A code block shows markup instead of applying it. A link keeps its address, so nothing is lost. */
export function plainCell(cell: string): string {
  const codes: string[] = [];
  const held = cell.replaceAll('\0', '');
  let text = withoutCode(held, (code) => `\0${codes.push(code.trim()) - 1}\0`)
    .replace(/<br[ \t]{0,9}\/?>/gi, ' ')
    .replace(/!?\[([^[\]]*)\]\(<?([^()\s>]+)>?(?:\s[^()]*)?\)/g, (_, text: string, url: string) =>
      text === '' || text === url ? url : `${text} (${url})`,
    );
  for (const mark of ['**', '__', '~~']) text = withoutPairs(text, mark);
  return text
    .replace(/(?<![\w*])\*(?=[^\s*])([^*]+)(?<=[^\s*])\*(?![\w*])/g, '$1')
    .replace(/(?<![\w_])_(?=[^\s_])([^_]+)(?<=[^\s_])_(?![\w_])/g, '$1')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/\0(\d+)\0/g, (_, i: string) => codes[Number(i)] ?? '');
}

/** A run of backticks opens code; the next run of the same length closes it. */
function withoutCode(text: string, hold: (code: string) => string): string {
  const runs = [...text.matchAll(/`+/g)].map(({ index, 0: run }) => ({
    at: index,
    size: run.length,
  }));
  const closing: (number | undefined)[] = [];
  const next = new Map<number, number>();
  for (let i = runs.length - 1; i >= 0; i--) {
    const { size } = runs[i] ?? { size: 0 };
    closing[i] = next.get(size);
    next.set(size, i);
  }
  const out: string[] = [];
  let from = 0;
  for (let i = 0; i < runs.length; i++) {
    const open = runs[i];
    const end = closing[i];
    const close = end === undefined ? undefined : runs[end];
    if (open === undefined || close === undefined || end === undefined) continue;
    out.push(text.slice(from, open.at), hold(text.slice(open.at + open.size, close.at)));
    from = close.at + close.size;
    i = end;
  }
  return out.join('') + text.slice(from);
}

/** Matches `mark`, text that neither begins nor ends with a blank, `mark`. */
function withoutPairs(text: string, mark: string): string {
  const out: string[] = [];
  let from = 0;
  let open = text.indexOf(mark);
  let close = -1;
  while (open >= 0) {
    const inner = open + mark.length;
    if (isBlank(text, inner)) {
      open = text.indexOf(mark, open + 1);
      continue;
    }
    if (close <= inner) close = text.indexOf(mark, inner + 1);
    while (close >= 0 && isBlank(text, close - 1)) close = text.indexOf(mark, close + 1);
    if (close < 0) break;
    out.push(text.slice(from, open), text.slice(inner, close));
    from = close + mark.length;
    open = text.indexOf(mark, from);
  }
  return out.join('') + text.slice(from);
}

function isBlank(text: string, at: number): boolean {
  return at >= text.length || /\s/.test(text.charAt(at));
}
