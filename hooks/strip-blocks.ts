// Removes parts of replies that match the user's "strip" patterns, such as a repeated header or a signature.

import { runInNewContext } from 'node:vm';

/** The text is not trusted, and may make a pattern slow: a pattern that takes longer than this is not applied. */
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

/** Only the running time of a script can be limited; pattern and text are passed as data. */
function without(text: string, pattern: string): string {
  const script = "text.replace(new RegExp(pattern, 'gmu'), '')";
  return String(runInNewContext(script, { text, pattern }, { timeout: LONGEST_MS }));
}
