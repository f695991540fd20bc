// What a button of a prompt carries: which prompt, and what the tap means. The id is random and
// belongs to one waiting hook; everything else in it is only a word.

const CUSTOM_ID = /^p:([\w-]{22,32}):(~?)([a-z]+)(?::(\d{1,3}\.\d{1,3}))?$/;

export interface Tap {
  readonly prompt: string;
  readonly action: string;
  /** Which option of which question. */
  readonly value: string | undefined;
  /** The tap opens a field to write in; what is written comes with the same action. */
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
