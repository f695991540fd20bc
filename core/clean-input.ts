// Makes a user's text safe to paste into a terminal: afterwards no byte of it can act as a key.

/** An escape byte could end tmux's bracketed paste early and turn the rest of the text into keystrokes. */
export function cleanInbound(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/(?![\t\n])[\p{Cc}\p{Cs}]/gu, '')
    .replace(LINE_ENDS, (end) => end.replaceAll('\u200d', ''));
}

/**
 * Zero-width joiners at the end of a line. tmux 3.3 joins them to the next character drawn, which belongs to the frame of
 * Claude Code's input box, and the box is no longer recognised.
 */
const LINE_ENDS = /(?<![\s\u200d])[\s\u200d]+(?=\n|$)/g;

/**
 * Keeps Claude Code from acting on the text instead of reading it. A leading `!` would run a shell command at once and
 * `/` a slash command; a trailing `\` or `@word` would make Enter do something other than submit.
 */
export function guardForPrompt(text: string): string {
  const before = /^[!/@#&]/.test(text) ? ' ' : '';
  const word = text.lastIndexOf('@');
  const endsInWord = word >= 0 && !/\s/.test(text.slice(word));
  const after = text.endsWith('\\') || endsInWord ? ' ' : '';
  return before + text + after;
}
