// The scheduled messages of one server, in one file. Durable when a function returns; it throws if the file cannot be written,
// and nothing has changed then.

import * as z from 'zod';
import { readJson, writeJson } from '../home/atomic-write.ts';

const ruleSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('once'), at: z.number() }),
  z.object({ kind: z.literal('days'), days: z.array(z.number()).readonly(), hour: z.number(), minute: z.number() }),
  z.object({ kind: z.literal('interval'), from: z.number(), everyMs: z.number().min(1_000) }),
]);

const scheduledSchema = z.object({
  /** Never used twice: an old Cancel button must not cancel another message. */
  id: z.number(),
  /** The message or slash command that asked for it. */
  origin: z.string(),
  thread: z.string(),
  authorId: z.string(),
  author: z.string(),
  text: z.string(),
  rule: ruleSchema,
  due: z.number(),
  /** Set before it is posted: after a crash, the message is looked for from then on. */
  postingSince: z.number().optional(),
  /** The message that was posted; it may not be in the inbox yet. */
  posted: z.string().optional(),
  /** The last message that was sent. */
  last: z.string().optional(),
  /** The user was told that the session has ended. */
  toldEnded: z.boolean().default(false),
  /** Sent only while this usage limit counts; see usage-limits.ts. */
  limit: z.string().optional(),
});
export type ScheduledMessage = Readonly<z.output<typeof scheduledSchema>>;

const fileSchema = z.object({ lastId: z.number(), messages: z.array(scheduledSchema) });

export function openScheduleStore(path: string) {
  let { lastId, messages }: z.output<typeof fileSchema> = readJson(path, fileSchema) ?? { lastId: 0, messages: [] };

  function save(now: readonly ScheduledMessage[], id = lastId): void {
    const sorted = now.toSorted((a, b) => a.due - b.due || a.id - b.id);
    writeJson(path, { lastId: id, messages: sorted });
    [lastId, messages] = [id, sorted];
  }

  return {
    /** The next one first. */
    all: (): readonly ScheduledMessage[] => messages,
    get: (id: number): ScheduledMessage | undefined => messages.find((one) => one.id === id),
    add(message: Omit<ScheduledMessage, 'id' | 'toldEnded'>): ScheduledMessage {
      const added = { ...message, id: lastId + 1, toldEnded: false };
      save([...messages, added], added.id);
      return added;
    },
    /** Undefined if there is none with this id. */
    change(id: number, to: Partial<ScheduledMessage>): ScheduledMessage | undefined {
      const before = messages.find((one) => one.id === id);
      if (before === undefined) return undefined;
      const changed = { ...before, ...to };
      save(messages.map((one) => (one.id === id ? changed : one)));
      return changed;
    },
    remove(id: number): void {
      if (messages.some((one) => one.id === id)) save(messages.filter((one) => one.id !== id));
    },
  };
}
