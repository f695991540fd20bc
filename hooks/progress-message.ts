// The message that shows what runs now, one per turn. Saved on disk: if the process is killed, the next one continues with
// the same message.

import { join } from 'node:path';
import * as z from 'zod';
import { stableNonce } from '../core/snowflake.ts';
import { UNKNOWN_MESSAGE } from '../discord/error-codes.ts';
import { createMessage, deleteMessage, editMessage, refusedWith } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { unarchiveAndRetry } from '../discord/threads.ts';
import { readJson, writeBestEffort } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';

const turnSchema = z.object({
  thread: z.string(),
  /** The message of the line; empty before it is posted. */
  message: z.string().default(''),
  /** How often the line was posted: it moves below new texts. */
  posts: z.number().default(0),
  /** It was being posted: it may be there, although its message is not known. */
  isPosting: z.boolean().optional(),
  since: z.number(),
  host: z.string().default(''),
  tmux: z.string().default(''),
  pane: z.string().default(''),
  directory: z.string().default(''),
  cwd: z.string().default(''),
  agent: z.string().default('claude'),
  claudeSession: z.string().default(''),
  transcript: z.string().default(''),
  promptId: z.string().optional(),
});

/** A turn that runs, with all that is needed to follow it. */
export type TurnRecord = Readonly<z.output<typeof turnSchema>>;

export function openProgressLines(home: Home) {
  const path = join(home.folder('state'), 'progress.json');
  const turns = new Map<string, TurnRecord>(Object.entries(readJson(path, z.record(z.string(), turnSchema)) ?? {}));
  const save = () => writeBestEffort(path, Object.fromEntries(turns));

  function put(key: string, turn: TurnRecord): void {
    turns.set(key, turn);
    save();
  }

  function drop(key: string): void {
    turns.delete(key);
    save();
  }

  /** The nonce counts the posts: a line that was posted just before a crash is found again. */
  async function post(key: string, turn: TurnRecord, rest: Rest, content: string): Promise<string> {
    const nonce = stableNonce('progress', turn.thread, turn.promptId ?? '', turn.since, turn.posts);
    put(key, { ...turn, message: '', isPosting: true });
    const created = await createMessage(rest, turn.thread, nonce, { content, silent: true }, NOT_AGAIN);
    const message = created?.id ?? '';
    if (turns.has(key)) put(key, { ...turn, message, posts: turn.posts + 1, isPosting: false });
    return message;
  }

  return {
    get: (key: string) => turns.get(key),
    all: () => [...turns],
    put,
    drop,
    /** Posts or edits the line; `move` deletes it and posts it again below. */
    async show(key: string, rest: Rest, content: string, move: boolean): Promise<void> {
      const turn = turns.get(key);
      if (turn === undefined) return;
      const { thread, message } = turn;
      if (message !== '' && !move) {
        const isThere = await editMessage(rest, thread, message, { content }, NOT_AGAIN).then(
          () => true,
          (error: unknown) => {
            if (refusedWith(error, UNKNOWN_MESSAGE)) return false;
            throw error;
          },
        );
        if (isThere) return;
      }
      if (message !== '') await deleteMessage(rest, thread, message, NOT_AGAIN);
      await post(key, turn, rest, content);
    },
    /** The turn is over: edits the line. If there is none, `content` is posted only if `isNeeded`. */
    async finish(key: string, rest: Rest, content: string, isNeeded: boolean): Promise<void> {
      const turn = turns.get(key);
      if (turn === undefined) return;
      try {
        const isUnknown = turn.message === '' && turn.isPosting;
        const message = isUnknown ? await post(key, turn, rest, content) : turn.message;
        if (message !== '') await editLast(rest, turn.thread, message, content);
        else if (isNeeded) await post(key, turn, rest, content);
      } finally {
        drop(key); // last: if the process is killed before, the next one finishes the line
      }
    },
  };
}

/** The thread may be archived, because the session was closed while it worked. */
async function editLast(rest: Rest, thread: string, message: string, content: string): Promise<void> {
  const edit = () => editMessage(rest, thread, message, { content });
  await unarchiveAndRetry(rest, thread, edit, { archiveAgain: true });
}

/** A line that is late is worth nothing. */
const NOT_AGAIN = { patienceMs: 0 };
