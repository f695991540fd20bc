// The open interactions: their origin, their deadline and their answer. Lost on restart.

import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { UNKNOWN_INTERACTION } from '../discord/error-codes.ts';
import { type CommandOption, isSub } from './check-form.ts';
import { refuse, refuseField } from './request-body.ts';
import type { MessageInput, MessageRow, Modal, ModalInput } from './request-schemas.ts';
import type { StoredMessage } from './storage/store.ts';

export const ANSWER_WITHIN_MS = 3000;
const FOLLOW_UP_WITHIN_MS = 15 * 60_000;

interface MessageRef {
  readonly channel: string;
  readonly id: string;
}

export interface OpenInteraction {
  readonly id: string;
  readonly token: string;
  readonly type: 2 | 3 | 4 | 5;
  readonly channelId: string;
  readonly startedAt: number;
  /** A nonce of the page, returned with the outcome. */
  readonly nonce: string | undefined;
  readonly name: string | undefined;
  /** The message with the button, select or modal. */
  readonly source: MessageRef | undefined;
  /** The type of the callback, once there is one. */
  answered: number | undefined;
  original: MessageRef | undefined;
  modal: Modal | undefined;
}

export interface OpenInteractions {
  /** Messages that only the user sees; they exist until the server stops. */
  readonly ephemeral: Map<string, StoredMessage>;
  open(start: Pick<OpenInteraction, 'id' | 'type' | 'channelId' | 'nonce' | 'name' | 'source'>): OpenInteraction;
  byId(id: string): OpenInteraction | undefined;
  byToken(token: string): OpenInteraction | undefined;
  close(): void;
}

/** `onLate` is called for interactions that were not answered in time. */
export function makeOpenInteractions(onLate: (interaction: OpenInteraction) => void): OpenInteractions {
  const open = new Map<string, OpenInteraction>();
  const timers = new Set<NodeJS.Timeout>();
  const later = (ms: number, act: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, ms);
    timers.add(timer.unref());
  };
  return {
    ephemeral: new Map(),
    open(start) {
      const token = randomBytes(48).toString('base64url');
      const interaction: OpenInteraction = {
        ...start,
        token,
        startedAt: Date.now(),
        answered: undefined,
        original: undefined,
        modal: undefined,
      };
      open.set(interaction.id, interaction);
      later(ANSWER_WITHIN_MS, () => {
        if (interaction.answered === undefined) onLate(interaction);
      });
      later(FOLLOW_UP_WITHIN_MS, () => open.delete(interaction.id));
      return interaction;
    },
    byId: (id) => open.get(id),
    byToken: (token) => [...open.values()].find((interaction) => interaction.token === token),
    close() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

// Checks the user's input against what the bot offered: options, buttons, choices, modals. Pure.
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

/** The options with their types. `complete`: required options must be present, and choices must match. */
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
      return refuseField([...path, index, 'value'], 'BASE_TYPE_CHOICES', 'This is not one of the choices');
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
