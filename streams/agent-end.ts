// How a turn ended: what became of its prompt, and the words that say so. Pure.

import { duration } from '../core/duration.ts';
import { advice } from '../core/outside-words.ts';
import type { Due } from './agent-due.ts';
import { type Ended, failureReason, lastWords } from './agent-text.ts';

type End = Pick<Due, 'words' | 'silent' | 'turn'>;

const RESTARTED = '⚠️ The bridge was restarted while this turn ran, and the turn ended with it.';
const LOST = /No conversation found with session ID/;
const NEW = '-# The earlier conversation was gone: this is a new one.';

export const CUT_OFF: End = {
  words: `${RESTARTED}\n-# The conversation is kept: write to go on.`,
  silent: false,
  turn: { kind: 'failed', because: 'it was cut off' },
};

/** `isCut`: it did not end by itself, but with us. `isNew`: the conversation it should have gone on with was gone. */
export function endOf(ended: Ended & { readonly isCut: boolean }, isNew: boolean): End {
  if (ended.isCut) return CUT_OFF;
  const because = failureReason(ended);
  const words = lastWords(ended, isNew ? NEW : '');
  const turn: End['turn'] = because === undefined ? { kind: 'done' } : { kind: 'failed', because };
  return { words, silent: false, turn };
}

export function isLost(ended: Ended | undefined): boolean {
  return ended !== undefined && LOST.test(failureReason(ended) ?? '');
}

export function stopped(afterMs: number, dropped: number): End {
  const words = `⏹️ Stopped after ${duration(afterMs)}.${droppedNote(dropped)}`;
  return { words, silent: true, turn: { kind: 'stopped' } };
}

function droppedNote(dropped: number): string {
  if (dropped === 0) return '';
  return dropped === 1
    ? ' The message that waited was dropped.'
    : ` ${dropped} messages that waited were dropped.`;
}

export function notStarted(error: Error): End {
  const words = `⚠️ The agent could not be started: ${advice(error)}`;
  return { words, silent: false, turn: { kind: 'failed', because: error.message } };
}
