// Slash commands and forms that are being carried out. Discord sends each once, so the next process cannot repeat one that a killed
// process had begun: it tells the user, who would wait for nothing.

import * as z from 'zod';
import { followUpPrivately, type Interaction } from '../discord/interactions.ts';
import { readJson, writeBestEffort } from '../home/atomic-write.ts';
import type { ServerParts } from './bridge-options.ts';

export interface UnfinishedInteractions {
  during(interaction: Interaction, act: () => Promise<void>): Promise<void>;
  /** Tells of those that an earlier process has left. Never rejects. */
  takeUp(): Promise<void>;
}

const begunSchema = z.object({ id: z.string(), application_id: z.string(), token: z.string(), at: z.number() });
type BegunInteraction = Readonly<z.output<typeof begunSchema>>;

/** After this time, Discord takes no answer any more. */
const ANSWERED_WITHIN_MS = 15 * 60_000;

export function openUnfinishedInteractions({ rest, log, signal }: ServerParts, path: string): UnfinishedInteractions {
  const left = readJson(path, z.array(begunSchema).readonly()) ?? [];
  let all: readonly BegunInteraction[] = left;

  function keep(now: readonly BegunInteraction[]): void {
    all = now;
    writeBestEffort(path, all);
  }

  return {
    async during({ id, application_id, token }, act) {
      keep([...all, { id, application_id, token, at: Date.now() }]);
      try {
        await act();
      } finally {
        // If we are stopping, it may not be done.
        if (!signal.aborted) keep(all.filter((one) => one.id !== id));
      }
    },
    async takeUp() {
      for (const one of left) {
        const isTooLate = Date.now() - one.at > ANSWERED_WITHIN_MS;
        const tell = isTooLate ? Promise.resolve() : followUpPrivately(rest, one, INTERRUPTED);
        await tell.catch((error: Error) => log.info('telling of an interruption', { because: error.message }));
        if (!signal.aborted) keep(all.filter(({ id }) => id !== one.id));
      }
    },
  };
}

const INTERRUPTED =
  '⚠️ threadmux was restarted while it carried this out. Check what was done before you try it again: a text that has no ✅ was not sent.';
