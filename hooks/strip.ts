// Blocks the person does not want to see on the phone: a coach's header, a signature.

import { runInNewContext } from 'node:vm';

/** The patterns are the user's, the text is not: a pattern that takes longer than this on a reply is not applied. */
const LONGEST_MS = 1_000;

export function stripBlocks(
  text: string,
  patterns: readonly string[],
  onSlow: (pattern: string) => void = () => {},
): string {
  const stripped = patterns.reduce((rest, pattern) => {
    try {
      return without(rest, pattern);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      onSlow(pattern);
      return rest;
    }
  }, text);
  return stripped === text ? text : stripped.replace(/\n{3,}/g, '\n\n').trim();
}

/** Only a script's time can be limited; a pattern and a text go in as data. */
function without(text: string, pattern: string): string {
  const script = "text.replace(new RegExp(pattern, 'gmu'), '')";
  return String(runInNewContext(script, { text, pattern }, { timeout: LONGEST_MS }));
}
