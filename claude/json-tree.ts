// Parses JSON into a tree with the position of every value. Strict: we must not edit a file that we cannot read with certainty.

import { MOST_LEVELS, tooDeep } from '../core/json.ts';

export type JsonNode = JsonObject | JsonArray | JsonScalar;

interface Span {
  readonly start: number;
  readonly end: number;
}

export interface JsonMember extends Span {
  readonly key: string;
  readonly value: JsonNode;
}

export interface JsonObject extends Span {
  readonly kind: 'object';
  readonly children: readonly JsonMember[];
}

export interface JsonArray extends Span {
  readonly kind: 'array';
  readonly children: readonly JsonNode[];
}

export interface JsonScalar extends Span {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
}

export type JsonReading =
  | { readonly kind: 'tree'; readonly root: JsonNode }
  | { readonly kind: 'invalid'; readonly why: string };

export function readJsonTree(text: string): JsonReading {
  const scanner: Scanner = { text, at: 0, depth: 0 };
  try {
    const root = readValue(scanner);
    skipSpace(scanner);
    if (scanner.at < text.length) throw unexpected(scanner, 'the end of the file');
    return { kind: 'tree', root };
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'invalid', why: error.message };
    throw error;
  }
}

/** The member of that name; the last one if there are several, like JSON.parse. */
export function memberOf(node: JsonNode | undefined, key: string): JsonMember | undefined {
  return node?.kind === 'object' ? node.children.findLast((one) => one.key === key) : undefined;
}

export function stringOf(node: JsonNode | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

interface Scanner {
  readonly text: string;
  at: number;
  depth: number;
}

const SPACE = /[ \t\r\n]*/y;
const SCALAR =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings
  /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\u0000-\u001f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

function readValue(scanner: Scanner): JsonNode {
  skipSpace(scanner);
  const start = scanner.at;
  const { text } = scanner;
  if (text[start] === '{') {
    const children = readChildren(scanner, '}', readMember);
    return { kind: 'object', start, end: scanner.at, children };
  }
  if (text[start] === '[') {
    const children = readChildren(scanner, ']', readValue);
    return { kind: 'array', start, end: scanner.at, children };
  }
  const value = readScalar(scanner, 'a value');
  return { kind: 'scalar', start, end: scanner.at, value };
}

function readChildren<T>(scanner: Scanner, closing: string, read: (scanner: Scanner) => T): T[] {
  const children: T[] = [];
  if (++scanner.depth > MOST_LEVELS) throw tooDeep(MOST_LEVELS);
  scanner.at++;
  skipSpace(scanner);
  const isEnd = () => take(scanner, closing) && scanner.depth-- > 0;
  if (isEnd()) return children;
  for (;;) {
    children.push(read(scanner));
    skipSpace(scanner);
    if (isEnd()) return children;
    if (!take(scanner, ',')) throw unexpected(scanner, `"," or "${closing}"`);
  }
}

function readMember(scanner: Scanner): JsonMember {
  skipSpace(scanner);
  const start = scanner.at;
  if (scanner.text[start] !== '"') throw unexpected(scanner, 'a name in double quotes');
  const key = String(readScalar(scanner, 'a name in double quotes'));
  skipSpace(scanner);
  if (!take(scanner, ':')) throw unexpected(scanner, '":"');
  const value = readValue(scanner);
  return { start, end: value.end, key, value };
}

function readScalar(scanner: Scanner, expected: string): JsonScalar['value'] {
  SCALAR.lastIndex = scanner.at;
  const [raw] = SCALAR.exec(scanner.text) ?? [];
  if (raw === undefined) throw unexpected(scanner, expected);
  scanner.at += raw.length;
  return JSON.parse(raw);
}

function take(scanner: Scanner, mark: string): boolean {
  if (scanner.text[scanner.at] !== mark) return false;
  scanner.at++;
  return true;
}

function skipSpace(scanner: Scanner): void {
  SPACE.lastIndex = scanner.at;
  SPACE.exec(scanner.text);
  scanner.at = SPACE.lastIndex;
}

function unexpected({ text, at }: Scanner, expected: string): SyntaxError {
  const line = text.slice(0, at).split('\n').length;
  if (/^\/[/*]/.test(text.slice(at)))
    return new SyntaxError(`line ${line} contains a comment, which JSON does not allow`);
  const found = at < text.length ? JSON.stringify(text[at]) : 'the end of the file';
  return new SyntaxError(`line ${line} has ${found} where ${expected} should be`);
}
