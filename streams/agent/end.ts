// How a turn ended: what became of its prompt, and the words that say so. Pure.

import { formatDuration } from '../../core/duration.ts';
import { untrustedHint } from '../../core/untrusted-text.ts';
import { failureReason, lastWords, type TurnEnd } from './document.ts';
import type { UnpostedTurn } from './unposted.ts';

type AgentEnd = Pick<UnpostedTurn, 'words' | 'silent' | 'turn'>;

const RESTARTED = '⚠️ The bridge was restarted while this turn ran, and the turn ended with it.';
const LOST = /No conversation found with session ID/;
const NEW = '-# The earlier conversation was gone: this is a new one.';

export const CUT_OFF: AgentEnd = {
  words: `${RESTARTED}\n-# The conversation is kept: write to go on.`,
  silent: false,
  turn: { kind: 'failed', because: 'it was cut off' },
};

/** `isCut`: it did not end by itself, but with us. `isNew`: the conversation it should have gone on with was gone. */
export function endOf(ended: TurnEnd & { readonly isCut: boolean }, isNew: boolean): AgentEnd {
  if (ended.isCut) return CUT_OFF;
  const because = failureReason(ended);
  const words = lastWords(ended, isNew ? NEW : '');
  const turn: AgentEnd['turn'] = because === undefined ? { kind: 'done' } : { kind: 'failed', because };
  return { words, silent: false, turn };
}

export function isLost(ended: TurnEnd | undefined): boolean {
  return ended !== undefined && LOST.test(failureReason(ended) ?? '');
}

export function stopped(afterMs: number, dropped: number): AgentEnd {
  const words = `⏹️ Stopped after ${formatDuration(afterMs)}.${droppedNote(dropped)}`;
  return { words, silent: true, turn: { kind: 'stopped' } };
}

function droppedNote(dropped: number): string {
  if (dropped === 0) return '';
  return dropped === 1 ? ' The message that waited was dropped.' : ` ${dropped} messages that waited were dropped.`;
}

export function notStarted(error: Error): AgentEnd {
  const words = `⚠️ The agent could not be started: ${untrustedHint(error)}`;
  return { words, silent: false, turn: { kind: 'failed', because: error.message } };
}
