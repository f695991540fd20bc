// Ends a prompt: gives the answer to the hook, shows the end in the message, and checks the terminal.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../../agents/list.ts';
import { isThreadmuxError } from '../../core/errors.ts';
import { untrustedCode, untrustedReason } from '../../core/untrusted-text.ts';
import { keyButtons } from '../../discord/messages.ts';
import type { HookAnswers } from './hand-answer-to-hook.ts';
import type { PromptsOptions } from './locate.ts';
import { isListed } from './locate.ts';
import type { PromptMessages } from './post-prompt.ts';
import { isOfProgram, programAnswer } from './program-question.ts';
import type { OpenPrompt, PromptEnd, PromptFiles } from './prompt-record.ts';

export type TakenAnswer =
  | 'taken'
  /** It does not answer the question. */
  | 'no answer'
  /** The prompt has already ended. */
  | 'over'
  /** It is the decision, and the hook gets it as soon as possible. */
  | 'waits'
  /** It was the decision, but the hook was gone before it could take it. */
  | 'undelivered';

/** Follows the reason why an answer waits. */
export const KEEPS_TRYING = 'threadmux keeps trying to deliver your answer.';

interface PromptFinisherParts extends PromptsOptions {
  readonly answers: HookAnswers;
  readonly cards: PromptMessages;
  readonly store: PromptFiles;
  readonly signal: AbortSignal;
  /** Whether the same agent has asked something since. */
  readonly isAskedAgain: (one: OpenPrompt) => boolean;
}

const GIVE_AGAIN_MS = 5_000;
const CHECK_AFTER_MS = 5_000;
/** Another dialog with the same words has its own prompt by then. */
const CHECK_AGAIN_MS = 1_500;

export function createPromptFinisher(parts: PromptFinisherParts) {
  const { answers, cards, store, log, signal } = parts;

  /** Whether the dialog, or one that looks like it, is still there some time after the end. */
  async function isStillOpen(one: OpenPrompt): Promise<boolean> {
    const watched = parts.watch(one.record, one.input);
    for (const waitMs of [parts.checkAfterMs ?? CHECK_AFTER_MS, CHECK_AGAIN_MS]) {
      await sleep(waitMs, undefined, { signal }).catch(() => {});
      if (signal.aborted || parts.isAskedAgain(one) || !(await watched.isOnScreen())) return false;
    }
    return true;
  }

  return {
    /** True if the person who decided was removed from the list before the hook had the answer: the prompt is open again. */
    revoked(one: OpenPrompt): boolean {
      const { id, thread, ended, orders } = one.record;
      if (ended?.kind !== 'decided' || isListed(ended.by.id, thread, parts)) return false;
      log.info('a decision does not count any more', { id, because: 'not listed' });
      store.note(one, { ended: undefined, orders: orders.slice(0, -1) });
      return true;
    },
    /** Gives the decision to the hook, or lets it leave without one. Safe to repeat; `again` is called when it should be. */
    async act(one: OpenPrompt, ended: PromptEnd, again: () => void): Promise<Exclude<TakenAnswer, 'no answer'>> {
      const { id, host, orders, agent } = one.record;
      if (ended.kind !== 'decided') {
        answers.release(id);
        return 'over';
      }
      const output = isOfProgram(one.input)
        ? programAnswer(ended.decision)
        : driverOf(agent).answer(one.input, ended.decision);
      // What the agent does not understand is answered in the terminal.
      if (output === undefined) answers.release(id);
      const giving = output === undefined ? Promise.resolve('gone' as const) : answers.give(id, output);
      const given = await giving.catch((error: Error) => {
        log.info('an answer waits', { id, because: error.message });
        one.waitsBecause = whyItWaits(error, host);
        void parts.remote.untilBack(host, GIVE_AGAIN_MS, signal).then(() => signal.aborted || again());
        return 'waits' as const;
      });
      if (given !== 'gone') return given;
      store.note(one, { ended: { kind: 'called off' }, undelivered: orders.at(-1) ?? '' });
      return 'undelivered';
    },
    /** Shows the end; again if a crash happens before it is recorded. */
    async show(one: OpenPrompt): Promise<void> {
      const { id, headless, undelivered, ended = { kind: 'called off' } } = one.record;
      log.info('prompt is over', { id, how: ended.kind });
      // The hook may have been killed after it took the answer; then the dialog is still open.
      const mayStay = !headless && (ended.kind === 'decided' || ended.kind === 'called off');
      const looking = mayStay ? isStillOpen(one) : false;
      await cards.close(one, ended);
      let last: PromptEnd = ended;
      if (await looking) {
        const isGiven = ended.kind === 'decided' || undelivered !== '';
        last = { kind: isGiven ? 'not delivered' : 'abandoned' };
        log.warn('the dialog of a prompt is still open', { id });
        // Only "Screen": another command may begin like this one, and a key would answer that.
        await cards.close(one, last, [keyButtons()]);
      }
      if (signal.aborted) return;
      store.note(one, { input: {}, ended: last, shown: true });
      answers.clear(id);
    },
  };
}

function whyItWaits(error: Error, host: string): string {
  if (isThreadmuxError(error, 'host_unreachable')) return `${untrustedCode(host)} cannot be reached.`;
  const hint = isThreadmuxError(error) ? error.hint : undefined;
  return [`${untrustedReason(error)}.`, hint].filter(Boolean).join(' ');
}
