// What Discord refuses although the workspace accepts it, so that tests notice when we send it. The workspace checks sizes
// itself; this file checks names and combinations of fields.

import * as z from 'zod';
import { type CommandOption, commandSchema, custom, isSub, readForm } from '../../workspace/check-form.ts';
import { answerOf, type RefusalAnswer } from '../../workspace/request-body.ts';
import {
  type AllowedMentions,
  createMessageSchema,
  editMessageSchema,
  interactionMessageSchema,
  type MessageRow,
  modalSchema,
} from '../../workspace/request-schemas.ts';
import type { InspectedRequest } from '../../workspace/rest-server.ts';

type Ctx = Parameters<typeof custom>[0];
type Path = readonly PropertyKey[];

/** The reason; undefined if Discord would accept it too. */
export function refuseAsDiscord({ method, path, actor, body }: InspectedRequest): RefusalAnswer | undefined {
  const schema = actor === 'person' ? undefined : schemaFor(method, path, body);
  if (schema === undefined) return undefined;
  try {
    readForm(schema, body);
    return undefined;
  } catch (error) {
    return answerOf(error);
  }
}

function schemaFor(method: string, path: string, body: unknown): z.ZodType | undefined {
  const asked = `${method} ${path.replace(/\d{15,20}/g, ':id')}`;
  if (asked === 'POST /channels/:id/messages') return createMessageSchema.superRefine(message);
  if (asked === 'PATCH /channels/:id/messages/:id') return editMessageSchema.superRefine(message);
  if (/^PUT .*\/commands$/.test(asked)) return z.array(commandSchema.superRefine(command));
  if (/^POST .*\/commands$/.test(asked)) return commandSchema.superRefine(command);
  if (/^POST \/interactions\/.*\/callback$/.test(asked)) return callbackSchema(body);
  if (/^POST \/webhooks\/[^/]+\/[^/]+$/.test(asked)) return followUp;
  return undefined;
}

function callbackSchema(body: unknown): z.ZodType | undefined {
  const { type, data } = (body ?? {}) as { type?: unknown; data?: unknown };
  if (data == null) return undefined;
  if (type === 4) return z.object({ data: followUp });
  if (type === 7) return z.object({ data: editMessageSchema.superRefine(message) });
  return type === 9 ? z.object({ data: modalSchema.superRefine(modal) }) : undefined;
}

interface MessageForm {
  readonly components?: readonly MessageRow[] | null | undefined;
  readonly allowed_mentions?: AllowedMentions | null | undefined;
}

function message(form: MessageForm, ctx: Ctx): void {
  const mentions = form.allowed_mentions;
  for (const kind of ['users', 'roles'] as const)
    if (mentions?.parse?.includes(kind) && (mentions[kind]?.length ?? 0) > 0)
      custom(
        ctx,
        'MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE',
        `parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`,
        ['allowed_mentions'],
      );
  const seen = new Set<string>();
  form.components?.forEach(({ components }, at) => {
    const inRow = ['components', at, 'components'];
    if (components.length > 1 && components.some(({ type }) => type !== 2))
      custom(ctx, 'COMPONENT_LAYOUT_WIDTH_EXCEEDED', 'A row has five buttons or one select', inRow);
    components.forEach((component, index) => {
      const { custom_id: id } = component;
      if (id !== undefined && seen.has(id))
        custom(ctx, 'COMPONENT_CUSTOM_ID_DUPLICATED', 'Component custom id cannot be duplicated', [
          ...inRow,
          index,
          'custom_id',
        ]);
      if (id !== undefined) seen.add(id);
      if (component.type === 2) button(component as Button, ctx, [...inRow, index]);
      if (component.type === 3) select(component as Select, ctx, [...inRow, index]);
    });
  });
}

const followUp = interactionMessageSchema.superRefine(message);

interface Button {
  readonly style: number;
  readonly label?: string;
  readonly url?: string;
  readonly custom_id?: string;
  readonly emoji?: unknown;
}

function button(given: Button, ctx: Ctx, path: Path): void {
  const needs = given.style === 5 ? 'url' : 'custom_id';
  if (given[needs] === undefined) custom(ctx, 'BASE_TYPE_REQUIRED', 'This field is required', [...path, needs]);
  if (given.url !== undefined && given.custom_id !== undefined)
    custom(ctx, 'COMPONENT_CUSTOM_ID_AND_URL', 'A custom id and url cannot both be specified', [...path, 'url']);
  if ((given.label ?? '') === '' && given.emoji === undefined)
    custom(ctx, 'BUTTON_COMPONENT_INVALID', 'A button needs a label or an emoji', [...path, 'label']);
}

interface Select {
  readonly options: readonly { readonly value: string }[];
  readonly min_values: number;
  readonly max_values: number;
}

function select({ options, min_values: min, max_values: max }: Select, ctx: Ctx, path: Path): void {
  if (new Set(options.map(({ value }) => value)).size < options.length)
    custom(ctx, 'SELECT_COMPONENT_OPTION_VALUE_DUPLICATED', 'The specified option value is already used', [
      ...path,
      'options',
    ]);
  if (max > options.length)
    custom(ctx, 'SELECT_COMPONENT_MAX_VALUES_TOO_LARGE', 'More values than options', [...path, 'max_values']);
  if (min > max) custom(ctx, 'SELECT_COMPONENT_MIN_VALUES_TOO_LARGE', 'More than max_values', [...path, 'min_values']);
}

function modal({ components }: z.infer<typeof modalSchema>, ctx: Ctx): void {
  components.forEach((each, at) => {
    if (each.type === 18 && each.component.type === 3) select(each.component, ctx, ['components', at, 'component']);
  });
}

const NAME = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;

function command(form: z.infer<typeof commandSchema>, ctx: Ctx): void {
  if (form.type !== 1) return;
  name(form.name, ctx, ['name']);
  if ((form.description ?? '') === '') custom(ctx, 'BASE_TYPE_REQUIRED', 'This field is required', ['description']);
  commandOptions(form.options ?? [], ctx, ['options']);
}

function name(given: string, ctx: Ctx, path: Path): void {
  if (!NAME.test(given) || given !== given.toLowerCase())
    custom(ctx, 'APPLICATION_COMMAND_INVALID_NAME', 'Command name is invalid', [...path]);
}

function commandOptions(options: readonly CommandOption[], ctx: Ctx, path: Path): void {
  const names = new Set<string>();
  let optionalSeen = false;
  options.forEach((each, index) => {
    const here = [...path, index];
    name(each.name, ctx, [...here, 'name']);
    if (names.has(each.name))
      custom(ctx, 'APPLICATION_COMMAND_OPTIONS_NAME_INVALID', 'Option names must be unique', [...here, 'name']);
    names.add(each.name);
    const required = each.required === true;
    if (required && optionalSeen)
      custom(
        ctx,
        'APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID',
        'Required options must be placed before non-required options',
        here,
      );
    if (!required && !isSub(each)) optionalSeen = true;
    if (each.autocomplete === true && (each.choices?.length ?? 0) > 0)
      custom(ctx, 'APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_CHOICES', 'Autocomplete and choices exclude each other', [
        ...here,
        'choices',
      ]);
    commandOptions(each.options ?? [], ctx, [...here, 'options']);
  });
}
