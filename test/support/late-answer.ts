// The bot gets the answer to a request only when the test says so. The server has carried it out before, and everybody sees it, or
// (`apply-late`) carries it out only then.

import { onTestFinished } from 'vitest';
import type { Faults, FaultyRequest } from './as-discord.mjs';

export interface LateAnswer {
  readonly faults: Faults;
  /** From now on, the next request of this kind is answered late. */
  hold(): void;
  /** Whether it has arrived. */
  isHeld(): boolean;
  answerNow(): void;
}

/** `isIt`: the kind of request. */
export function lateAnswer(
  isIt: (request: FaultyRequest) => boolean,
  { atOnce = true, kind = 'answer-late' as 'answer-late' | 'apply-late' } = {},
): LateAnswer {
  let answerNow = () => {};
  const over = new Promise<void>((resolve) => {
    answerNow = resolve;
  });
  let state: 'idle' | 'wanted' | 'held' = atOnce ? 'wanted' : 'idle';
  onTestFinished(answerNow);
  return {
    hold() {
      state = 'wanted';
    },
    isHeld: () => state === 'held',
    answerNow,
    faults: {
      onRequest(request) {
        if (state !== 'wanted' || request.actor === 'person' || !isIt(request)) return undefined;
        state = 'held';
        return { kind, over };
      },
    },
  };
}

export const isPost = (text: string) => (request: FaultyRequest) =>
  request.method === 'POST' && request.path.endsWith('/messages') && JSON.stringify(request.body ?? '').includes(text);

export const isNewThread = ({ method, path }: FaultyRequest) => method === 'POST' && path.endsWith('/threads');
