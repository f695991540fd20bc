// What a person wrote, made safe to paste into a terminal. After this no byte of it can act as a key.

/** An escape byte could end tmux's bracketed paste early and turn the rest of the text into keystrokes. */
export function cleanInbound(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\t\n])[\p{Cc}\p{Cs}]/gu, '')
    .replace(LINE_ENDS, (end) => end.replaceAll('\u200d', ''));
}

/**
 * Joiners with nothing to join. tmux 3.3 joins them to whatever is drawn next, a piece of the frame of Claude Code's box,
 * and no box is recognised any more.
 */
const LINE_ENDS = /(?<![\s\u200d])[\s\u200d]+(?=\n|$)/g;

/**
 * Keeps Claude Code from acting on the text instead of reading it: a first `!` would run a shell command at once,
 * `/` a command; a last `\` or `@word` would make Enter do something other than submit.
 */
export function guardForPrompt(text: string): string {
  const before = /^[!/@#&]/.test(text) ? ' ' : '';
  const word = text.lastIndexOf('@');
  const endsInWord = word >= 0 && !/\s/.test(text.slice(word));
  const after = text.endsWith('\\') || endsInWord ? ' ' : '';
  return before + text + after;
}
