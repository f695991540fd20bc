// Adds our hooks to Claude Code's settings.json, after all other hooks, and removes them again.
// It edits the text: everything that is not ours stays byte for byte.

import { isDeepStrictEqual } from 'node:util';
import { getNodeValue } from 'jsonc-parser';
import { ThreadmuxError } from '../../core/errors.ts';
import { HOOKED_BY } from '../../core/session-environment.ts';
import { askCommand, dropCommand, type InstalledPaths, type IsMine, isOurs, readCommand } from './hook-commands.ts';
import {
  addMember,
  appendNode,
  itemsOf,
  type JsonNode,
  memberOf,
  readJsonTree,
  removeChild,
  stringOf,
} from './json-edit.ts';
import { addStatusline, hasMine, innerOf, removeStatusline, statuslineOf } from './statusline-setting.ts';

interface Hook {
  readonly type: 'command';
  readonly command: string;
  readonly timeout: number;
}

interface Group {
  readonly matcher?: string;
  readonly hooks: readonly Hook[];
}

interface HookSettings {
  readonly hooks: Readonly<Record<string, readonly Group[]>>;
}

/** `drop` takes milliseconds. `ask` waits up to half a day for an answer and ends by itself before this timeout. */
const DROP_SECONDS = 10;
const ANSWER_SECONDS = 43_200 + 60;

/** Our hooks as separate settings for `claude --settings`. The commands are the same, so Claude Code runs each only once. */
export function hookSettings(paths: InstalledPaths): HookSettings {
  const drop: Group = { hooks: [{ type: 'command', command: dropCommand(paths), timeout: DROP_SECONDS }] };
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

/**
 * The settings for an agent that we start. The variable tells the hooks of our plugin, which the user may have installed as well, that these
 * report to this home: both would post everything twice.
 */
export function launchSettings(paths: InstalledPaths, home: string): HookSettings & { readonly env: object } {
  return { ...hookSettings(paths), env: { [HOOKED_BY]: home } };
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

function rootOf(text: string): JsonNode {
  const reading = readJsonTree(text);
  if (reading.kind === 'invalid') throw refused(`it is not valid JSON: ${reading.why}`);
  if (reading.root.type !== 'object') throw refused('it is not a JSON object');
  return reading.root;
}

/** Claude Code would not read a file with another structure, and we would not know where to add our hooks. */
function checkShape(root: JsonNode, events: readonly string[]): void {
  const hooks = memberOf(root, 'hooks');
  if (hooks !== undefined && hooks.type !== 'object') throw refused('"hooks" is not an object');
  for (const event of events) {
    const groups = memberOf(hooks, event);
    if (groups === undefined) continue;
    const isList =
      groups.type === 'array' && itemsOf(groups).every((group) => memberOf(group, 'hooks')?.type === 'array');
    if (!isList) throw refused(`"hooks.${event}" is not a list of objects with "hooks"`);
  }
}

function refused(why: string): ThreadmuxError {
  return new ThreadmuxError('home_unsafe', why, {
    hint: 'Nothing was changed. Correct the file, then run this again.',
  });
}

interface OurHook {
  readonly event: string;
  readonly command: string;
  readonly hook: JsonNode;
  readonly group: JsonNode;
}

function ourHooks(root: JsonNode, isMine: IsMine): readonly OurHook[] {
  const hooks = memberOf(root, 'hooks');
  const events = (hooks?.type === 'object' && hooks.children) || [];
  return events.flatMap(({ children: [name, groups] = [] }) =>
    itemsOf(groups).flatMap((group) =>
      itemsOf(memberOf(group, 'hooks')).flatMap((hook) => {
        const command = stringOf(memberOf(hook, 'command')) ?? '';
        return isMine(command) ? [{ event: name?.value, command, hook, group }] : [];
      }),
    ),
  );
}

/** Compares only the content of our entries: the user may have moved or reformatted them. */
function hasExactly(root: JsonNode, wanted: HookSettings['hooks'], isMine: IsMine): boolean {
  const has = ourHooks(root, isMine).map(({ event, group, hook }) => [
    event,
    memberOf(group, 'matcher')?.value,
    { ...getNodeValue(hook) }, // getNodeValue returns an object without a prototype
  ]);
  const wants = Object.entries(wanted).flatMap(([event, groups]) =>
    groups.map(({ matcher, hooks }) => [event, matcher, hooks[0]]),
  );
  return has.length === wants.length && wants.every((one) => has.some((other) => isDeepStrictEqual(one, other)));
}

function addHooks(text: string, wanted: HookSettings['hooks'], isMine: IsMine): string {
  let result = removeHooks(text, undefined, isMine);
  for (const [event, groups] of Object.entries(wanted)) {
    const root = rootOf(result);
    const hooks = memberOf(root, 'hooks');
    const list = memberOf(hooks, event);
    if (list?.type === 'array') result = appendNode(result, list, groups[0]);
    else if (hooks?.type === 'object') result = addMember(result, hooks, event, groups);
    else result = addMember(result, root, 'hooks', { [event]: groups });
  }
  return result;
}

/** Removes one hook at a time and parses again, because every cut moves the positions. */
function removeHooks(text: string, was: JsonNode | undefined, isMine: IsMine): string {
  const root = treeOf(text);
  const [found] = root === undefined ? [] : ourHooks(root, isMine);
  if (found === undefined) return text;
  const had = memberOf(was, 'hooks');
  let child: JsonNode = found.hook;
  const isAlone = () => child.parent?.children?.length === 1;
  if (isAlone()) child = found.group;
  if (isAlone() && !isEmpty(memberOf(had, found.event))) {
    child = child.parent?.parent as JsonNode; // the event
    if (isAlone() && !isEmpty(had)) child = child.parent?.parent as JsonNode; // "hooks"
  }
  return removeHooks(removeChild(text, child), was, isMine);
}

function isEmpty(node: JsonNode | undefined): boolean {
  return node?.children?.length === 0;
}

// Finds our entries in Claude Code's settings.json, for diagnosis. It only reads.

export type SettingsLook =
  | { readonly kind: 'invalid'; readonly why: string }
  | {
      readonly kind: 'settings';
      /** The events that have our hook, and those that should have it but do not. */
      readonly events: readonly string[];
      readonly lacking: readonly string[];
      /** The files that our commands name. */
      readonly files: readonly string[];
      /** The homes that our commands name; undefined for the default home. */
      readonly homes: readonly (string | undefined)[];
      readonly disabled: boolean;
      /** Whether our plugin is turned on or off; undefined if the file does not say. */
      readonly plugin: boolean | undefined;
      readonly statusline: 'ours' | 'other' | 'none';
    };

export function inspectSettings(text: string, isMine: IsMine = isOurs): SettingsLook {
  const source = text.replace(/^\uFEFF/, '');
  const reading = readJsonTree(source.trim() === '' ? '{}' : source);
  if (reading.kind === 'invalid') return { kind: 'invalid', why: reading.why };
  const { root } = reading;
  if (root.type !== 'object') return { kind: 'invalid', why: 'it is not a JSON object' };
  const ours = ourHooks(root, isMine);
  const wanted = Object.keys(hookSettings({ dist: '' }).hooks);
  const events = wanted.filter((event) => ours.some((one) => one.event === event));
  const line = statuslineOf(root);
  const isLineOurs = line !== undefined && hasMine(line, isMine);
  const commands = ours.map(({ command }) => command).concat(isLineOurs && isMine(line) ? line : []);
  const read = commands.map(readCommand);
  return {
    kind: 'settings',
    events,
    lacking: wanted.filter((event) => !events.includes(event)),
    files: [...new Set(read.flatMap(({ files }) => files))],
    homes: [...new Set(read.map(({ home }) => home))],
    disabled: memberOf(root, 'disableAllHooks')?.value === true,
    plugin: pluginIn(root),
    statusline: isLineOurs ? 'ours' : memberOf(root, 'statusLine') === undefined ? 'none' : 'other',
  };
}

function pluginIn(root: JsonNode): boolean | undefined {
  const value: unknown = memberOf(memberOf(root, 'enabledPlugins'), 'threadmux@threadmux')?.value;
  return typeof value === 'boolean' ? value : undefined;
}
