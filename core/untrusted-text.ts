// Quotes text from a host, a program or a file in our messages, so that it is never rendered as Markdown. A link, a mention
// or a heading in it would look like ours.

import { isThreadmuxError } from './errors.ts';

const LONGEST = 300;

/** As inline code on one line; nothing in the text can end the code. */
export function untrustedCode(text: string, longest = LONGEST): string {
  const line = neutralise(text.slice(0, 2 * longest).replace(/\s+/g, ' ')).replaceAll('`', "'");
  return `\`${begin(line, longest) || ' '}\``;
}

/** As text with all Markdown escaped, also what begins a list, underlines a heading or a table, or is a rule. */
export function untrustedText(text: string, longest = 2 * LONGEST): string {
  return begin(neutralise(text.slice(0, 2 * longest)), longest)
    .replace(/[\\*_~`|>#[\]<@]/g, '\\$&')
    .replace(/^([ \t]*\d*)([-+=:.)])/gm, '$1\\$2');
}

/**
 * As bold text, from escaped text. Discord ends it at the next two stars, also inside of code: so code is never bold, and bold text is
 * never empty, because `****` would begin what ends in the code that follows.
 */
export function bold(escaped: string): string {
  return `**${escaped || '⟨empty⟩'}**`;
}

/** As text on one line: a label or the failure of a tool. */
export function untrustedLine(text: string, longest = LONGEST): string {
  return untrustedText(text.slice(0, 1_000).trim().replace(/\s+/g, ' '), longest);
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

/** At most this long. Code that the cut leaves open is closed: what follows an open mark of code would be rendered as Markdown. */
export function cutMessage(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const cut = begin(text, longest - FENCE_END.length - 1).replace(/(?<!`)`+…$/, '…');
  const blocks = cut.split('```');
  if (blocks.length % 2 === 0) return cut + FENCE_END;
  const after = blocks.at(-1) ?? '';
  const isInCode = after.split('`').length % 2 === 0;
  return isInCode ? `${cut.slice(0, cut.lastIndexOf('`'))}…` : cut;
}

const FENCE_END = '\n```';

/** Never cuts a surrogate pair. */
function begin(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}…`;
}

// Makes everything in a text visible before a user is asked to approve it: characters that are invisible or reorder their
// neighbours are spelled out, and nothing in the text can end the code block that shows it.

/**
 * Control, format, ignorable, private-use, unassigned and unusual space characters, half surrogate pairs, and the symbols that fonts draw
 * as nothing. Line feed, tab and space stay.
 */
const HIDDEN = /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{1d159}]/gu;

/** Marks on one letter, after the fourth: a stack of them covers the lines around it. No language needs as many. */
const STACKED = /(?<=\p{M}{4})\p{M}/gu;

/** The legitimate uses of such characters: a variation selector after a symbol, a keycap, a joiner between two emoji. */
const EMOJI =
  /[0-9#*]\ufe0f\u20e3|\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?(?:\u200d\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)*/gu;

export function neutralise(text: string): string {
  let shown = '';
  let from = 0;
  for (const { index, 0: emoji } of text.matchAll(EMOJI)) {
    shown += spelled(text.slice(from, index)) + emoji;
    from = index + emoji.length;
  }
  return shown + spelled(text.slice(from));
}

function spelled(text: string): string {
  return text.replace(STACKED, spelledOut).replace(HIDDEN, spelledOut);
}

/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+/gu;

/**
 * For code: clients would show what is between two such words in the other order, so that `cp א ב` looks like the opposite. With a mark
 * on both sides (U+200E, which `neutralise` has spelled out everywhere else), each word stays in its place.
 */
export function wordsInPlace(code: string): string {
  return code.replace(RIGHT_TO_LEFT, '\u200e$&\u200e');
}

/**
 * A code block that its text cannot close. Discord ends a block at the next three backticks anywhere and does not support
 * longer fences, so every third backtick of a run is spelled out.
 */
export function insideFence(text: string, language = ''): string {
  const safe = text.replace(/``(`)/g, (_, third: string) => `\`\`${spelledOut(third)}`);
  return `\`\`\`${language.replace(/[^\w+#.-]/g, '')}\n${safe.trim() === '' ? '⟨empty⟩' : safe}\n\`\`\``;
}

/** For a path on a line of its own: a line break in it would look like the next line, and a space at its end is not seen. */
export function exactLine(path: string): string {
  return path.replace(/[\n\t]|^ | $/g, spelledOut);
}

export function spelledOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

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
  return (/^[!/@#&]/.test(text) ? ' ' : '') + guardForEnter(text);
}

/** Keeps the end of a text from changing what Enter does. */
export function guardForEnter(text: string): string {
  const word = text.lastIndexOf('@');
  const endsInWord = word >= 0 && !/\s/.test(text.slice(word));
  return text.endsWith('\\') || endsInWord ? `${text} ` : text;
}
