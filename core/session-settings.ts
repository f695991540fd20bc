// The settings of a session: those of its thread, of its declaration, of its project and of the whole configuration. Pure.

import * as z from 'zod';
import { AGENT_NAME, AGENT_NAMES } from './agent-names.ts';

/** As Claude Code calls them. "default" asks for every permission; newer versions call it "manual". */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'plan', 'auto', 'dontAsk', 'bypassPermissions'] as const;

export const PROGRESS_LEVELS = ['quiet', 'normal', 'verbose'] as const;

/** A model name is an argument of the agent: it must not look like an option. */
export const isModelName = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,127}$/.test(text);

const oneOf = (names: readonly string[]) => `must be one of ${names.map((name) => `"${name}"`).join(', ')}`;

/** Records may name an agent of another version; the configuration is checked by `unknownAgent`. */
export const agentName = z.string(oneOf(AGENT_NAMES)).regex(AGENT_NAME, oneOf(AGENT_NAMES));

export const settingsShape = {
  agent: agentName.optional().describe(`the agent: ${AGENT_NAMES.map((name) => `"${name}"`).join(', ')}`),
  model: z
    .string('must be the name of a model, such as "opus"')
    .refine(isModelName, 'must be the name of a model, such as "opus"')
    .optional()
    .describe('the model: "opus", "sonnet", "haiku" or a full name'),
  permissionMode: z
    .enum(PERMISSION_MODES, oneOf(PERMISSION_MODES))
    .optional()
    .describe(`the permission mode: ${PERMISSION_MODES.map((mode) => `"${mode}"`).join(', ')}`),
  worktree: z.boolean('must be true or false').optional().describe('start in a new git worktree'),
  args: z
    .array(z.string().min(1), 'must be a list of words, such as ["--verbose"]')
    .optional()
    .describe('more arguments for the agent: ["--add-dir", "~/lib"]'),
  progress: z
    .enum(PROGRESS_LEVELS, oneOf(PROGRESS_LEVELS))
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
