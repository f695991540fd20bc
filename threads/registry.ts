// The registry: all thread records, in memory and on disk. One process writes it. A failed write (full disk) is tried
// again; until then the memory is right.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { settingsSchema } from '../core/session-settings.ts';
import { readJson, removeBestEffort, writeBestEffort } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import { limitSchema } from './limit-record.ts';
import { createLiveIndex, type SessionIds } from './live-index.ts';
import { removeReportedReply } from './reported-reply.ts';

export interface Registry {
  get(thread: string): ThreadRecord | undefined;
  all(): readonly ThreadRecord[];
  /** The thread of a tmux session, whatever its name is now. */
  ofSession(host: string, session: SessionIds): ThreadRecord | undefined;
  ofPane(host: string, serverPid: number, paneId: string): ThreadRecord | undefined;
  put(record: ThreadRecord): void;
  /** Undefined if there is no such thread. */
  change(thread: string, to: Partial<ThreadRecord>): ThreadRecord | undefined;
  forget(thread: string): void;
  /** Called after each change. */
  onChange(listener: (now: ThreadRecord, before: ThreadRecord | undefined) => void): void;
  /** Removes records of sessions that closed long ago. */
  sweep(now?: number): void;
}

const CLOSED_KEPT_MS = 30 * 86_400_000;
const KEPT = 2_000;

export function openRegistry(home: Home): Registry {
  const records = new Map(loadThreadRecords(home).map((record) => [record.thread, record]));
  const path = (thread: string) => join(home.folder('threads'), `${thread}.json`);
  const newestFirst = () => [...records.values()].sort((a, b) => b.at - a.at);
  const index = createLiveIndex(records.values(), sessionKey);
  const listeners: ((now: ThreadRecord, before: ThreadRecord | undefined) => void)[] = [];

  function set(record: ThreadRecord): void {
    const before = records.get(record.thread);
    records.set(record.thread, record);
    index.set(record, before);
    writeBestEffort(path(record.thread), record);
    for (const listener of listeners) listener(record, before);
  }

  function forget(thread: string): void {
    index.set(undefined, records.get(thread));
    if (!records.delete(thread)) return;
    removeBestEffort(path(thread));
    removeReportedReply(home, thread);
  }

  return {
    get: (thread) => records.get(thread),
    all: () => [...records.values()],
    ofSession: index.ofSession,
    ofPane: index.ofPane,
    put: set,
    onChange: (listener) => void listeners.push(listener),
    change(thread, to) {
      const record = records.get(thread);
      if (record === undefined) return undefined;
      const changed = { ...record, ...to };
      set(changed);
      return changed;
    },
    forget,
    sweep(now = Date.now()) {
      const closed = newestFirst().filter((one) => one.closed);
      for (const [at, { thread }] of closed.entries()) {
        const written = statSync(path(thread), { throwIfNoEntry: false })?.mtimeMs ?? now;
        if (now - written > CLOSED_KEPT_MS || at >= KEPT) forget(thread);
      }
    },
  };
}

// The record of one thread: its session and pane, what was posted and what was typed. One file per thread. Only the
// process with the courier's lock writes them.

const deliverySchema = z.object({
  /** The id that marks the pane: that of the message, or of its Retry. */
  id: z.string(),
  message: z.string(),
  /** The text as it was typed, without the files. */
  words: z.string(),
  /** The paths of the message's files, as they were typed. */
  paths: z.array(z.string()).readonly().default([]),
  at: z.number(),
  state: z.enum(['typed', 'submitted', 'unconfirmed']),
  /** The letter that confirmed it: a letter that is read twice confirms nothing twice. */
  receipt: z.string().default(''),
  /** When that letter was written. */
  submittedAt: z.number().default(0),
  /** The message that says it is not confirmed, or NO_NOTICE if only ⚠️ was set; empty if nothing was said. */
  notice: z.string().default(''),
});
/** The message has ⚠️, but the notice could not be posted. */
export const NO_NOTICE = '-';
export type DeliveryRecord = Readonly<z.output<typeof deliverySchema>>;

/** The message that stands for the dialog in the pane. */
const dialogCardSchema = z.object({
  /** Written before the message is posted, and part of its nonce: there is never a second one. */
  id: z.string(),
  /** Which dialog it is for. */
  print: z.string(),
  which: z.string(),
  title: z.string(),
  /** Empty until it is posted. */
  message: z.string().default(''),
  /** Somebody tapped, and the dialog has not gone yet. */
  answer: z.object({ label: z.string(), by: z.string() }).readonly().optional(),
});
export type DialogCard = Readonly<z.output<typeof dialogCardSchema>>;

const postedSchema = z.object({ letter: z.string(), pane: z.string(), messages: z.array(z.string()).readonly() });
export type PostedPart = Readonly<z.output<typeof postedSchema>>;

export const threadRecordSchema = z.object({
  thread: z.string(),
  /** The name of the server in the configuration. */
  server: z.string().default(''),
  channel: z.string().default(''),
  title: z.string().default(''),
  host: z.string(),
  socket: z.string(),
  serverPid: z.number(),
  paneId: z.string(),
  panePid: z.number(),
  sessionId: z.string(),
  sessionName: z.string(),
  /** The name of a grouped session changes with its newest member; the group does not. */
  group: z.string().optional(),
  /** The program in the foreground when the hook ran: the agent. */
  command: z.string(),
  cwd: z.string(),
  /** How we started the session; see `startedText`. Undefined if somebody else did. */
  started: z.string().optional(),
  /** The directory of the agent's project, in which its conversation can be continued. */
  project: z.string().optional(),
  /** The name of the agent that runs there, or would be started: that of the driver. */
  agent: z.string().default('claude'),
  /** Empty until a hook of the agent has reported. */
  claudeSession: z.string(),
  transcript: z.string(),
  state: z.enum(['working', 'waiting', 'idle', 'ended']),
  /** What runs there: an agent ('no'), a shell that `!new` started or that was found, or a terminal that streams. */
  shell: z.enum(['no', 'ours', 'found', 'terminal']).default('no'),
  at: z.number(),
  /** Messages up to this one do not belong to a letter that must still be posted. */
  last: z.string().default('0'),
  /** The last completely posted letters, oldest first. */
  posted: z.array(postedSchema).readonly().default([]),
  /** Messages typed into the pane, oldest first. */
  deliveries: z.array(deliverySchema).readonly().default([]),
  /** The last prompts that the agent submitted, oldest first; see submitted-prompts.ts. */
  submitted: z
    .array(z.object({ letter: z.string(), print: z.string(), at: z.number() }))
    .readonly()
    .optional(),
  /** When the agent last ended a turn. */
  stoppedAt: z.number().default(0),
  /** When a turn of the agent last ended with an error. */
  failedAt: z.number().optional(),
  /** Who archived the thread. A thread that a user archived stays so until its session posts or a user writes. */
  archived: z.enum(['no', 'us', 'person']).default('no'),
  /** The session is closed. */
  closed: z.boolean().default(false),
  /** It is closed, but its thread may not say so, or is not archived yet. */
  ending: z.boolean().default(false),
  /** A user deleted the thread. */
  deleted: z.boolean().default(false),
  /** The user was told that replies do not appear, because the agent runs without our hooks. */
  toldUnheard: z.boolean().default(false),
  dialog: dialogCardSchema.readonly().optional(),
  /** The session talks in the channel itself (`talk` of its project): `thread` is the channel's id, and nothing is renamed or archived. */
  inChannel: z.boolean().default(false),
  /** A user created the thread by hand. 'new': its first message was not looked for yet. 'named': it was renamed, once. */
  adopted: z.enum(['no', 'new', 'yes', 'named']).default('no'),
  /** The last usage limit that stopped the agent. */
  limit: limitSchema.readonly().optional(),
  /** What was last known of the repository and the agent. On this machine, the agent's own file tells the model and the context. */
  told: z
    .object({ branch: z.string(), isWorktree: z.boolean(), model: z.string(), context: z.number() })
    .partial()
    .readonly()
    .optional(),
  /** What a user has set for this thread. */
  settings: settingsSchema.readonly().optional(),
});
export type ThreadRecord = Readonly<z.output<typeof threadRecordSchema>>;

export function loadThreadRecord(home: Home, thread: string): ThreadRecord | undefined {
  return readJson(join(home.folder('threads'), `${thread}.json`), threadRecordSchema);
}

export function loadThreadRecords(home: Home): readonly ThreadRecord[] {
  const folder = home.folder('threads');
  return readdirSync(folder)
    .filter((name) => /^\d+\.json$/.test(name))
    .flatMap((name) => readJson(join(folder, name), threadRecordSchema) ?? []);
}

/** Grouped sessions are one session with several views. */
export function sessionKey(session: SessionIds): string {
  return `${session.serverPid}:${session.group ?? session.sessionId}`;
}
