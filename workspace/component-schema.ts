// What may hang under a message or stand in a modal: rows, buttons, selects, inputs, and their sizes.

import * as z from 'zod';
import { text, whole } from './check-form.ts';

const customId = text(1, 100);
const emoji = z.looseObject({ name: z.string().nullish(), id: z.string().nullish() });
const componentId = z.number().int().nonnegative().optional();

const button = z.object({
  type: z.literal(2),
  id: componentId,
  style: z.union([1, 2, 3, 4, 5, 6].map((style) => z.literal(style))),
  label: text(0, 80).optional(),
  emoji: emoji.optional(),
  custom_id: customId.optional(),
  url: text(1, 512).optional(),
  disabled: z.boolean().optional(),
});

const option = z.object({
  label: text(1, 100),
  value: text(1, 100),
  description: text(0, 100).nullish(),
  emoji: emoji.optional(),
  default: z.boolean().optional(),
});

const selectShape = {
  id: componentId,
  custom_id: customId,
  placeholder: text(0, 150).optional(),
  min_values: whole(0, 25).default(1),
  max_values: whole(1, 25).default(1),
  disabled: z.boolean().optional(),
  required: z.boolean().optional(),
};

const stringSelect = z.object({
  type: z.literal(3),
  ...selectShape,
  options: z.array(option).min(1).max(25),
});

const entitySelects = [5, 6, 7, 8].map((type) => z.object({ type: z.literal(type), ...selectShape }));
const input = z.discriminatedUnion('type', [button, stringSelect, ...entitySelects] as const);

const row = z.object({
  type: z.literal(1),
  id: componentId,
  components: z.array(input).min(1).max(5),
});

export const messageComponents = z.array(row).max(5);

const textInput = z.object({
  type: z.literal(4),
  id: componentId,
  custom_id: customId,
  style: z.union([z.literal(1), z.literal(2)]),
  label: text(1, 45).nullish(),
  min_length: whole(0, 4000).optional(),
  max_length: whole(1, 4000).optional(),
  required: z.boolean().optional(),
  value: text(0, 4000).optional(),
  placeholder: text(0, 100).optional(),
});

const inputRow = z.object({
  type: z.literal(1),
  id: componentId,
  components: z.array(textInput.required({ label: true })).length(1),
});
const label = z.object({
  type: z.literal(18),
  id: componentId,
  label: text(1, 45),
  description: text(0, 100).nullish(),
  component: z.discriminatedUnion('type', [textInput, stringSelect]),
});

export const modalSchema = z.object({
  custom_id: customId,
  title: text(1, 45),
  components: z
    .array(z.discriminatedUnion('type', [inputRow, label]))
    .min(1)
    .max(5),
});

export type Modal = z.infer<typeof modalSchema>;
export type ModalInput = z.infer<typeof textInput> | z.infer<typeof stringSelect>;
export type MessageRow = z.infer<typeof row>;
export type MessageInput = MessageRow['components'][number];

/** Discord numbers the components that came without an id. */
export function numbered(rows: readonly MessageRow[]): MessageRow[] {
  let next = 1;
  return rows.map((each) => {
    const id = each.id ?? next++;
    return {
      ...each,
      id,
      components: each.components.map((component) => ({
        ...component,
        id: component.id ?? next++,
      })),
    } as MessageRow;
  });
}
