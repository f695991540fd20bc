// The custom id of a prompt's button: the prompt's id and the action. The prompt's id is random and belongs to one waiting
// hook, so it cannot be guessed; the rest is not secret.

import type { ShownPrompt } from './prompt-answer.ts';

const CUSTOM_ID = /^p:([\w-]{22,32}):(~?)([a-z]+)(?::(\d{1,3}\.\d{1,3}))?$/;

export interface Tap {
  readonly prompt: string;
  readonly action: string;
  /** The question and the option, as `optionValue` writes them. */
  readonly value: string | undefined;
  /** The button opens a text field; the text arrives with the same action. */
  readonly asksForText: boolean;
}

export function customId(prompt: string, action: string, value?: string): string {
  return `p:${prompt}:${action}${value === undefined ? '' : `:${value}`}`;
}

export function parseCustomId(text: string): Tap | undefined {
  const [, prompt, tilde, action, value] = text.match(CUSTOM_ID) ?? [];
  if (prompt === undefined || action === undefined) return undefined;
  return { prompt, action, value, asksForText: tilde === '~' };
}

/** The prompt that a message's buttons belong to, however they are nested; undefined if it has no such buttons. */
export function promptOfMessage(message: {
  readonly id: string;
  readonly components: readonly unknown[];
}): ShownPrompt | undefined {
  const taps = stringsAt('custom_id', message.components).flatMap((id) => parseCustomId(id) ?? []);
  const [first] = taps;
  if (first === undefined) return undefined;
  const value = taps.find((tap) => tap.value !== undefined)?.value ?? '0';
  const labels = stringsAt('label', message.components);
  return { id: first.prompt, messageId: message.id, question: Number.parseInt(value, 10), labels };
}

function stringsAt(key: string, within: unknown): readonly string[] {
  if (typeof within !== 'object' || within === null) return [];
  return Object.entries(within).flatMap(([name, value]) =>
    name === key && typeof value === 'string' ? [value] : stringsAt(key, value),
  );
}
