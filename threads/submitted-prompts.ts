// The last prompts that the agent of a thread has submitted, as the registry keeps them. A process that only reads the registry, such as
// `threadmux send`, finds the receipt of its own text here. Pure.

import { createHash } from 'node:crypto';
import type { ThreadRecord } from './registry.ts';

type Submitted = NonNullable<ThreadRecord['submitted']>;

const KEPT = 30;
/** Claude Code puts this mark in place of an image's path. */
const IMAGE = /\[Image #\d{1,4}\]/g;
const IMAGE_PATH = /\.(?:png|jpe?g|gif|webp)$/i;

/** Undefined if nothing changes: a letter counts once. */
export function withSubmitted(
  { submitted = [] }: Pick<ThreadRecord, 'submitted'>,
  prompts: readonly string[],
  letter: { readonly id: string; readonly writtenAt: number },
): Submitted | undefined {
  if (prompts.length === 0 || submitted.some((one) => one.letter === letter.id)) return undefined;
  const added = prompts.map((text) => ({ letter: letter.id, print: printOf(text), at: letter.writtenAt }));
  return [...submitted, ...added].slice(-KEPT);
}

/** The prompts of a turn that no hook has reported since the turn before. */
export function unreportedPrompts(
  { submitted = [], stoppedAt }: Pick<ThreadRecord, 'submitted' | 'stoppedAt'>,
  prompts: readonly string[],
): readonly string[] {
  const reported = submitted.filter(({ at }) => at > stoppedAt).map(({ print }) => print);
  return prompts.filter((text) => {
    const at = reported.indexOf(printOf(text));
    if (at >= 0) reported.splice(at, 1);
    return at < 0;
  });
}

/** How often this text was submitted. */
export function timesSubmitted(
  { submitted = [] }: Pick<ThreadRecord, 'submitted'>,
  text: string,
  since: number,
): number {
  const print = printOf(text);
  return submitted.filter((one) => one.print === print && one.at >= since).length;
}

function printOf(text: string): string {
  const words = visibleWordsOf(text.replace(IMAGE, ' ')).filter((word) => !IMAGE_PATH.test(word));
  return createHash('sha256').update(words.join(' ')).digest('base64url').slice(0, 22);
}

/** Prompts are compared by these: agents trim prompts, and some drop characters that cannot be seen. */
export function visibleWordsOf(text: string): readonly string[] {
  return text
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .split(/\s+/)
    .filter(Boolean);
}
