// The open interactions: who asked what, until when it may be answered, and what it was answered with. Forgotten on restart.

import { randomBytes } from 'node:crypto';
import type { Modal } from './component-schema.ts';
import type { StoredMessage } from './storage/store.ts';

export const ANSWER_WITHIN_MS = 3000;
const FOLLOW_UP_WITHIN_MS = 15 * 60_000;

interface MessageRef {
  readonly channel: string;
  readonly id: string;
}

export interface OpenInteraction {
  readonly id: string;
  readonly token: string;
  readonly type: 2 | 3 | 4 | 5;
  readonly channelId: string;
  readonly startedAt: number;
  /** The person's own mark, given back with the outcome. */
  readonly nonce: string | undefined;
  readonly name: string | undefined;
  /** The message whose button, select or modal this came from. */
  readonly source: MessageRef | undefined;
  /** The callback's type, once there was one. */
  answered: number | undefined;
  original: MessageRef | undefined;
  modal: Modal | undefined;
}

export interface OpenInteractions {
  /** Messages only the person sees; they live as long as the server. */
  readonly ephemeral: Map<string, StoredMessage>;
  open(start: Pick<OpenInteraction, 'id' | 'type' | 'channelId' | 'nonce' | 'name' | 'source'>): OpenInteraction;
  byId(id: string): OpenInteraction | undefined;
  byToken(token: string): OpenInteraction | undefined;
  close(): void;
}

/** `onLate` hears of interactions that nobody answered in time. */
export function makeOpenInteractions(onLate: (interaction: OpenInteraction) => void): OpenInteractions {
  const open = new Map<string, OpenInteraction>();
  const timers = new Set<NodeJS.Timeout>();
  const later = (ms: number, act: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, ms);
    timers.add(timer.unref());
  };
  return {
    ephemeral: new Map(),
    open(start) {
      const token = randomBytes(48).toString('base64url');
      const interaction: OpenInteraction = {
        ...start,
        token,
        startedAt: Date.now(),
        answered: undefined,
        original: undefined,
        modal: undefined,
      };
      open.set(interaction.id, interaction);
      later(ANSWER_WITHIN_MS, () => {
        if (interaction.answered === undefined) onLate(interaction);
      });
      later(FOLLOW_UP_WITHIN_MS, () => open.delete(interaction.id));
      return interaction;
    },
    byId: (id) => open.get(id),
    byToken: (token) => [...open.values()].find((interaction) => interaction.token === token),
    close() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
