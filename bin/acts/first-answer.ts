// Asks a person in the thread and in the terminal at the same time. The first answer counts, and closes the question in the other place.

import type { Home } from '../../home/home.ts';
import type { SessionPane } from '../../threads/session-threads.ts';
import { askInThread, type Question } from './own-thread.ts';

/** Resolves with undefined if it cannot be asked, or is not answered, in the terminal. Rejects when the signal is aborted. */
export type AskHere = (asked: Question, signal: AbortSignal) => Promise<string | undefined>;

interface FirstAnswer {
  /** Undefined if nobody answered in time. */
  readonly answer: string | undefined;
  readonly by: 'thread' | 'terminal';
}

export async function firstAnswer(
  session: SessionPane,
  asked: Question,
  home: Home,
  { here, signal: given }: { readonly here?: AskHere | undefined; readonly signal?: AbortSignal } = {},
): Promise<FirstAnswer> {
  const answered = new AbortController();
  const signal = given === undefined ? answered.signal : AbortSignal.any([given, answered.signal]);
  const there = askInThread(session, asked, home, signal).then((answer): FirstAnswer => ({ answer, by: 'thread' }));
  const both = [there, ...(here === undefined ? [] : [inTerminal(here(asked, signal), there)])];
  try {
    return await Promise.race(both);
  } finally {
    answered.abort();
    await there.catch(() => {}); // the question in the thread is closed before this process ends
  }
}

async function inTerminal(here: Promise<string | undefined>, there: Promise<FirstAnswer>): Promise<FirstAnswer> {
  const answer = await here;
  return answer === undefined ? there : { answer, by: 'terminal' };
}
