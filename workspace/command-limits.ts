// Application commands, with Discord's limits on names, options and choices.

import * as z from 'zod';
import { custom, text, whole } from './form.ts';

const NAME = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;
const SUB_COMMAND = 1;
const SUB_COMMAND_GROUP = 2;

const slashName = z.string().superRefine((name, ctx) => {
  if (!NAME.test(name) || name !== name.toLowerCase())
    custom(ctx, 'APPLICATION_COMMAND_INVALID_NAME', 'Command name is invalid');
});

const choice = z.object({
  name: text(1, 100),
  value: z.union([text(0, 100), z.number()]),
  name_localizations: z.record(z.string(), z.string()).nullish(),
});

const optionShape = {
  type: whole(1, 11),
  name: slashName,
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

const option: z.ZodType<CommandOption> = z
  .object({
    ...optionShape,
    get options() {
      return z.array(option).max(25).nullish();
    },
  })
  .superRefine((value, ctx) => {
    if (value.autocomplete === true && (value.choices?.length ?? 0) > 0)
      custom(
        ctx,
        'APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_CHOICES',
        'Autocomplete and choices exclude each other',
        ['choices'],
      );
    checkOrder(value.options ?? [], ctx);
  });

export const commandSchema = z
  .object({
    name: z.string(),
    type: z.union([z.literal(1), z.literal(2), z.literal(3)]).default(1),
    description: z.string().nullish(),
    options: z.array(option).max(25).nullish(),
    name_localizations: z.record(z.string(), z.string()).nullish(),
    description_localizations: z.record(z.string(), z.string()).nullish(),
    default_member_permissions: z.string().nullish(),
    dm_permission: z.boolean().nullish(),
    contexts: z.array(z.number()).nullish(),
    integration_types: z.array(z.number()).nullish(),
    nsfw: z.boolean().nullish(),
  })
  .superRefine((value, ctx) => {
    const name = (value.type === 1 ? slashName : text(1, 32)).safeParse(value.name);
    if (!name.success)
      custom(ctx, 'APPLICATION_COMMAND_INVALID_NAME', 'Command name is invalid', ['name']);
    const length = [...(value.description ?? '')].length;
    if (value.type === 1 && length === 0)
      custom(ctx, 'BASE_TYPE_REQUIRED', 'This field is required', ['description']);
    if (length > 100)
      custom(ctx, 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 100 in length.', ['description']);
    checkOrder(value.options ?? [], ctx);
  });

export type CommandForm = z.infer<typeof commandSchema>;

function checkOrder(options: readonly CommandOption[], ctx: Parameters<typeof custom>[0]): void {
  const names = new Set<string>();
  let optionalSeen = false;
  options.forEach((each, index) => {
    if (names.has(each.name))
      custom(ctx, 'APPLICATION_COMMAND_OPTIONS_NAME_INVALID', 'Option names must be unique', [
        'options',
        index,
        'name',
      ]);
    names.add(each.name);
    const required = each.required === true;
    if (required && optionalSeen)
      custom(
        ctx,
        'APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID',
        'Required options must be placed before non-required options',
        ['options', index],
      );
    if (!required && !isSub(each)) optionalSeen = true;
  });
}

export function isSub(each: { readonly type: number }): boolean {
  return each.type === SUB_COMMAND || each.type === SUB_COMMAND_GROUP;
}
