// Follows the transcript while a turn runs: one silent message, edited in place at most once a
// second, and the typing indicator. It is a courtesy: its failures never hold up a letter.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readTurn, type Turn } from '../claude/transcript.ts';
import type { FileSource } from '../core/file-source.ts';
import type { Log } from '../core/log.ts';
import { stableNonce } from '../core/nonce.ts';
import { createMessage, editMessage, showTyping } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { readJson } from '../home/files.ts';
import type { Home } from '../home/home.ts';
import { keep } from '../home/keep.ts';
import { type Level, progressText, summaryText } from './progress-text.ts';

interface Following {
  readonly key: string;
  readonly rest: Rest;
  readonly thread: string;
  readonly transcript: string;
  readonly promptId: string | undefined;
  readonly level: Level;
  /** Where the transcript is, if it is on another host: it is read less often. */
  readonly files?: FileSource;
  /** Whether Claude waits for a message, by what its pane shows; asked when the transcript is silent. */
  readonly isAtRest?: () => Promise<boolean>;
}

export interface Progress {
  begin(following: Following): void;
  /** Ends what is followed for this session, and turns its message into a line. */
  end(key: string, rest: Rest, how: 'done' | 'interrupted' | 'failed'): Promise<void>;
  isBusy(): boolean;
  close(): void;
}

export interface ProgressOptions {
  readonly home: Home;
  readonly log: Log;
  readonly editMs?: number;
  readonly firstMs?: number;
  readonly silentMs?: number;
}

const EDIT_MS = 1_000;
/** A turn that is over by then needs no progress. */
const FIRST_MS = 2_500;
const TYPING_MS = 8_000;
/** A transcript on another host is read at every so many edits. */
const REMOTE_EVERY = 3;
/** Claude may have been interrupted when it writes nothing for so long. */
const SILENT_MS = 3_000;
/** A turn that says nothing for so long has ended in a way nobody told us. */
const FORGOTTEN_MS = 3_600_000;

const storeSchema = z.record(
  z.string(),
  z.object({ thread: z.string(), message: z.string(), since: z.number() }),
);

interface Run {
  readonly since: number;
  stop(): void;
  /** The message is posted or edited by one call at a time. */
  idle: Promise<void>;
  turn: Turn | undefined;
}

export function createProgress({
  home,
  log,
  editMs = EDIT_MS,
  firstMs = FIRST_MS,
  silentMs = SILENT_MS,
}: ProgressOptions): Progress {
  const path = join(home.folder('state'), 'progress.json');
  // Kept on disk: a courier that was killed leaves a message behind that the next one has to end.
  const messages = new Map(Object.entries(readJson(path, storeSchema) ?? {}));
  const save = () => keep(path, Object.fromEntries(messages));
  const runs = new Map<string, Run>();

  function begin(following: Following): void {
    const { key } = following;
    runs.get(key)?.stop();
    const since = Date.now();
    let shown = '';
    let changedAt = since;
    let restful = 0;
    let typingAt = since - TYPING_MS + 1_000;
    const { files } = following;
    let size = files === undefined ? sizeOf(following.transcript) : undefined;
    let ticks = 0;
    const timer = setInterval(() => {
      const sizeNow = files === undefined ? sizeOf(following.transcript) : size;
      if (sizeNow !== size) changedAt = Date.now();
      size = sizeNow;
      if (Date.now() - changedAt > FORGOTTEN_MS) return run.stop();
      if (Date.now() - typingAt >= TYPING_MS) {
        typingAt = Date.now();
        showTyping(following.rest, following.thread).catch(() => {}); // the next one comes in 8 s
      }
      if (busy || Date.now() - since < firstMs) return;
      if (files !== undefined && ticks++ % REMOTE_EVERY !== 0) return;
      busy = true;
      run.idle = update().finally(() => {
        busy = false;
      });
    }, editMs);
    let busy = false;
    const run: Run = {
      since,
      idle: Promise.resolve(),
      turn: undefined,
      stop() {
        clearInterval(timer);
        if (runs.get(key) === run) runs.delete(key);
      },
    };
    runs.set(key, run);

    async function update(): Promise<void> {
      try {
        const { promptId } = following;
        const turn = await readTurn(following.transcript, {
          promptId,
          ...(files === undefined ? {} : { files }),
        });
        if (files !== undefined && JSON.stringify(turn) !== JSON.stringify(run.turn))
          changedAt = Date.now();
        if (runs.get(key) !== run) return;
        run.turn = turn;
        if (turn?.state === 'interrupted' || (await isAbandoned(turn)))
          return void end(key, following.rest, 'interrupted');
        if (turn === undefined) return;
        const text = progressText(turn, following.level, Date.now() - since);
        if (text === undefined || withoutClock(text) === withoutClock(shown)) return;
        await show(following, since, text);
        shown = text;
      } catch (error) {
        log.info('progress', { because: (error as Error).message });
      }
    }

    /** Seen at rest twice in a row: one look may fall between two steps. */
    async function isAbandoned(turn: Turn | undefined): Promise<boolean> {
      const silent = Date.now() - changedAt >= silentMs && (turn?.state ?? 'running') === 'running';
      restful = silent && (await following.isAtRest?.()) ? restful + 1 : 0;
      return restful >= 2 && runs.get(key) === run;
    }
  }

  async function show({ key, rest, thread, promptId }: Following, since: number, content: string) {
    const there = messages.get(key);
    if (there !== undefined && there.thread === thread && there.since === since)
      return editMessage(rest, thread, there.message, { content }, { patienceMs: 0 });
    const nonce = stableNonce('progress', thread, promptId ?? '', since);
    const made = await createMessage(
      rest,
      thread,
      nonce,
      { content, silent: true },
      { patienceMs: 0 },
    );
    if (made === undefined) return;
    messages.set(key, { thread, message: made.id, since });
    save();
  }

  async function end(
    key: string,
    rest: Rest,
    how: 'done' | 'interrupted' | 'failed',
  ): Promise<void> {
    const run = runs.get(key);
    run?.stop();
    await run?.idle;
    const there = messages.get(key);
    if (there === undefined) return;
    messages.delete(key);
    save();
    const content = summaryText(run?.turn, Date.now() - there.since, how);
    await editMessage(rest, there.thread, there.message, { content }).catch((error: Error) =>
      log.info('progress', { because: error.message }),
    );
  }

  return {
    begin,
    end,
    isBusy: () => runs.size > 0,
    close: () => {
      for (const run of [...runs.values()]) run.stop();
    },
  };
}

/** A transcript only grows. It is asked once a second, because there may be more of them than the system has watches. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0; // not there yet
  }
}

/** The seconds alone are not worth an edit. */
function withoutClock(text: string): string {
  return text.replace(/\S{1,20} (?:s|min)(?: \d{1,9} s)?$/, '');
}
