// Checks that a text was split without loss, independent of the splitter's own code: a second parser of
// fences, character by character, and a walk through the parts that must find every character of the text.

import type { SplitOptions } from '../../core/split.ts';

/** Pieces of random texts: fences of every kind, long words, unusual characters, line ends. */
export const fragments: readonly string[] = [
  ...['```', '````', '~~~', '`', '``', '```js\n', '\n```\n', '\n~~~\n', '~~~~py x\n', '``````````````'],
  ...['- ```sh\n', '  ```\n', '> ```\n', '\n> ', '1. ', '     ```c\n', '\n     ```\n', '```a`b', '\n```` \n'],
  ...[' ', '\n', '\n\n', '\r\n', '\r', '\t', '    ', ' \n \n', '\u200b', '\u00a0', '\u0000', '\ufeff'],
  ...['a', 'word ', 'two words', 'x'.repeat(70), 'long words in one line '.repeat(5), '| a | b |\n|---|---|\n'],
  ...[
    '😀',
    '👨‍👩‍👧‍👦',
    '🇩🇪🇫🇷',
    'é'.normalize('NFD'),
    '\ud83d',
    '\ude00',
    '漢字',
    '😀'.repeat(40),
    '\u0301'.repeat(30),
    `a${'\u{e0100}'.repeat(40)}`,
  ],
  ...['**bold**', '# Title\n', '* item\n', 'let a = 1;\n', 'let b = 2;\n'.repeat(9), '@everyone', '<@1>', '\\'],
];

interface Fence {
  readonly before: string;
  readonly marker: string;
  readonly language: string;
}

/** How much of the text the parts so far contain, and the fence that the last of them had to close. */
interface Place {
  readonly pos: number;
  readonly fence: Fence | undefined;
}

export function expectFaithful(text: string, parts: readonly string[], options: SplitOptions): void {
  const { limit = 2000, header = 0, footer = 0 } = options;
  const longest = Math.floor(limit / 8);
  const say = (what: string) => () => `${what}: ${JSON.stringify({ text, parts, options })}`;
  let places: readonly Place[] = [{ pos: 0, fence: undefined }];
  parts.forEach((part, index) => {
    const most = limit - (index === 0 ? header : 0) - (index === parts.length - 1 ? footer : 0);
    check(part.length <= most && [...part].length <= most, say(`part ${index} is too long`));
    check(!isBlank(part), say(`part ${index} shows nothing`));
    check(read(part, longest) === undefined, say(`part ${index} leaves a fence open`));
    places = places.flatMap((place) => continuations(text, part, place, longest));
    check(places.length > 0, say(`part ${index} is not what the text says`));
  });
  const whole = places.some((place) => {
    const { pos } = passClosingLine(text, place, longest);
    return isBlank(text.slice(pos));
  });
  check(whole, say('the end is lost'));
}

/** Where the text may continue after this part: its last line is either from the text or an added closing line. */
function continuations(text: string, part: string, from: Place, longest: number): Place[] {
  let { pos, fence } = passClosingLine(text, from, longest);
  let body = part;
  if (fence !== undefined) {
    const opening = `${fence.before}${fence.marker}${fence.language}\n`;
    if (!part.startsWith(opening)) return [];
    body = part.slice(opening.length);
    if (text[pos] === '\n') pos++;
  } else {
    pos += blanksAt(text, pos) - blanksAt(body, 0);
  }
  const found: Place[] = [];
  if (text.startsWith(body, pos)) found.push({ pos: pos + body.length, fence: undefined });

  const lastBreak = part.lastIndexOf('\n');
  fence = read(part.slice(0, Math.max(0, lastBreak)), longest);
  if (fence !== undefined && part.slice(lastBreak + 1) === fence.before + fence.marker) {
    body = body.slice(0, Math.max(0, body.lastIndexOf('\n')));
    if (text.startsWith(body, pos)) found.push({ pos: pos + body.length, fence });
  }
  return found.filter((place) => !cutsPair(text, place.pos));
}

function check(holds: boolean, otherwise: () => string): asserts holds {
  if (!holds) throw new Error(otherwise());
}

/** If a part was closed just before the text's own closing line, that line counts as the closing one. */
function passClosingLine(text: string, { pos, fence }: Place, longest: number): Place {
  if (fence === undefined || text[pos] !== '\n') return { pos, fence };
  const line = text.slice(pos + 1).split('\n', 1)[0] ?? '';
  const atEnd = isBlank(text.slice(pos + 1 + line.length));
  const visible = atEnd ? line.replace(/[\s\p{Cc}\u200b\u2060]+$/u, '') : line;
  if (!closes(visible, fence, longest)) return { pos, fence };
  return { pos: pos + 1 + visible.length, fence: undefined };
}

function read(text: string, longest: number): Fence | undefined {
  let fence: Fence | undefined;
  for (const line of text.split('\n'))
    if (fence === undefined) fence = opened(line, longest);
    else if (closes(line, fence, longest)) fence = undefined;
  return fence;
}

function opened(line: string, longest: number): Fence | undefined {
  let at = 0;
  let before = '';
  for (;;) {
    const rest = line.slice(at);
    const sign = /^(?:[-*+]|\d{1,9}[.)])(?=[ \t])/.exec(rest)?.[0];
    if (sign !== undefined) before += ' '.repeat(sign.length);
    else if (rest[0] === '>' || rest[0] === ' ' || rest[0] === '\t') before += rest[0];
    else break;
    at += sign?.length ?? 1;
  }
  const marker = runAt(line, at);
  const info = line.slice(at + marker.length);
  if (marker.length < 3 || at + marker.length > longest) return undefined;
  if (marker[0] === '`' && info.includes('`')) return undefined;
  const language = info.trim().split(/\s/)[0] ?? '';
  return { before, marker, language: language.length > longest || language[0] === '~' ? '' : language };
}

function closes(line: string, fence: Fence, longest: number): boolean {
  let at = 0;
  while (line[at] === ' ' || line[at] === '\t' || line[at] === '>') at++;
  const marker = runAt(line, at);
  return (
    marker.startsWith(fence.marker) &&
    at <= fence.before.length + 3 &&
    at + marker.length <= longest &&
    [...line.slice(at + marker.length)].every((letter) => ' \t\r'.includes(letter))
  );
}

function runAt(line: string, at: number): string {
  const sign = line[at];
  if (sign !== '`' && sign !== '~') return '';
  let end = at;
  while (line[end] === sign) end++;
  return line.slice(at, end);
}

function blanksAt(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charAt(at))) at++;
  return at - from;
}

function isBlank(text: string): boolean {
  return /^[\s\p{Cc}\u200b\u2060]*$/u.test(text);
}

function cutsPair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
}
