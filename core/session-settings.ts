// The settings of a session: those of its thread, of its declaration, of its project and of the whole configuration. Pure.

import * as z from 'zod';
import { AGENT_NAME, AGENT_NAMES } from './agent-names.ts';
import { ThreadmuxError } from './errors.ts';
import { nearestName } from './nearest-name.ts';
import { ownValue } from './own-value.ts';
import { untrustedCode } from './untrusted-text.ts';

/** As Claude Code calls them. "default" asks for every permission; newer versions call it "manual". */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions'] as const;

export const PROGRESS_LEVELS = ['quiet', 'normal', 'verbose'] as const;

/** A model name is an argument of the agent: it must not look like an option. */
export const isModelName = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,127}$/.test(text);

const mustBe = (names: readonly string[]) => `must be one of ${names.map((name) => `"${name}"`).join(', ')}`;

/** Records may name an agent of another version; the configuration is checked by `unknownAgent`. */
export const agentName = z.string(mustBe(AGENT_NAMES)).regex(AGENT_NAME, mustBe(AGENT_NAMES));

export const settingsShape = {
  agent: agentName.optional().describe(`the agent: ${AGENT_NAMES.map((name) => `"${name}"`).join(', ')}`),
  model: z
    .string('must be the name of a model, such as "opus"')
    .refine(isModelName, 'must be the name of a model, such as "opus"')
    .optional()
    .describe('the model: "opus", "sonnet", "haiku" or a full name'),
  permissionMode: z
    .enum(PERMISSION_MODES, mustBe(PERMISSION_MODES))
    .optional()
    .describe(`the permission mode: ${PERMISSION_MODES.map((mode) => `"${mode}"`).join(', ')}`),
  worktree: z.boolean('must be true or false').optional().describe('start in a new git worktree'),
  args: z
    .array(z.string().min(1), 'must be a list of words, such as ["--verbose"]')
    .optional()
    .describe('more arguments for the agent: ["--add-dir", "~/lib"]'),
  progress: z
    .enum(PROGRESS_LEVELS, mustBe(PROGRESS_LEVELS))
    .optional()
    .describe('how much you see while it works: "quiet", "normal" or "verbose"'),
};

export const settingsSchema = z.strictObject(settingsShape, 'must be an object, such as {"model": "opus"}');
export type SessionSettings = Readonly<z.output<typeof settingsSchema>>;

/** The first layer that has a setting wins: give the most specific one first. */
export function effectiveSettings(...layers: readonly (SessionSettings | undefined)[]): SessionSettings {
  const keys = Object.keys(settingsShape) as (keyof SessionSettings)[];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = layers.find((layer) => layer?.[key] !== undefined)?.[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

// The settings that a person writes, as in `--model opus` or `!set mode plan`. A mistake gets one sentence. Pure.

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
