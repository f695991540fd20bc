// Words of a host, a program or a file in a message of ours: shown as they are, never read as Markdown. A link with a text of
// its own, a mention or a heading in them would pass for ours.

import { isThreadmuxError } from './errors.ts';
import { neutralise } from './neutralise.ts';

const LONGEST = 300;

/** As code on one line, and with nothing in it that could end the code. */
export function code(text: string, longest = LONGEST): string {
  const line = neutralise(text.slice(0, 2 * longest).replace(/\s+/g, ' ')).replaceAll('`', "'");
  return `\`${begin(line, longest) || ' '}\``;
}

/** As text. */
export function plain(text: string, longest = 2 * LONGEST): string {
  return begin(neutralise(text.slice(0, 2 * longest)), longest).replace(
    /[\\*_~`|>#[\]<@]/g,
    '\\$&',
  );
}

/** What went wrong. The words of an error that is not ours come from outside. */
export function reason(error: unknown): string {
  if (isThreadmuxError(error)) return error.message;
  return code(error instanceof Error ? error.message : String(error));
}

/** The same, and what to do. */
export function advice(error: unknown): string {
  const hint = isThreadmuxError(error) ? error.hint : undefined;
  return hint === undefined ? reason(error) : `${reason(error)}\n${hint}`;
}

/** Never ends in half of a character. */
function begin(text: string, longest: number): string {
  return text.length <= longest
    ? text
    : `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`;
}
