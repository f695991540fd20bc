// Application commands: the shape and the sizes of their names, options and choices.

import * as z from 'zod';
import { text, whole } from './check-form.ts';

const SUB_COMMAND = 1;
const SUB_COMMAND_GROUP = 2;

const choice = z.object({
  name: text(1, 100),
  value: z.union([text(0, 100), z.number()]),
  name_localizations: z.record(z.string(), z.string()).nullish(),
});

const optionShape = {
  type: whole(1, 11),
  name: text(1, 32),
  description: text(1, 100),
  name_localizations: z.record(z.string(), z.string()).nullish(),
  description_localizations: z.record(z.string(), z.string()).nullish(),
  required: z.boolean().nullish(),
  autocomplete: z.boolean().nullish(),
  choices: z.array(choice).max(25).nullish(),
  min_value: z.number().nullish(),
  max_value: z.number().nullish(),
  min_length: whole(0, 6000).nullish(),
  max_length: whole(1, 6000).nullish(),
  channel_types: z.array(z.number()).nullish(),
};

export type CommandOption = z.infer<z.ZodObject<typeof optionShape>> & {
  readonly options?: readonly CommandOption[] | null | undefined;
};

const option: z.ZodType<CommandOption> = z.object({
  ...optionShape,
  get options() {
    return z.array(option).max(25).nullish();
  },
});

export const commandSchema = z.object({
  name: text(1, 32),
  type: z.union([z.literal(1), z.literal(2), z.literal(3)]).default(1),
  description: text(0, 100).nullish(),
  options: z.array(option).max(25).nullish(),
  name_localizations: z.record(z.string(), z.string()).nullish(),
  description_localizations: z.record(z.string(), z.string()).nullish(),
  default_member_permissions: z.string().nullish(),
  dm_permission: z.boolean().nullish(),
  contexts: z.array(z.number()).nullish(),
  integration_types: z.array(z.number()).nullish(),
  nsfw: z.boolean().nullish(),
});

export type CommandForm = z.infer<typeof commandSchema>;

export function isSub(each: { readonly type: number }): boolean {
  return each.type === SUB_COMMAND || each.type === SUB_COMMAND_GROUP;
}
