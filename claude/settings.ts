// Adds our hooks to Claude Code's settings.json, after all other hooks, and removes them again.
// It edits the text: everything that is not ours stays byte for byte.

import { ThreadmuxError } from '../core/errors.ts';
import { askCommand, dropCommand, type InstalledPaths, type IsMine, isOurs } from './commands.ts';
import { addMember, append, removeChild } from './json-edit.ts';
import {
  type JsonArray,
  type JsonMember,
  type JsonNode,
  type JsonObject,
  memberOf,
  readJsonTree,
  stringOf,
} from './json-tree.ts';
import { addStatusline, hasMine, innerOf, removeStatusline, statuslineOf } from './statusline.ts';

interface Hook {
  readonly type: 'command';
  readonly command: string;
  readonly timeout: number;
}

interface Group {
  readonly matcher?: string;
  readonly hooks: readonly Hook[];
}

export interface HookSettings {
  readonly hooks: Readonly<Record<string, readonly Group[]>>;
}

/** `drop` takes milliseconds. `ask` waits up to half a day for an answer and ends by itself before this timeout. */
const DROP_SECONDS = 10;
const ANSWER_SECONDS = 43_200 + 60;

/** Our hooks as separate settings for `claude --settings`. The commands are the same, so Claude Code runs each only once. */
export function hookSettings(paths: InstalledPaths): HookSettings {
  const drop: Group = {
    hooks: [{ type: 'command', command: dropCommand(paths), timeout: DROP_SECONDS }],
  };
  const ask: Hook = { type: 'command', command: askCommand(paths), timeout: ANSWER_SECONDS };
  return {
    hooks: {
      UserPromptSubmit: [drop],
      Stop: [drop],
      StopFailure: [drop],
      Notification: [drop],
      SessionStart: [drop],
      SessionEnd: [drop],
      PreToolUse: [{ matcher: 'AskUserQuestion|ExitPlanMode', ...drop }],
      PermissionRequest: [{ hooks: [ask] }],
    },
  };
}

/** `lent` is the status line command of another settings file, which this file would override. */
export function addThreadmux(text: string, paths: InstalledPaths, lent?: string): string {
  const wanted = hookSettings(paths).hooks;
  const source = text.trim() === '' ? '{}\n' : text;
  checkShape(rootOf(source), Object.keys(wanted));
  const { isMine = isOurs } = paths;
  const isDone = hasExactly(rootOf(source), wanted, isMine);
  const withHooks = isDone ? source : addHooks(source, wanted, isMine);
  return addStatusline(withHooks, rootOf(withHooks), paths, lent);
}

/** `before` is the file before the install, if known: lists and objects that were empty then stay, empty. */
export function removeThreadmux(text: string, before?: string, isMine: IsMine = isOurs): string {
  if (!text.includes('threadmux')) return text;
  const was = before === undefined ? undefined : treeOf(before);
  const withoutHooks = removeHooks(text, was, isMine);
  return removeStatusline(withoutHooks, rootOf(withoutHooks), isMine);
}

/** The user's own status line command in this file, even if ours wraps it. */
export function ownStatusline(text: string): string | undefined {
  const command = statuslineOf(treeOf(text));
  return command === undefined ? undefined : innerOf(command, isOurs)?.command;
}

/** False if the status line has a form that we do not change. */
export function showsStatusline(text: string, isMine: IsMine = isOurs): boolean {
  return hasMine(statuslineOf(treeOf(text)) ?? '', isMine);
}

function treeOf(text: string): JsonNode | undefined {
  const reading = readJsonTree(text);
  return reading.kind === 'tree' ? reading.root : undefined;
}

function rootOf(text: string): JsonObject {
  const reading = readJsonTree(text);
  if (reading.kind === 'invalid') throw refused(`it is not valid JSON: ${reading.why}`);
  if (reading.root.kind !== 'object') throw refused('it is not a JSON object');
  return reading.root;
}

/** Claude Code would not read a file with another structure, and we would not know where to add our hooks. */
function checkShape(root: JsonObject, events: readonly string[]): void {
  const hooks = memberOf(root, 'hooks')?.value;
  if (hooks !== undefined && hooks.kind !== 'object') throw refused('"hooks" is not an object');
  for (const event of events) {
    const groups = memberOf(hooks, event)?.value;
    if (groups === undefined) continue;
    const isList =
      groups.kind === 'array' &&
      groups.children.every((group) => memberOf(group, 'hooks')?.value.kind === 'array');
    if (!isList) throw refused(`"hooks.${event}" is not a list of objects with "hooks"`);
  }
}

function refused(why: string): ThreadmuxError {
  return new ThreadmuxError('home_unsafe', why, {
    hint: 'Nothing was changed. Correct the file, then run this again.',
  });
}

interface Found {
  readonly event: string;
  readonly groups: JsonArray;
  readonly group: JsonObject;
  readonly list: JsonArray;
  readonly index: number;
}

function* ourHooks(root: JsonNode, isMine: IsMine): Generator<Found> {
  const hooks = memberOf(root, 'hooks')?.value;
  if (hooks?.kind !== 'object') return;
  for (const { key: event, value: groups } of hooks.children) {
    if (groups.kind !== 'array') continue;
    for (const group of groups.children) {
      const list = memberOf(group, 'hooks')?.value;
      if (group.kind !== 'object' || list?.kind !== 'array') continue;
      for (const [index, hook] of list.children.entries())
        if (isMine(stringOf(memberOf(hook, 'command')?.value) ?? ''))
          yield { event, groups, group, list, index };
    }
  }
}

function findOurs(root: JsonNode, isMine: IsMine): Found | undefined {
  for (const found of ourHooks(root, isMine)) return found;
  return undefined;
}

/** Compares only the content of our entries: the user may have moved or reformatted them. */
function hasExactly(root: JsonObject, wanted: HookSettings['hooks'], isMine: IsMine): boolean {
  const has = [...ourHooks(root, isMine)].map(({ event, group, list, index }) =>
    JSON.stringify([event, plain(memberOf(group, 'matcher')?.value), plain(list.children[index])]),
  );
  const wants = Object.entries(wanted).flatMap(([event, groups]) =>
    groups.map(({ matcher, hooks }) => JSON.stringify([event, matcher, sorted(hooks[0])])),
  );
  return has.length === wants.length && wants.every((one) => has.includes(one));
}

function plain(node: JsonNode | undefined): unknown {
  if (node === undefined) return undefined;
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'array') return node.children.map(plain);
  return sorted(Object.fromEntries(node.children.map(({ key, value }) => [key, plain(value)])));
}

function sorted(value: object | undefined): object {
  return Object.fromEntries(Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function addHooks(text: string, wanted: HookSettings['hooks'], isMine: IsMine): string {
  let result = removeHooks(text, undefined, isMine);
  for (const [event, groups] of Object.entries(wanted)) {
    const root = rootOf(result);
    const hooks = memberOf(root, 'hooks')?.value;
    const list = memberOf(hooks, event)?.value;
    if (list?.kind === 'array') result = append(result, list, groups[0]);
    else if (hooks?.kind === 'object') result = addMember(result, hooks, event, groups);
    else result = addMember(result, root, 'hooks', { [event]: groups });
  }
  return result;
}

/** Removes one hook at a time and parses again, because every cut moves the positions. */
function removeHooks(text: string, was: JsonNode | undefined, isMine: IsMine): string {
  const root = treeOf(text);
  const found = root && findOurs(root, isMine);
  if (root === undefined || found === undefined) return text;
  const { event, groups, group, list, index } = found;
  const hooks = memberOf(root, 'hooks') as JsonMember;
  const had = memberOf(was, 'hooks')?.value;
  const cutOne = (): string => {
    if (list.children.length > 1) return removeChild(text, list, index);
    if (groups.children.length > 1 || isEmpty(memberOf(had, event)?.value))
      return removeChild(text, groups, groups.children.indexOf(group));
    const events = hooks.value as JsonObject;
    if (events.children.length > 1 || isEmpty(had))
      return removeChild(
        text,
        events,
        events.children.findIndex(({ value }) => value === groups),
      );
    return removeChild(text, root as JsonObject, (root as JsonObject).children.indexOf(hooks));
  };
  return removeHooks(cutOne(), was, isMine);
}

function isEmpty(node: JsonNode | undefined): boolean {
  return node !== undefined && node.kind !== 'scalar' && node.children.length === 0;
}
