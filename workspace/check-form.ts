// Checks a request body against a schema and refuses it as Discord does (INVALID_FORM with nested errors).
import * as z from 'zod';
import { type FormError, refuseForm } from './request-body.ts';

export function readForm<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  const errors: Tree = {};
  for (const issue of parsed.error.issues) place(errors, issue.path, describe(issue));
  refuseForm(errors as Parameters<typeof refuseForm>[0]);
}

/** Text with a limited number of code points, as Discord counts them. */
export function text(min: number, max: number) {
  return z.string().superRefine((value, ctx) => {
    const length = [...value].length;
    if (length > max) custom(ctx, 'BASE_TYPE_MAX_LENGTH', `Must be ${max} or fewer in length.`);
    if (length === 0 && min > 0) custom(ctx, 'BASE_TYPE_REQUIRED', 'This field is required');
    else if (length < min) custom(ctx, 'BASE_TYPE_BAD_LENGTH', `Must be between ${min} and ${max} in length.`);
  });
}

export function whole(min: number, max: number) {
  return z.number().int().min(min).max(max);
}

export const snowflake = z.union([z.string().regex(/^\d{1,20}$/), z.number().int().nonnegative()]).transform(String);

export function custom(
  ctx: { addIssue(issue: { code: 'custom'; message: string; params: object; path?: PropertyKey[] }): void },
  code: string,
  message: string,
  path?: PropertyKey[],
): void {
  ctx.addIssue({ code: 'custom', message, params: { code }, ...(path && { path }) });
}

interface Tree {
  [key: string]: Tree | FormError[];
}

function place(tree: Tree, path: readonly PropertyKey[], error: FormError): void {
  let at = tree;
  for (const key of path) {
    const next = (at[String(key)] ?? {}) as Tree;
    at[String(key)] = next;
    at = next;
  }
  const errors = at._errors;
  if (Array.isArray(errors)) errors.push(error);
  else at._errors = [error];
}

function describe(issue: z.core.$ZodIssue): FormError {
  if (issue.code === 'custom')
    return { code: String(issue.params?.code ?? 'BASE_TYPE_INVALID'), message: issue.message };
  if (issue.code === 'too_big' && (issue.origin === 'array' || issue.origin === 'string'))
    return { code: 'BASE_TYPE_MAX_LENGTH', message: `Must be ${issue.maximum} or fewer in length.` };
  if (issue.code === 'too_small' && (issue.origin === 'array' || issue.origin === 'string'))
    return { code: 'BASE_TYPE_MIN_LENGTH', message: `Must be ${issue.minimum} or more in length.` };
  if (issue.code === 'too_big')
    return { code: 'NUMBER_TYPE_MAX', message: `int value should be less than or equal to ${issue.maximum}.` };
  if (issue.code === 'too_small')
    return { code: 'NUMBER_TYPE_MIN', message: `int value should be greater than or equal to ${issue.minimum}.` };
  if (issue.code === 'invalid_value')
    return { code: 'BASE_TYPE_CHOICES', message: `Value must be one of {${issue.values.map(String).join(', ')}}.` };
  if (issue.code === 'invalid_type' && issue.input === undefined)
    return { code: 'BASE_TYPE_REQUIRED', message: 'This field is required' };
  return { code: 'BASE_TYPE_INVALID', message: issue.message };
}

// Application commands: the shape and the limits of their names, options and choices.
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
