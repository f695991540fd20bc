// Shows what a tool will do: a command, a change of a file, or its unchanged input. If it is too long for a message, its
// beginning and end are shown, and all of it is attached as a file.

import { bold, exactLine, insideFence, neutralise, spelledOut, wordsInPlace } from '../../core/untrusted-text.ts';
import type { FileUpload } from '../../discord/rest.ts';

/** The length of a description in the heading of a prompt. */
export const DESCRIPTION_ROOM = 200;

interface Preview {
  readonly text: string;
  readonly files: readonly FileUpload[];
}

type Input = Readonly<Record<string, unknown>>;

interface Body {
  readonly text: string;
  readonly language: string;
  readonly name: string;
  /** The fields of the input that it shows. */
  readonly fields: readonly string[];
}

export function preview(tool: string, input: Input, room: number): Preview {
  const body = bodyOf(tool, input);
  const isSaidAbove = (key: string, value: unknown) =>
    key === 'description' && typeof value === 'string' && fitsPlain(value, DESCRIPTION_ROOM);
  const shown = new Set(body.fields);
  const rest = Object.entries(input).filter(([key, value]) => !shown.has(key) && !isSaidAbove(key, value));
  if (rest.length === 0) return fenced(body, room);
  // The other fields may matter as much: another host, no sandbox, all occurrences.
  const more = fenced(json('more', Object.fromEntries(rest)), Math.floor(room / 3));
  const main = fenced(body, room - more.text.length - 1);
  return { text: `${main.text}\n${more.text}`, files: [...main.files, ...more.files] };
}

/** Users read the file, too, so nothing in it may be hidden. */
export function upload(name: string, text: string, show = code): FileUpload {
  return { name, data: new TextEncoder().encode(show(text)) };
}

function code(text: string): string {
  return wordsInPlace(neutralise(text));
}

function bodyOf(tool: string, input: Input): Body {
  const { command, file_path: path, old_string: before, new_string: after, content } = input;
  if (typeof command === 'string') return { text: command, language: 'bash', name: 'command.txt', fields: ['command'] };
  const change = { language: 'diff', name: 'change.diff' };
  if (typeof path === 'string' && typeof before === 'string' && typeof after === 'string')
    return {
      ...change,
      text: `${exactLine(path)}\n${marked('-', before)}\n${marked('+', after)}`,
      fields: ['file_path', 'old_string', 'new_string'],
    };
  if (typeof input.diff === 'string')
    return {
      ...change,
      text: typeof path === 'string' ? `${exactLine(path)}\n${input.diff}` : input.diff,
      fields: typeof path === 'string' ? ['file_path', 'diff'] : ['diff'],
    };
  if (typeof path === 'string' && typeof content === 'string')
    return {
      ...change,
      text: `${exactLine(path)}\n${marked('+', content)}`,
      fields: ['file_path', 'content'],
    };
  return { ...json(tool.replace(/\W/g, '').slice(0, 60), input), fields: Object.keys(input) };
}

function json(name: string, value: object): Body {
  const text = jsonText(value);
  return { text, language: 'json', name: `${name || 'input'}.json`, fields: [] };
}

/** With indentation, it can be a hundred times as long. */
const INDENTED_UP_TO = 100_000;

export function jsonText(value: object): string {
  const text = JSON.stringify(value);
  return text.length > INDENTED_UP_TO ? text : JSON.stringify(value, null, 2);
}

function marked(sign: string, text: string): string {
  return `${sign} ${text.replaceAll('\n', `\n${sign} `)}`;
}

/** Blank lines in a row; more of them would push what is above them out of sight. */
const MOST_BLANK = 5;
const BLANK = /^[-+]?[ \t]*$/;

export function withoutGaps(text: string): string {
  const shown: string[] = [];
  let blank: string[] = [];
  const close = () => {
    const sign = blank[0]?.trim() ?? '';
    shown.push(...(blank.length > MOST_BLANK ? [`${sign}⟨${blank.length} blank lines⟩`] : blank));
    blank = [];
  };
  for (const line of text.split('\n')) {
    const isBlank = BLANK.test(line);
    if (!isBlank || line.trim() !== (blank[0] ?? line).trim()) close();
    (isBlank ? blank : shown).push(line);
  }
  close();
  return shown.join('\n');
}

/** Escaping never makes text shorter, so text beyond this length is not processed. */
function fenced({ text: all, language, name }: Body, room: number): Preview {
  const text = withoutGaps(all);
  const whole = text.length > room ? undefined : insideFence(code(text), language);
  if (whole !== undefined && whole.length <= room) return { text: whole, files: [] };
  const third = Math.floor((room - 120 - language.length * 2) / 3);
  const head = fitting([...text.slice(0, 2 * third)], 2 * third);
  const tail = fitting([...text.slice(-third)].reverse(), third).reverse();
  const left = pointsIn(all) - head.length - tail.length;
  const note = `${bold(`… ${left} more characters`)}, all of them in ${escapeCode(name)} …`;
  const shown = (points: readonly string[]) => insideFence(code(points.join('')), language);
  return { text: [shown(head), note, shown(tail)].join('\n'), files: [upload(name, all)] };
}

/** The first lines that fit after escaping. */
function fitting(points: readonly string[], room: number): string[] {
  let used = 0;
  const end = points.findIndex((point) => {
    // Alone, a backtick and a mark look harmless.
    used += /[`\p{M}]/u.test(point) ? spelledOut(point).length : code(point).length;
    return used > room;
  });
  return points.slice(0, end === -1 ? points.length : end);
}

function pointsIn(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

// Quotes untrusted text in our lines: no Markdown, no mentions, nothing invisible, and never longer than `room`.

/** In one line, with nothing hidden. Only the part of a long text that can fit is processed. */
export function visible(text: string, room = Number.POSITIVE_INFINITY): string {
  const part = text.slice(0, neededFor(room));
  const shown = neutralise(part).replace(/\s+/g, ' ').trim();
  return part.length === text.length ? shown : `${shown}…`;
}

/** Removed blanks need some more. */
function neededFor(room: number): number {
  return 4 * room + 200;
}

/** Each character is shown. */
export function escapeText(text: string, room = Number.POSITIVE_INFINITY): string {
  let shown = '';
  for (const point of visible(text, room)) {
    const next = /[\\*_~`|>#[\]<@]/.test(point) ? `\\${point}` : point;
    if (shown.length + next.length >= room) return `${shown}…`;
    shown += next;
  }
  return shown;
}

/** Whether `plain` shows all of it in this space. */
export function fitsPlain(text: string, room: number): boolean {
  return text.length <= neededFor(room) && escapeText(text, room) === escapeText(text);
}

/** Exact: backticks, line breaks and tabs are escaped, because a backtick would end the code and the others would look like spaces. */
export function escapeCode(text: string, room = Number.POSITIVE_INFINITY): string {
  // Escaping never makes text shorter.
  const shown = code(text.slice(0, room)).replace(/[`\n\t]/g, spelledOut);
  return `\`${firstPart(shown, room - 2) || ' '}\``;
}

export function fitsCode(text: string, room: number): boolean {
  return text.length <= room && escapeCode(text).length <= room;
}

/** Never cuts a surrogate pair. */
export function firstPart(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
