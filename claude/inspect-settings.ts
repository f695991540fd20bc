// What Claude Code's settings.json has of ours, for finding faults. It only reads.

import { isOurs } from './commands.ts';
import { type JsonNode, memberOf, readJsonTree, stringOf } from './json-tree.ts';
import { hookSettings } from './settings.ts';
import { statuslineOf } from './statusline.ts';

export type SettingsLook =
  | { readonly kind: 'invalid'; readonly why: string }
  | {
      readonly kind: 'settings';
      /** Events whose hook of ours is there, and those that should have one. */
      readonly events: readonly string[];
      readonly lacking: readonly string[];
      /** The files that our commands name. */
      readonly files: readonly string[];
      /** The homes that our commands name; undefined stands for the usual one. */
      readonly homes: readonly (string | undefined)[];
      readonly disabled: boolean;
      readonly statusline: 'ours' | 'other' | 'none';
    };

export function inspectSettings(text: string): SettingsLook {
  const source = text.replace(/^\uFEFF/, '');
  const reading = readJsonTree(source.trim() === '' ? '{}' : source);
  if (reading.kind === 'invalid') return { kind: 'invalid', why: reading.why };
  const { root } = reading;
  if (root.kind !== 'object') return { kind: 'invalid', why: 'it does not hold an object' };
  const ours = ourCommands(root);
  const wanted = Object.keys(hookSettings({ node: '', dist: '' }).hooks);
  const events = wanted.filter((event) => ours.some((one) => one.event === event));
  const line = statuslineOf(root);
  const isLineOurs = line !== undefined && isOurs(line);
  const commands = [...ours.map(({ command }) => command), ...(isLineOurs ? [line] : [])];
  const read = commands.map(readCommand);
  return {
    kind: 'settings',
    events,
    lacking: wanted.filter((event) => !events.includes(event)),
    files: [...new Set(read.flatMap(({ files }) => files))],
    homes: [...new Set(read.map(({ home }) => home))],
    disabled: isTrue(memberOf(root, 'disableAllHooks')?.value),
    statusline: isLineOurs ? 'ours' : memberOf(root, 'statusLine') === undefined ? 'none' : 'other',
  };
}

function ourCommands(root: JsonNode): readonly { event: string; command: string }[] {
  const hooks = memberOf(root, 'hooks')?.value;
  if (hooks?.kind !== 'object') return [];
  return hooks.children.flatMap(({ key: event, value: groups }) =>
    childrenOf(groups)
      .flatMap((group) => childrenOf(memberOf(group, 'hooks')?.value))
      .map((hook) => stringOf(memberOf(hook, 'command')?.value) ?? '')
      .filter(isOurs)
      .map((command) => ({ event, command })),
  );
}

function childrenOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === 'array' ? node.children : [];
}

function isTrue(node: JsonNode | undefined): boolean {
  return node?.kind === 'scalar' && node.value === true;
}

/** The words of a command that we wrote, up to the user's own command in it. */
function readCommand(command: string): { files: readonly string[]; home: string | undefined } {
  const words = (command.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? []).map((word) =>
    word.replace(
      /'([^']*)'|\\(.)/g,
      (_, plain?: string, escaped?: string) => plain ?? escaped ?? '',
    ),
  );
  const end = words.findIndex((word) => word === '--' || word === '#');
  const own = end === -1 ? words : words.slice(0, end);
  const home = own.find((word) => word.startsWith('THREADMUX_HOME='));
  return {
    files: own.filter((word) => word.startsWith('/')),
    home: home?.slice('THREADMUX_HOME='.length),
  };
}
