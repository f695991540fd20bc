// The status line in Claude Code's settings: our command wraps the user's command, so that users keep their status line and we
// get its input.

import {
  type InstalledPaths,
  type IsMine,
  isOurs,
  isThreadmux,
  rewrapStatusline,
  statuslineCommand,
  type Wrapped,
  wrappedCommandIn,
} from './hook-commands.ts';
import { addMember, type JsonNode, memberOf, removeChild, replaceNode, stringOf } from './json-edit.ts';

export function addStatusline(text: string, root: JsonNode, paths: InstalledPaths, lent: string | undefined): string {
  const borrowed = lent === undefined ? undefined : { command: lent, borrowed: true };
  const line = memberOf(root, 'statusLine');
  if (line === undefined)
    return addMember(text, root, 'statusLine', { type: 'command', command: statuslineCommand(paths, borrowed) });
  const node = memberOf(line, 'command');
  const command = statuslineOf(root);
  if (node === undefined || command === undefined) return text; // an unknown form stays unchanged
  const isMine = paths.isMine ?? isOurs;
  if (hasMine(command, isMine) && !isMine(command)) return text; // another threadmux already wraps ours
  const wanted = statuslineCommand(paths, innerOf(command, isMine) ?? borrowed);
  return wanted === command ? text : replaceNode(text, node, wanted);
}

export function removeStatusline(text: string, root: JsonNode, isMine: IsMine): string {
  const command = statuslineOf(root);
  if (command === undefined || !hasMine(command, isMine)) return text;
  const line = memberOf(root, 'statusLine') as JsonNode;
  const rest = withoutMine(command, isMine);
  return rest === undefined
    ? removeChild(text, line.parent as JsonNode)
    : replaceNode(text, memberOf(line, 'command') as JsonNode, rest);
}

/** True even if another threadmux was installed later and wraps ours. */
export function hasMine(command: string, isMine: IsMine): boolean {
  return withoutMine(command, isMine) !== command;
}

function withoutMine(command: string, isMine: IsMine): string | undefined {
  if (isMine(command)) {
    const inner = innerOf(command, isMine)?.command;
    return inner === undefined ? undefined : withoutMine(inner, isMine);
  }
  const wrapped = isThreadmux(command) ? wrappedCommandIn(command) : undefined;
  if (wrapped === undefined) return command;
  const rest = withoutMine(wrapped.command, isMine);
  return rest === wrapped.command ? command : rewrapStatusline(command, wrapped.command, rest);
}

export function statuslineOf(root: JsonNode | undefined): string | undefined {
  const line = memberOf(root, 'statusLine');
  return stringOf(memberOf(line, 'type')) === 'command' ? stringOf(memberOf(line, 'command')) : undefined;
}

/** The user's own command of this file, which uninstall restores. */
export function innerOf(command: string, isMine: IsMine): Wrapped | undefined {
  const wrapped = isMine(command) ? wrappedCommandIn(command) : { command, borrowed: false };
  return wrapped?.borrowed ? undefined : wrapped;
}
