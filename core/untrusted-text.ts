// Quotes text from a host, a program or a file in our messages, so that it is never rendered as Markdown. A link, a mention
// or a heading in it would look like ours.

import { isThreadmuxError } from './errors.ts';
import { neutralise } from './neutralise.ts';

const LONGEST = 300;

/** As inline code on one line; nothing in the text can end the code. */
export function untrustedCode(text: string, longest = LONGEST): string {
  const line = neutralise(text.slice(0, 2 * longest).replace(/\s+/g, ' ')).replaceAll('`', "'");
  return `\`${begin(line, longest) || ' '}\``;
}

/** As text with all Markdown escaped. */
export function untrustedText(text: string, longest = 2 * LONGEST): string {
  return begin(neutralise(text.slice(0, 2 * longest)), longest).replace(/[\\*_~`|>#[\]<@]/g, '\\$&');
}

/** What went wrong. The message of an error that is not ours comes from outside and is quoted. */
export function untrustedReason(error: unknown): string {
  if (isThreadmuxError(error)) return error.message;
  return untrustedCode(error instanceof Error ? error.message : String(error));
}

/** What went wrong, and what to do. */
export function untrustedHint(error: unknown): string {
  const hint = isThreadmuxError(error) ? error.hint : undefined;
  return hint === undefined ? untrustedReason(error) : `${untrustedReason(error)}\n${hint}`;
}

/** Never cuts a surrogate pair. */
function begin(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`;
}
