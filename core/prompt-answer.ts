// Decides which open prompt a text message answers, if any. A text can only grant the prompt that the user saw when writing
// it; if that is not certain, the text changes nothing.

import { isNewer, snowflakeTime } from './snowflake.ts';

/** A prompt as its message in the thread shows it. */
export interface ShownPrompt {
  readonly id: string;
  /** Empty while it is being posted: it may be on the screen already. */
  readonly messageId: string;
  /** The number of the question that is shown, from 1; 0 for none. */
  readonly question: number;
  readonly labels: readonly string[];
}

export interface WrittenText {
  readonly id: string;
  readonly text: string;
  readonly repliedTo: string | undefined;
  /** Received from the gateway when it was written; not replayed, and not read later after a gap or a restart. */
  readonly live: boolean;
  /** Another question of the thread ended a moment ago, or is open on the screen: the text may have been written for that one. */
  readonly afterAnother: boolean;
  /** The prompts in which somebody else has answered a question a moment ago: the text may have been written for that question. */
  readonly changed: readonly string[];
}

export type TextMeaning =
  | { readonly kind: 'answer'; readonly prompt: ShownPrompt }
  /** It looks like an answer, but it is not certain to which open prompt: the user has to use a button. */
  | { readonly kind: 'unclear' }
  | { readonly kind: 'message' };

export function textMeaning(written: WrittenText, open: readonly ShownPrompt[]): TextMeaning {
  const prompt = promptMeant(written, open);
  if (prompt !== undefined)
    return written.changed.includes(prompt.id) ? { kind: 'unclear' } : { kind: 'answer', prompt };
  return { kind: looksLikeAnswer(written.text, open) ? 'unclear' : 'message' };
}

const WORD_AFTER_MS = 3_000;

/** Nobody has read the message yet when the text was written; ids of Discord. The text was meant for something before it. */
export function isSudden(message: string, written: string): boolean {
  return snowflakeTime(written) - snowflakeTime(message) < WORD_AFTER_MS;
}

function promptMeant(
  { id, text, repliedTo, live, afterAnother }: WrittenText,
  open: readonly ShownPrompt[],
): ShownPrompt | undefined {
  // A "yes" fits every prompt. Other words deny a permission, which is harmless.
  const isWord = looksLikeAnswer(text, open);
  const only = open.length === 1 && !(afterAnother && isWord) ? open[0] : undefined;
  const isReply = repliedTo !== undefined;
  const meant = isReply ? open.find(({ messageId }) => messageId === repliedTo) : only;
  if (!live || meant === undefined || meant.messageId === '' || !isNewer(id, meant.messageId)) return undefined;
  // What comes after the first question of a message has its own rule (`changed`).
  const isUnread = meant.question <= 1 && isSudden(meant.messageId, id);
  return !isReply && isWord && isUnread ? undefined : meant;
}

const WORDS =
  /^(?:allow|always|always allow|yes|y|yep|yeah|ok|okay|sure|approve|accept|go|no|n|nope|deny|reject|submit|start again|cancel|\d{1,2})$/i;

/** True for a known word, a number, a label of an open prompt, or several of them separated by commas. */
export function looksLikeAnswer(text: string, open: readonly ShownPrompt[]): boolean {
  const labels = new Set(open.flatMap((prompt) => prompt.labels).map(bare));
  const isOne = (part: string) => WORDS.test(part) || labels.has(part);
  const words = bare(text);
  return open.length > 0 && (isOne(words) || words.split(',').map(bare).every(isOne));
}

/** Where an answer was given: it counts only on the prompt's own message in its own thread. */
export interface AnsweredOn {
  readonly thread: string;
  readonly message: string;
}

export function isOwnMessage(given: AnsweredOn, own: AnsweredOn): boolean {
  return given.thread === own.thread && given.message === own.message;
}

/** Ignores case, a leading number and trailing punctuation. */
function bare(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^\d{1,3}\. /, '')
    .replace(/[.!…]{1,3}$/, '');
}

// The custom id of a prompt's button: the prompt's id and the action. The prompt's id is random and belongs to one waiting
// hook, so it cannot be guessed; the rest is not secret.

const CUSTOM_ID = /^p:([\w-]{22,32}):(~?)([a-z]+)(?::(\d{1,3}\.\d{1,3}|[\w-]{22}))?$/;

export interface Tap {
  readonly prompt: string;
  readonly action: string;
  /** The question and the option, as `optionValue` writes them, or for Submit the answers, as `answersValue` does. */
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
