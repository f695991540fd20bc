// Which open prompt a written text answers, if any. Pure. A word grants only the prompt that was on the person's screen
// when it was written; when that is not certain, the text changes nothing.

import { isNewer } from './snowflake.ts';

/** A prompt as its message in the thread shows it. */
export interface ShownPrompt {
  readonly id: string;
  /** Empty while it is being posted: it may be on the screen already. */
  readonly messageId: string;
  /** The question that is shown now, counted from one; 0: none. */
  readonly question: number;
  readonly labels: readonly string[];
}

export interface Written {
  readonly id: string;
  readonly text: string;
  readonly repliedTo: string | undefined;
  /** Received from the gateway the moment it was written; not missed, repeated or left by an earlier process. */
  readonly live: boolean;
}

export type TextMeaning =
  | { readonly kind: 'answer'; readonly prompt: ShownPrompt }
  /** It looks like an answer, but not certainly to a prompt that is open: the person has to tap. */
  | { readonly kind: 'unclear' }
  | { readonly kind: 'message' };

export function textMeaning(written: Written, open: readonly ShownPrompt[]): TextMeaning {
  const prompt = promptMeant(written, open);
  if (prompt !== undefined) return { kind: 'answer', prompt };
  return { kind: looksLikeAnswer(written.text, open) ? 'unclear' : 'message' };
}

function promptMeant(
  { id, repliedTo, live }: Written,
  open: readonly ShownPrompt[],
): ShownPrompt | undefined {
  const only = open.length === 1 ? open[0] : undefined;
  const meant =
    repliedTo === undefined ? only : open.find(({ messageId }) => messageId === repliedTo);
  if (!live || meant === undefined || meant.messageId === '') return undefined;
  return isNewer(id, meant.messageId) ? meant : undefined;
}

const WORDS =
  /^(?:allow|always|always allow|yes|y|yep|yeah|ok|okay|sure|approve|accept|go|no|n|nope|deny|reject|submit|start again|cancel|\d{1,2})$/i;

/** A word, a number or a label of an open prompt, or several of them with commas. */
export function looksLikeAnswer(text: string, open: readonly ShownPrompt[]): boolean {
  const labels = new Set(open.flatMap((prompt) => prompt.labels).map(bare));
  const isOne = (part: string) => WORDS.test(part) || labels.has(part);
  const words = bare(text);
  return open.length > 0 && (isOne(words) || words.split(',').map(bare).every(isOne));
}

/** Where a tap or a text was given: an answer counts only on the prompt's own message in its own thread. */
export interface AnsweredOn {
  readonly thread: string;
  readonly message: string;
}

export function isOwnMessage(given: AnsweredOn, own: AnsweredOn): boolean {
  return given.thread === own.thread && given.message === own.message;
}

/** Without case, a number in front, and what people put behind a word. */
function bare(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^\d{1,3}\. /, '')
    .replace(/[.!…]{1,3}$/, '');
}
