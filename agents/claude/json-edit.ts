// Reads a JSON text with the position of every value, and edits the text: every byte outside the added or removed part stays
// unchanged. Strict, because we must not edit what we cannot read for certain.

import { type Node, type ParseError, parseTree } from 'jsonc-parser';
import { MOST_LEVELS, parseJson, tooDeep } from '../../core/json.ts';

export type JsonNode = Node;

type JsonReading =
  | { readonly kind: 'tree'; readonly root: JsonNode }
  | { readonly kind: 'invalid'; readonly why: string };

export function readJsonTree(text: string): JsonReading {
  const errors: ParseError[] = [];
  let root: JsonNode | undefined;
  try {
    root = parseTree(text, errors, { disallowComments: true });
    if (errors.length === 0) parseJson(text);
  } catch {
    // The one throws when the stack overflows, the other for fewer levels.
    return { kind: 'invalid', why: tooDeep(MOST_LEVELS).message };
  }
  if (root !== undefined && errors.length === 0) return { kind: 'tree', root };
  const at = errors[0]?.offset ?? 0;
  const line = text.slice(0, at).split('\n').length;
  if (/^\/[/*]/.test(text.slice(at)))
    return { kind: 'invalid', why: `line ${line} contains a comment, which JSON does not allow` };
  const found = at < text.length ? JSON.stringify(text[at]) : 'the end of the file';
  return { kind: 'invalid', why: `line ${line} has ${found} where JSON needs something else` };
}

/** Of an object, the value with that name; the last one if there are several, as in JSON.parse. */
export function memberOf(node: JsonNode | undefined, name: string): JsonNode | undefined {
  if (node?.type !== 'object') return undefined;
  return node.children?.findLast(({ children }) => children?.[0]?.value === name)?.children?.[1];
}

export function stringOf(node: JsonNode | undefined): string | undefined {
  return node?.type === 'string' ? node.value : undefined;
}

export function itemsOf(node: JsonNode | undefined): readonly JsonNode[] {
  return (node?.type === 'array' && node.children) || [];
}

/** Adds an item at the end of a list, in the style of the file. */
export function appendNode(text: string, array: JsonNode, value: unknown): string {
  return insert(text, array, (style) => written(value, style));
}

export function addMember(text: string, object: JsonNode, name: string, value: unknown): string {
  return insert(text, object, (style) => `${JSON.stringify(name)}:${style.space}${written(value, style)}`);
}

/** Removes an item of a list or a member of an object, with the comma and the space that separate it from its neighbour. */
export function removeChild(text: string, child: JsonNode): string {
  const parent = child.parent as JsonNode;
  const siblings = parent.children ?? [];
  const index = siblings.indexOf(child);
  const before = siblings[index - 1];
  const after = siblings[index + 1];
  if (before !== undefined) return replaced(text, endOf(before), endOf(child));
  if (after !== undefined) return replaced(text, child.offset, after.offset);
  return replaced(text, parent.offset + 1, endOf(parent) - 1);
}

export function replaceNode(text: string, node: JsonNode, value: unknown): string {
  return replaced(text, node.offset, endOf(node), JSON.stringify(value));
}

interface Style {
  /** Between two lines of the new text; undefined if it goes on one line. */
  readonly newline: string | undefined;
  readonly unit: string;
  /** Behind a colon. */
  readonly space: '' | ' ';
}

function insert(text: string, parent: JsonNode, write: (style: Style) => string): string {
  const [, unit = '  '] = text.match(/^\s*\{[^\S\n]*\n(?:[^\S\n]*\n)*([ \t]+)"/) ?? [];
  const [newline = '\n'] = text.match(/\r?\n/) ?? [];
  const last = parent.children?.at(-1);
  if (last !== undefined) {
    const head = text.slice(0, last.offset);
    const gap = head.slice(head.trimEnd().length);
    const isOwnLine = gap.includes('\n');
    const before = isOwnLine ? newline + gap.slice(gap.lastIndexOf('\n') + 1) : gap;
    const style = { unit, newline: isOwnLine ? before : undefined, space: gap === '' ? '' : ' ' } as const;
    return replaced(text, endOf(last), endOf(last), `,${before}${write(style)}`);
  }
  const [start, end] = [parent.offset + 1, endOf(parent) - 1];
  // A file that is one line stays one; `{}` alone tells nothing about the style of its owner.
  if (!text.trim().includes('\n') && !/^\s*\{\s*\}\s*$/.test(text))
    return replaced(text, start, end, write({ unit, newline: undefined, space: '' }));
  const [outer = ''] = text.slice(text.lastIndexOf('\n', start - 2) + 1).match(/^[ \t]*/) ?? [];
  const inner = newline + outer + unit;
  const added = inner + write({ unit, newline: inner, space: ' ' }) + newline + outer;
  return replaced(text, start, end, added);
}

function written(value: unknown, { newline, unit }: Style): string {
  if (newline === undefined) return JSON.stringify(value);
  return JSON.stringify(value, null, unit).replaceAll('\n', newline);
}

function replaced(text: string, start: number, end: number, instead = ''): string {
  return text.slice(0, start) + instead + text.slice(end);
}

function endOf({ offset, length }: JsonNode): number {
  return offset + length;
}
