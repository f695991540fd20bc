// Buttons that more than one part of the program puts under a message.

import type { ComponentRow } from './messages.ts';

const KEYS = [
  ['Escape', 'Esc'],
  ['Up', '↑'],
  ['Down', '↓'],
  ['Enter', 'Enter'],
] as const;

/** For a screen that a person has to deal with by keys. They belong to that screen, by its print, and to no later one. */
export function keyButtons(print: string | undefined): ComponentRow {
  const keys = print === undefined ? [] : KEYS.map(([key, label]) => button(label, `key:${key}:${print}`));
  return row(...keys, button('Screen', 'key:look'));
}

export type ButtonStyle = 'primary' | 'plain' | 'good' | 'bad';
const STYLES = { primary: 1, plain: 2, good: 3, bad: 4 } as const;
const LABEL = 80;

export function button(label: string, customId: string, style: ButtonStyle = 'plain') {
  const points = [...label];
  const text = points.length <= LABEL ? label : `${points.slice(0, LABEL - 1).join('')}…`;
  return { type: 2 as const, style: STYLES[style], label: text || '…', custom_id: customId };
}

export function row(...components: readonly ReturnType<typeof button>[]): ComponentRow {
  return { type: 1, components: [...components] };
}
