// What Discord's clients make of a message. They read from left to right and take the first thing that fits: bold, underlined, crossed out
// and hidden text reaches to the next such mark, also if that is inside of code. Only `\` before a mark protects it.

export interface Active {
  readonly kind: string;
  readonly text: string;
}

/** At the beginning of a line. */
const LINES: Readonly<Record<string, RegExp>> = {
  heading: /^ *#{1,3} /,
  small: /^-# /,
  quote: /^ *>(>>)? /,
  list: /^ *([-*+]|\d+\.) /,
};

/** From a mark to the next one. */
const PAIRS: readonly (readonly [kind: string, mark: string])[] = [
  ['bold', '**'],
  ['underlined', '__'],
  ['crossed out', '~~'],
  ['hidden', '||'],
  ['italic', '*'],
  ['italic', '_'],
];

const WORDS: Readonly<Record<string, RegExp>> = {
  link: /^\[[^\]\n]+\]\( *<?(https?|discord):\/\/[^)\n]+\)/,
  address: /^<?https?:\/\/[^\s<>]+>?/,
  mention: /^(<[@#][!&]?\d+>|@everyone|@here|<\/[^>\n]+:\d+>|<id:\w+>)/,
  time: /^<t:-?\d+(:\w)?>/,
  emoji: /^<a?:\w+:\d+>/,
};

/** Everything that is not shown as plain text or code, in the order of the text. */
export function activeIn(content: string): readonly Active[] {
  const found: Active[] = [];
  for (let at = 0; at < content.length; ) {
    const rest = content.slice(at);
    if (at === 0 || content[at - 1] === '\n')
      for (const [kind, begin] of Object.entries(LINES))
        if (begin.test(rest)) found.push({ kind, text: rest.split('\n', 1)[0] ?? '' });
    const plain = /^\\[^A-Za-z0-9\s]/.test(rest) ? 2 : codeAt(rest);
    const span = plain === 0 ? (wordAt(rest) ?? pairAt(rest)) : undefined;
    if (span !== undefined) found.push({ kind: span.kind, text: span.text }, ...activeIn(span.inside));
    at += plain || (span?.text.length ?? 1);
  }
  return found;
}

/** The length of the code that begins here. A block ends at the next three backticks, other code at as many as it began with. */
function codeAt(rest: string): number {
  const [ticks = ''] = /^`*/.exec(rest) ?? [];
  const end = ticks.length >= 3 ? rest.indexOf('```', 4) : -1;
  if (end > 0) return end + 3;
  const runs = ticks === '' ? [] : [...rest.matchAll(/`+/g)].slice(1);
  const close = runs.find(([run]) => run.length === ticks.length);
  return close === undefined ? 0 : close.index + ticks.length;
}

interface Span extends Active {
  /** It is read again. */
  readonly inside: string;
}

function wordAt(rest: string): Span | undefined {
  for (const [kind, word] of Object.entries(WORDS)) {
    const text = word.exec(rest)?.[0];
    if (text !== undefined) return { kind, text, inside: '' };
  }
  return undefined;
}

function pairAt(rest: string): Span | undefined {
  for (const [kind, mark] of PAIRS) {
    const end = rest.startsWith(mark) ? endOfPair(rest, mark) : -1;
    if (end > 0) return { kind, text: rest.slice(0, end + mark.length), inside: rest.slice(mark.length, end) };
  }
  return undefined;
}

/** There is at least one character in between, and no more stars follow the last ones. */
function endOfPair(rest: string, mark: string): number {
  for (let at = mark.length; at < rest.length; at += rest[at] === '\\' ? 2 : 1)
    if (at > mark.length && rest.startsWith(mark, at) && rest[at + mark.length] !== mark[0]) return at;
  return -1;
}
