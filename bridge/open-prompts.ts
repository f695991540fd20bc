// Which prompts are open in a thread. The hook that waits for one posted it with buttons and takes
// them away at its end, so the thread itself tells, whichever host the hook runs on.

import type { ShownPrompt } from '../core/prompt-answer.ts';
import { promptOfMessage } from '../core/prompt-id.ts';
import { byAge } from '../core/snowflake.ts';
import { messageSchema } from '../discord/payloads.ts';
import type { Rest } from '../discord/rest.ts';

export interface OpenPrompts {
  /** Called with every message made or changed. */
  heard(data: unknown): void;
  /** Those that had their buttons at this moment (of `performance.now`), as they were shown then. Oldest first. */
  find(threadId: string, at: number): Promise<readonly ShownPrompt[]>;
  /** It turned out to be over. */
  forget(threadId: string, prompt: string): void;
}

/** What a message showed from a moment on; undefined: no prompt. */
interface Version {
  readonly from: number;
  readonly prompt: ShownPrompt | undefined;
}

type Thread = Map<string, readonly Version[]>;

/** A prompt further up has been talked past long ago. */
const LOOKED_THROUGH = 50;
const KEPT_VERSIONS = 8;
/** No message waits so long between its arrival and the question which prompts were open then. */
const KEPT_MS = 10 * 60_000;

export function createOpenPrompts(rest: Rest, botId: string): OpenPrompts {
  // A promise, so that nothing heard while it is read gets lost.
  const threads = new Map<string, Promise<Thread>>();

  /** What was posted before we listened. */
  async function read(threadId: string): Promise<Thread> {
    const raw = await rest.call('GET', `/channels/${threadId}/messages?limit=${LOOKED_THROUGH}`);
    const ours = messageSchema
      .array()
      .parse(raw)
      .filter(({ author }) => author.id === botId);
    const thread: Thread = new Map();
    for (const message of ours.sort(byAge)) note(thread, message.id, promptOfMessage(message), 0);
    return thread;
  }

  const later = (threadId: string, act: (thread: Thread) => void) =>
    void threads.get(threadId)?.then(act, () => {}); // whoever asked for it is told

  return {
    heard(data) {
      const message = messageSchema.safeParse(data).data;
      if (message?.author.id !== botId) return;
      const now = performance.now();
      later(message.channel_id, (thread) =>
        note(thread, message.id, promptOfMessage(message), now),
      );
    },
    async find(threadId, at) {
      const reading = threads.get(threadId) ?? read(threadId);
      threads.set(threadId, reading);
      reading.catch(() => threads.delete(threadId));
      return [...(await reading).values()].flatMap(
        (versions) => versions.findLast(({ from }) => from <= at)?.prompt ?? [],
      );
    },
    forget(threadId, prompt) {
      const now = performance.now();
      later(threadId, (thread) => {
        for (const [id, versions] of thread)
          if (versions.at(-1)?.prompt?.id === prompt) note(thread, id, undefined, now);
      });
    },
  };
}

function note(thread: Thread, id: string, prompt: ShownPrompt | undefined, from: number): void {
  const before = thread.get(id) ?? [];
  if (prompt === undefined && before.length === 0) return;
  thread.set(id, [...before, { from, prompt }].slice(-KEPT_VERSIONS));
  for (const [other, versions] of thread) {
    const last = versions.at(-1);
    if (last?.prompt === undefined && from - (last?.from ?? 0) > KEPT_MS) thread.delete(other);
  }
}
