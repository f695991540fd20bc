// Edits a JSON text in place: every byte outside the added or removed part stays unchanged.

import type { JsonArray, JsonNode, JsonObject } from './json-tree.ts';

/** Adds a value at the end, formatted like the rest of the file. */
export function append(text: string, array: JsonArray, value: unknown): string {
  return insert(text, array, (layout) => written(value, layout));
}

export function addMember(text: string, object: JsonObject, key: string, value: unknown): string {
  return insert(
    text,
    object,
    (layout) => JSON.stringify(key) + layout.colon + written(value, layout),
  );
}

/** Removes one child, with the comma and the space between it and its neighbour. */
export function removeChild(text: string, parent: JsonArray | JsonObject, index: number): string {
  const child = parent.children[index];
  if (child === undefined) return text;
  const before = parent.children[index - 1];
  const after = parent.children[index + 1];
  if (before !== undefined) return cut(text, before.end, child.end);
  if (after !== undefined) return cut(text, child.start, after.start);
  return cut(text, parent.start + 1, parent.end - 1);
}

export function replaceNode(text: string, node: JsonNode, value: unknown): string {
  return cut(text, node.start, node.end, JSON.stringify(value));
}

interface Layout {
  /** White space before the new child and, in an empty parent, after it. */
  readonly before: string;
  readonly behind: string;
  /** The indentation of the child's line; undefined if everything is on one line. */
  readonly indent: string | undefined;
  readonly unit: string;
  readonly newline: string;
  readonly colon: ':' | ': ';
}

function insert(
  text: string,
  parent: JsonArray | JsonObject,
  write: (layout: Layout) => string,
): string {
  const last = parent.children.at(-1);
  if (last !== undefined) {
    const layout = layoutAfter(text, last.start);
    return cut(text, last.end, last.end, `,${layout.before}${write(layout)}`);
  }
  const layout = layoutInside(text, parent.start);
  return cut(text, parent.start + 1, parent.end - 1, layout.before + write(layout) + layout.behind);
}

/** The new child is formatted like the last one. */
function layoutAfter(text: string, lastStart: number): Layout {
  const head = text.slice(0, lastStart);
  const gap = head.slice(head.trimEnd().length);
  const style = styleOf(text);
  if (!gap.includes('\n'))
    return {
      ...style,
      before: gap,
      behind: '',
      indent: undefined,
      colon: gap === '' ? ':' : ': ',
    };
  const indent = gap.slice(gap.lastIndexOf('\n') + 1);
  return { ...style, before: style.newline + indent, behind: '', indent, colon: ': ' };
}

/** A file of one line stays one line, except `{}`, which does not show the user's preferred format. */
function layoutInside(text: string, parentStart: number): Layout {
  const style = styleOf(text);
  if (!text.trim().includes('\n') && !/^\s*\{\s*\}\s*$/.test(text))
    return { ...style, before: '', behind: '', indent: undefined, colon: ':' };
  const line = text.slice(text.lastIndexOf('\n', parentStart - 1) + 1, parentStart);
  const [outer = ''] = line.match(/^[ \t]*/) ?? [];
  const indent = outer + style.unit;
  const { newline } = style;
  return { ...style, before: newline + indent, behind: newline + outer, indent, colon: ': ' };
}

function styleOf(text: string): Pick<Layout, 'unit' | 'newline'> {
  const [, unit = '  '] = text.match(/^\s*\{[^\S\n]*\n(?:[^\S\n]*\n)*([ \t]+)"/) ?? [];
  return { unit, newline: text.match(/\r?\n/)?.[0] ?? '\n' };
}

function written(value: unknown, { indent, unit, newline }: Layout): string {
  if (indent === undefined) return JSON.stringify(value);
  return JSON.stringify(value, null, unit).replaceAll('\n', newline + indent);
}

function cut(text: string, start: number, end: number, instead = ''): string {
  return text.slice(0, start) + instead + text.slice(end);
}
