// Sends scheduled messages: the bot posts the text in the thread, and that message is typed like one that a user wrote. Each
// is sent once, also if the process is killed at any point: what was posted is stored before it is put into the inbox, and the
// next time is stored right after that.

import { ThreadmuxError } from '../core/errors.ts';
import { decideDue, nextTime } from '../core/schedule.ts';
import { snowflakeAt } from '../core/snowflake.ts';
import { untrustedLine, untrustedText } from '../core/untrusted-text.ts';
import { fullTime, localZone } from '../core/zoned-time.ts';
import { UNKNOWN_CHANNEL } from '../discord/error-codes.ts';
import { type MessageDraft, messagesAfter, refusedWith } from '../discord/messages.ts';
import { startButtons } from '../threads/ended-notice.ts';
import { mayContinue } from '../threads/limit-record.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { ServerParts } from './bridge-options.ts';
import type { DeclaredSessions } from './declared/declared-parts.ts';
import type { AcceptedMessage } from './inbox.ts';
import type { OwnMessages } from './own-messages.ts';
import { refusalReason } from './route.ts';
import { openScheduleStore, type ScheduledMessage } from './schedule-store.ts';

export interface Scheduled {
  /** Durable when it returns. Throws if there are too many. The same `origin` is added once. */
  add(message: Omit<ScheduledMessage, 'id' | 'toldEnded'>): ScheduledMessage;
  /** The next one first; without a thread, all of this server. */
  list(thread?: string): readonly ScheduledMessage[];
  /** Undefined if there is none, or it is just being sent. */
  cancel(id: number): ScheduledMessage | undefined;
  /** Before the inbox is taken up: puts in what a killed process has posted. */
  recover(): void;
  start(): void;
  close(): void;
}

interface ScheduledParts extends ServerParts {
  readonly path: string;
  readonly own: OwnMessages;
  readonly declared: DeclaredSessions;
  /** Types a message that is in the inbox. */
  readonly send: (message: AcceptedMessage) => void;
}

const MOST_PER_THREAD = 20;
const MOST = 200;
const LONGEST_PAUSE_MS = 20_000;
const AGAIN_MS = 10_000;
const SOON_MS = 1_000;
const CLOCKS_DIFFER_MS = 60_000;

export function createScheduled(parts: ScheduledParts): Scheduled {
  const { rest, threads, postNotice, own, declared, log } = parts;
  const store = openScheduleStore(parts.path);
  const running = new Set<number>();
  const notBefore = new Map<number, number>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function wake(): void {
    clearTimeout(timer);
    if (isClosed) return;
    const now = Date.now();
    for (const one of store.all()) {
      if (one.due > now || running.has(one.id) || (notBefore.get(one.id) ?? 0) > now) continue;
      running.add(one.id);
      void fire(one)
        .catch((error: Error) => failed(one, error))
        .finally(() => running.delete(one.id));
    }
    const next = Math.min(...store.all().map(({ id, due }) => Math.max(due, notBefore.get(id) ?? 0)));
    // The clock of the machine may be set, and a laptop may sleep.
    const pause = Math.min(LONGEST_PAUSE_MS, Math.max(50, next - now));
    timer = setTimeout(wake, running.size > 0 ? Math.min(pause, 1_000) : pause).unref();
  }

  function failed({ id, thread }: ScheduledMessage, error: Error): void {
    if (isClosed) return;
    log.warn('a scheduled message', { id, thread, because: error.message });
    notBefore.set(id, Date.now() + AGAIN_MS);
    if (refusedWith(error, UNKNOWN_CHANNEL)) store.remove(id);
  }

  async function fire(one: ScheduledMessage): Promise<void> {
    const record = threads.registry.get(one.thread);
    const stranger = refusalReason({ userId: one.authorId }, parts.server);
    if (record === undefined || record.deleted || stranger !== undefined) {
      log.info('a scheduled message was dropped', { id: one.id, because: stranger ?? 'its thread is gone' });
      return store.remove(one.id);
    }
    const isOfLimit = record.limit?.letter === one.limit && mayContinue(record.limit);
    // What was posted is also typed.
    if (one.limit !== undefined && one.posted === undefined && !isOfLimit) return store.remove(one.id);
    // A message in a channel that talks to a session starts it; "continue" does not.
    const isOver = record.closed && !(record.inChannel && one.limit === undefined);
    const isExpected = isOver && declared.isExpected({ host: record.host, name: record.sessionName });
    switch (decideDue({ due: one.due, now: Date.now(), isOver, isExpected })) {
      case 'wait':
        return void notBefore.set(one.id, Date.now() + SOON_MS);
      case 'ended':
        return ended(one, record);
      case 'missed':
        await tell(one, missedText(one));
        return advance(one);
      case 'send':
        return send(one, record);
    }
  }

  async function send(one: ScheduledMessage, record: ThreadRecord): Promise<void> {
    // It would be typed twice in a row when the session is free again.
    if (one.last !== undefined && own.isOpen(one.last)) return advance(one);
    const posted = one.posted ?? (await post(one));
    if (posted === undefined) return advance(one); // a user deleted it
    const kept = store.change(one.id, { posted });
    if (kept === undefined || isClosed) return;
    if (one.limit !== undefined && record.limit !== undefined)
      threads.registry.change(one.thread, { limit: { ...record.limit, state: 'over', sent: true } });
    const message = messageOf(kept, posted);
    own.put(message);
    advance(kept);
    parts.send(message);
  }

  async function post(one: ScheduledMessage): Promise<string | undefined> {
    const draft = { content: postedText(one), silent: true };
    const since = one.postingSince;
    if (since === undefined) store.change(one.id, { postingSince: rest.serverTime() });
    else {
      const after = await messagesAfter(rest, one.thread, snowflakeAt(Math.floor(since) - CLOCKS_DIFFER_MS));
      const found = after.find(({ author, content }) => author.id === parts.botId && content === draft.content);
      if (found !== undefined) return found.id;
    }
    return tell(one, draft);
  }

  async function ended(one: ScheduledMessage, record: ThreadRecord): Promise<void> {
    if (!one.toldEnded && one.limit === undefined) {
      await tell(one, endedText(one, record));
      await threads.archive(one.thread, { ended: record });
    }
    advance(one, { toldEnded: true });
  }

  const tell = (one: ScheduledMessage, draft: MessageDraft) =>
    postNotice(one.thread, ['schedule', one.id, one.due], draft);

  function advance(one: ScheduledMessage, to: Partial<ScheduledMessage> = { toldEnded: false }): void {
    const due = nextTime(one.rule, Math.max(one.due, Date.now()), localZone());
    if (due === undefined) return store.remove(one.id);
    const last = one.posted ?? one.last;
    store.change(one.id, { due, postingSince: undefined, posted: undefined, last, ...to });
  }

  return {
    add(message) {
      const all = store.all();
      const known = all.find((one) => one.origin === message.origin);
      if (known !== undefined) return known;
      const isFull =
        all.length >= MOST || all.filter(({ thread }) => thread === message.thread).length >= MOST_PER_THREAD;
      if (isFull && message.limit === undefined)
        throw new ThreadmuxError('bad_usage', 'There are too many scheduled messages already.', {
          hint: '`!schedule` lists them. Cancel one first.',
        });
      const added = store.add(message);
      wake();
      return added;
    },
    list: (thread) => store.all().filter((one) => one.limit === undefined && (thread ?? one.thread) === one.thread),
    cancel(id) {
      const one = store.get(id);
      if (one === undefined || running.has(id)) return undefined;
      store.remove(id);
      return one;
    },
    recover() {
      for (const one of store.all()) {
        if (one.posted === undefined) continue;
        own.put(messageOf(one, one.posted));
        advance(one);
      }
    },
    start: wake,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

function messageOf({ thread, authorId, author, text }: ScheduledMessage, id: string): AcceptedMessage {
  return { id, channelId: thread, authorId, author, text, attachments: [] };
}

function postedText({ text, author, due, limit }: ScheduledMessage): string {
  if (limit !== undefined) return `${text}\n-# ⏳ Sent by threadmux, because the usage limit was reset.`;
  return `${text}\n-# ⏰ Scheduled by ${untrustedText(author, 60)} for ${fullTime(due, localZone())}`;
}

function missedText({ text, due, rule }: ScheduledMessage): MessageDraft {
  const next = nextTime(rule, Date.now(), localZone());
  const then = next === undefined ? 'Send it yourself if it is still wanted.' : `Next: ${fullTime(next, localZone())}.`;
  const why = `It was due on ${fullTime(due, localZone())}, when threadmux was not running.`;
  return { content: `⏰ Not sent: “${untrustedLine(text, 100)}”. ${why} ${then}` };
}

function endedText({ text }: ScheduledMessage, record: ThreadRecord): MessageDraft {
  const components = startButtons(record);
  const hint = components.length === 0 ? ' `!new` in the channel starts another one.' : '';
  return { content: `⏰ Not sent, because the session has ended: “${untrustedLine(text, 100)}”.${hint}`, components };
}
