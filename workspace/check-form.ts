// Checks a request body against a schema and refuses it in Discord's words (INVALID_FORM with nested errors).

import * as z from 'zod';
import { type FormError, refuseForm } from './refusal.ts';

export function readForm<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  const errors: Tree = {};
  for (const issue of parsed.error.issues) place(errors, issue.path, describe(issue));
  refuseForm(errors as Parameters<typeof refuseForm>[0]);
}

/** Text of so many code points, as Discord counts. */
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
  ctx: {
    addIssue(issue: { code: 'custom'; message: string; params: object; path?: PropertyKey[] }): void;
  },
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
    return {
      code: 'BASE_TYPE_MAX_LENGTH',
      message: `Must be ${issue.maximum} or fewer in length.`,
    };
  if (issue.code === 'too_small' && (issue.origin === 'array' || issue.origin === 'string'))
    return { code: 'BASE_TYPE_MIN_LENGTH', message: `Must be ${issue.minimum} or more in length.` };
  if (issue.code === 'too_big')
    return {
      code: 'NUMBER_TYPE_MAX',
      message: `int value should be less than or equal to ${issue.maximum}.`,
    };
  if (issue.code === 'too_small')
    return {
      code: 'NUMBER_TYPE_MIN',
      message: `int value should be greater than or equal to ${issue.minimum}.`,
    };
  if (issue.code === 'invalid_value')
    return {
      code: 'BASE_TYPE_CHOICES',
      message: `Value must be one of {${issue.values.map(String).join(', ')}}.`,
    };
  if (issue.code === 'invalid_type' && issue.input === undefined)
    return { code: 'BASE_TYPE_REQUIRED', message: 'This field is required' };
  return { code: 'BASE_TYPE_INVALID', message: issue.message };
}
