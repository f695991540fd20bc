// The custom id of a prompt's button: the prompt's id and the action. The prompt's id is random and belongs to one waiting
// hook, so it cannot be guessed; the rest is not secret.

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
