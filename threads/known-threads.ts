// The threads that count: under a channel of ours and made by our bot. Messages name only the
// thread's id, so what we know of each is kept here and asked for when it is missing.

import { channelSchema, type DiscordChannel } from '../discord/payloads.ts';
import type { Rest } from '../discord/rest.ts';
import { getThread, ourThread, type ThreadChannel, type ThreadRef } from '../discord/threads.ts';

export interface KnownThreads {
  readonly rest: Rest;
  /** What the gateway tells of a thread. */
  hear(channel: unknown): ThreadRef | undefined;
  /** One that we made or found ourselves. */
  learn(thread: ThreadRef): void;
  forget(id: string): void;
  find(id: string): Promise<ThreadRef | undefined>;
  all(): readonly ThreadRef[];
}

/** Other people's threads are remembered as such, but not for ever. */
const FOREIGN_KEPT = 1_000;

export function createKnownThreads(rest: Rest, places: readonly ThreadChannel[]): KnownThreads {
  const ours = new Map<string, ThreadRef>();
  const foreign = new Set<string>();
  const ask = new Map<string, Promise<ThreadRef | undefined>>();

  function hear(data: unknown): ThreadRef | undefined {
    const channel: DiscordChannel | undefined = channelSchema.safeParse(data).data;
    if (channel === undefined) return undefined;
    const thread = places.flatMap((place) => ourThread(place, channel))[0];
    if (thread === undefined) ours.delete(channel.id);
    else ours.set(thread.id, thread);
    return thread;
  }

  async function fetch(id: string): Promise<ThreadRef | undefined> {
    for (const place of places) {
      const thread = await getThread(place, id);
      if (thread !== undefined) {
        ours.set(id, thread);
        return thread;
      }
    }
    if (foreign.size >= FOREIGN_KEPT) foreign.clear();
    foreign.add(id);
    return undefined;
  }

  return {
    rest,
    hear,
    learn: (thread) => void ours.set(thread.id, thread),
    forget: (id) => void ours.delete(id),
    all: () => [...ours.values()],
    async find(id) {
      if (foreign.has(id)) return undefined;
      const known = ours.get(id);
      if (known !== undefined) return known;
      const asked = ask.get(id) ?? fetch(id).finally(() => ask.delete(id));
      ask.set(id, asked);
      return asked;
    },
  };
}
