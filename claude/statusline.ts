// The status line in Claude Code's settings: the user's command is not replaced but wrapped, so that they
// see what they saw, and we hear what it is told.

import {
  type InstalledPaths,
  isOurs,
  statuslineCommand,
  type Wrapped,
  wrappedIn,
} from './commands.ts';
import { addMember, removeChild, replaceNode } from './json-edit.ts';
import { type JsonNode, type JsonObject, memberOf, stringOf } from './json-tree.ts';

export function addStatusline(
  text: string,
  root: JsonObject,
  paths: InstalledPaths,
  lent: string | undefined,
): string {
  const borrowed = lent === undefined ? undefined : { command: lent, borrowed: true };
  const line = memberOf(root, 'statusLine')?.value;
  if (line === undefined)
    return addMember(text, root, 'statusLine', {
      type: 'command',
      command: statuslineCommand(paths, borrowed),
    });
  const node = memberOf(line, 'command')?.value;
  const command = statuslineOf(root);
  if (node === undefined || command === undefined) return text; // a form we do not know is left alone
  const wanted = statuslineCommand(paths, innerOf(command) ?? borrowed);
  return wanted === command ? text : replaceNode(text, node, wanted);
}

export function removeStatusline(text: string, root: JsonObject): string {
  const command = statuslineOf(root);
  if (command === undefined || !isOurs(command)) return text;
  const line = root.children.findLastIndex(({ key }) => key === 'statusLine');
  const node = memberOf(root.children[line]?.value, 'command')?.value;
  const inner = innerOf(command);
  return inner === undefined || node === undefined
    ? removeChild(text, root, line)
    : replaceNode(text, node, inner.command);
}

export function statuslineOf(root: JsonNode | undefined): string | undefined {
  const line = memberOf(root, 'statusLine')?.value;
  const type = memberOf(line, 'type')?.value;
  return stringOf(type) === 'command' ? stringOf(memberOf(line, 'command')?.value) : undefined;
}

/** What there is to give back: the user's own command of this file. */
export function innerOf(command: string): Wrapped | undefined {
  const wrapped = isOurs(command) ? wrappedIn(command) : { command, borrowed: false };
  return wrapped?.borrowed ? undefined : wrapped;
}
