// Finds our entries in Claude Code's settings.json, for diagnosis. It only reads.

import { type IsMine, isOurs, readCommand } from './hook-commands.ts';
import { memberOf, readJsonTree } from './json-edit.ts';
import { hookSettings, ourHooks } from './settings.ts';
import { hasMine, statuslineOf } from './statusline-setting.ts';

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
  if (root.type !== 'object') return { kind: 'invalid', why: 'it is not a JSON object' };
  const ours = ourHooks(root, isMine);
  const wanted = Object.keys(hookSettings({ node: '', dist: '' }).hooks);
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
    statusline: isLineOurs ? 'ours' : memberOf(root, 'statusLine') === undefined ? 'none' : 'other',
  };
}
