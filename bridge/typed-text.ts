// What is typed for a message: its text made safe for Claude Code's box, and the paths of its files.

import { cleanInbound, guardForPrompt } from '../core/untrusted-text.ts';

export type TypedText =
  /** Claude Code confirms it by its UserPromptSubmit hook. */
  | { readonly kind: 'prompt'; readonly text: string }
  /** A slash command of the allow-list: no hook tells of it, the screen does. */
  | { readonly kind: 'slash'; readonly text: string }
  | { readonly kind: 'nothing' };

export function composeForClaude(
  message: string,
  paths: readonly string[],
  slashCommands: readonly string[],
): TypedText {
  const text = cleanInbound(message).trim();
  const [word = ''] = text.split(/\s/, 1);
  if (paths.length === 0 && slashCommands.includes(word) && !text.includes('\n')) return { kind: 'slash', text };
  const whole = [text, paths.join('\n')].filter(Boolean).join('\n\n');
  return whole === '' ? { kind: 'nothing' } : { kind: 'prompt', text: guardForPrompt(whole) };
}

/** For a program that is not Claude: as it was written, and paths in one line. */
export function composePlain(message: string, paths: readonly string[]): TypedText {
  const text = [cleanInbound(message), ...paths].filter(Boolean).join(' ');
  return text === '' ? { kind: 'nothing' } : { kind: 'prompt', text };
}
