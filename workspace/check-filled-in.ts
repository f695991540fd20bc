// Checks what the person filled in against what the bot offered: options, taps, choices, modals. Pure.

import * as z from 'zod';
import { UNKNOWN_INTERACTION } from '../discord/error-codes.ts';
import { type CommandOption, isSub } from './command-schema.ts';
import type { MessageInput, MessageRow, ModalInput } from './component-schema.ts';
import type { OpenInteraction } from './open-interactions.ts';
import { refuse, refuseField } from './refusal.ts';
import type { StoredMessage } from './storage/store.ts';

interface GivenOption {
  readonly name: string;
  readonly value?: string | number | boolean | undefined;
  readonly focused?: boolean | undefined;
  readonly options?: readonly GivenOption[] | undefined;
}

export const givenOption: z.ZodType<GivenOption> = z.object({
  name: z.string(),
  value: z.union([z.string().max(6000), z.number(), z.boolean()]).optional(),
  focused: z.boolean().optional(),
  get options() {
    return z.array(givenOption).max(25).optional();
  },
});

/** The options with their types; complete means that required ones must be there and choices be kept to. */
export function typed(
  declared: readonly CommandOption[],
  given: readonly GivenOption[],
  complete: boolean,
  path: readonly (string | number)[],
): unknown[] {
  const missing = declared.find(
    (option) => option.required === true && !given.some(({ name }) => name === option.name),
  );
  if (complete && missing) refuseField([...path, missing.name], 'BASE_TYPE_REQUIRED', 'This field is required');
  return given.map((each, index) => {
    const option = declared.find(({ name }) => name === each.name);
    if (option === undefined)
      return refuseField([...path, index, 'name'], 'UNKNOWN_OPTION', 'The command has no such option');
    const { name, type } = option;
    if (isSub(option))
      return {
        name,
        type,
        options: typed(option.options ?? [], each.options ?? [], complete, [...path, index, 'options']),
      };
    const choices = option.choices?.map(({ value }) => value);
    if (complete && choices?.length && !choices.includes(each.value as string | number))
      return refuseField([...path, index, 'value'], 'BASE_TYPE_CHOICES', 'This is none of the choices');
    return { name, type, value: each.value ?? '', ...(each.focused === true && { focused: true }) };
  });
}

export function tapped(source: StoredMessage, customId: string, values: readonly string[] | undefined): unknown {
  const components = (source.components as readonly MessageRow[]).flatMap(
    (row): readonly MessageInput[] => row.components,
  );
  const component = components.find(({ custom_id }) => custom_id === customId);
  if (component === undefined || component.disabled === true)
    return refuseField(
      ['data', 'custom_id'],
      'COMPONENT_VALIDATION_FAILED',
      'The message has no such component, or it is disabled',
    );
  const tap = { custom_id: customId, component_type: component.type, id: component.id };
  if (component.type === 2) return tap;
  const chosen = values ?? [];
  checkChosen(component as Choosable, chosen);
  return { ...tap, values: chosen };
}

interface Choosable {
  readonly min_values?: number | undefined;
  readonly max_values?: number | undefined;
  readonly options?: readonly { readonly value: string }[] | undefined;
}

function checkChosen(select: Choosable, chosen: readonly string[]): void {
  const { min_values: min = 1, max_values: max = 1 } = select;
  const options = select.options?.map(({ value }) => value);
  const unknown = options !== undefined && chosen.some((value) => !options.includes(value));
  if (unknown || new Set(chosen).size < chosen.length || chosen.length < min || chosen.length > max)
    refuseField(['data', 'values'], 'COMPONENT_VALIDATION_FAILED', `Choose ${min} to ${max} of the options`);
}

export function submitted(opened: OpenInteraction, values: Readonly<Record<string, string | string[]>>): unknown {
  const modal = opened.modal ?? refuse(UNKNOWN_INTERACTION);
  const filled = (input: ModalInput) => {
    const given = values[input.custom_id];
    if (input.type === 4) checkText(input, typeof given === 'string' ? given : '');
    else checkChosen(input, Array.isArray(given) ? given : []);
    return {
      type: input.type,
      id: input.id ?? 0,
      custom_id: input.custom_id,
      ...(input.type === 4 ? { value: given ?? '' } : { values: given ?? [] }),
    };
  };
  const components = modal.components.map((each) =>
    each.type === 18
      ? { type: 18, id: each.id ?? 0, component: filled(each.component) }
      : { type: 1, id: each.id ?? 0, components: each.components.map(filled) },
  );
  return { custom_id: modal.custom_id, components };
}

function checkText(input: ModalInput & { type: 4 }, value: string): void {
  const length = [...value].length;
  const path = ['data', 'values', input.custom_id];
  if (input.required !== false && length === 0) refuseField(path, 'BASE_TYPE_REQUIRED', 'This field is required');
  if (length > (input.max_length ?? 4000) || (length > 0 && length < (input.min_length ?? 0)))
    refuseField(path, 'BASE_TYPE_BAD_LENGTH', 'The text is too long or too short');
}
