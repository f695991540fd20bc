// The settings that a person writes, as in `--model opus` or `!set mode plan`. A mistake gets one sentence. Pure.

import { AGENT_NAMES } from './agent-names.ts';
import { ThreadmuxError } from './errors.ts';
import { nearestName } from './nearest-name.ts';
import { ownValue } from './own-value.ts';
import { isModelName, PERMISSION_MODES, PROGRESS_LEVELS, type SessionSettings } from './session-settings.ts';
import { untrustedCode } from './untrusted-text.ts';

/** The names that people use, and the keys of the configuration. */
export const SETTING_KEYS = {
  model: 'model',
  mode: 'permissionMode',
  progress: 'progress',
  agent: 'agent',
} as const satisfies Readonly<Record<string, keyof SessionSettings>>;
export type SettingName = keyof typeof SETTING_KEYS;

/** Claude Code knows more models; these names always mean the newest one. */
export const MODEL_NAMES = ['opus', 'sonnet', 'haiku'] as const;

/** Newer versions of Claude Code call "default" "manual". */
const MODE_WORDS: Readonly<Record<string, string>> = {
  manual: 'default',
  normal: 'default',
  bypass: 'bypassPermissions',
};

/** The setting that `--mode plan` or `!set mode plan` gives. Rejects any other word. `agents`: the names of those that there are. */
export function settingFor(name: SettingName, word: string, agents: readonly string[] = AGENT_NAMES): SessionSettings {
  if (name === 'model') {
    if (isModelName(word)) return { model: word };
    throw wrong(`${untrustedCode(word, 60)} cannot be the name of a model, such as \`opus\`.`);
  }
  const meant = name === 'mode' ? (ownValue(MODE_WORDS, word.toLowerCase()) ?? word) : word;
  const words = { mode: PERMISSION_MODES, progress: PROGRESS_LEVELS, agent: agents }[name];
  const value = words.find((one) => one.toLowerCase() === meant.toLowerCase());
  if (value !== undefined) return { [SETTING_KEYS[name]]: value };
  throw wrong(oneOf(word, name === 'mode' ? 'a mode' : name === 'agent' ? 'an agent' : 'a level', words));
}

/** "`paln` is not a mode: did you mean `plan`?", or all of them. */
export function oneOf(word: string, what: string, names: readonly string[]): string {
  const near = nearestName(word, names);
  const list = names.map((name) => `\`${name}\``).join(', ');
  return `${untrustedCode(word, 60)} is not ${what}: ${near === undefined ? `use ${list}.` : `did you mean \`${near}\`?`}`;
}

function wrong(what: string): ThreadmuxError {
  return new ThreadmuxError('bad_usage', what);
}
