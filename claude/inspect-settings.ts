// Finds our entries in Claude Code's settings.json, for diagnosis. It only reads.

import { type IsMine, isOurs, readCommand } from './commands.ts';
import { type JsonNode, memberOf, readJsonTree, stringOf } from './json-tree.ts';
import { hookSettings } from './settings.ts';
import { hasMine, statuslineOf } from './statusline.ts';

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
      readonly statusline: 'ours' | 'other' | 'none';
    };

export function inspectSettings(text: string, isMine: IsMine = isOurs): SettingsLook {
  const source = text.replace(/^\uFEFF/, '');
  const reading = readJsonTree(source.trim() === '' ? '{}' : source);
  if (reading.kind === 'invalid') return { kind: 'invalid', why: reading.why };
  const { root } = reading;
  if (root.kind !== 'object') return { kind: 'invalid', why: 'it is not a JSON object' };
  const ours = ourCommands(root, isMine);
  const wanted = Object.keys(hookSettings({ node: '', dist: '' }).hooks);
  const events = wanted.filter((event) => ours.some((one) => one.event === event));
  const line = statuslineOf(root);
  const isLineOurs = line !== undefined && hasMine(line, isMine);
  const commands = ours
    .map(({ command }) => command)
    .concat(isLineOurs && isMine(line) ? line : []);
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

function ourCommands(
  root: JsonNode,
  isMine: IsMine,
): readonly { event: string; command: string }[] {
  const hooks = memberOf(root, 'hooks')?.value;
  if (hooks?.kind !== 'object') return [];
  return hooks.children.flatMap(({ key: event, value: groups }) =>
    childrenOf(groups)
      .flatMap((group) => childrenOf(memberOf(group, 'hooks')?.value))
      .map((hook) => stringOf(memberOf(hook, 'command')?.value) ?? '')
      .filter(isMine)
      .map((command) => ({ event, command })),
  );
}

function childrenOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === 'array' ? node.children : [];
}

function isTrue(node: JsonNode | undefined): boolean {
  return node?.kind === 'scalar' && node.value === true;
}
