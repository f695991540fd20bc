// Shows the progress of a turn from its transcript: one silent message, edited at most once per second, and the typing
// indicator. Its failures never delay a letter.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readTurn, type TranscriptTool, type TranscriptTurn } from '../agents/claude/transcript/transcript.ts';
import type { ConfigFile } from '../core/config-schema.ts';
import { formatDuration } from '../core/duration.ts';
import type { Log } from '../core/log.ts';
import { stableNonce } from '../core/snowflake.ts';
import { untrustedText } from '../core/untrusted-text.ts';
import { createMessage, editMessage, showTyping } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { readJson, writeBestEffort } from '../home/atomic-write.ts';
import type { FileSource } from '../home/file-source.ts';
import type { Home } from '../home/home.ts';

interface FollowedTurn {
  readonly key: string;
  readonly rest: Rest;
  readonly thread: string;
  readonly transcript: string;
  readonly promptId: string | undefined;
  readonly level: ProgressLevel;
  /** Set if the transcript is on another host, where it is read less often. */
  readonly files?: FileSource;
  /** Whether the screen shows that Claude is idle; checked when the transcript does not change. */
  readonly isAtRest?: () => Promise<boolean>;
}

export interface Progress {
  begin(following: FollowedTurn): void;
  /** Stops following the turn with this key, and replaces its message with a summary. */
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
/** Shorter turns show no progress. */
const FIRST_MS = 2_500;
const TYPING_MS = 8_000;
/** A transcript on another host is read only at every third edit. */
const REMOTE_EVERY = 3;
/** If Claude writes nothing for this long, it may have been interrupted. */
const SILENT_MS = 3_000;
/** If Claude writes nothing for this long, the turn has ended without a report. */
const FORGOTTEN_MS = 3_600_000;

const storeSchema = z.record(z.string(), z.object({ thread: z.string(), message: z.string(), since: z.number() }));

interface Run {
  readonly since: number;
  stop(): void;
  /** Resolves when no call is posting or editing the message: only one does at a time. */
  idle: Promise<void>;
  turn: TranscriptTurn | undefined;
}

export function createProgress({
  home,
  log,
  editMs = EDIT_MS,
  firstMs = FIRST_MS,
  silentMs = SILENT_MS,
}: ProgressOptions): Progress {
  const path = join(home.folder('state'), 'progress.json');
  // Saved on disk: if a courier is killed, the next one has to finish its message.
  const messages = new Map(Object.entries(readJson(path, storeSchema) ?? {}));
  const save = () => writeBestEffort(path, Object.fromEntries(messages));
  const runs = new Map<string, Run>();

  function begin(following: FollowedTurn): void {
    const { key } = following;
    runs.get(key)?.stop();
    const since = Date.now();
    let shown = '';
    let changedAt = since;
    let timesIdle = 0;
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
        showTyping(following.rest, following.thread).catch(() => {}); // repeated in 8 s anyway
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
        if (files !== undefined && JSON.stringify(turn) !== JSON.stringify(run.turn)) changedAt = Date.now();
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

    /** Idle twice in a row: a single check may fall between two steps. */
    async function isAbandoned(turn: TranscriptTurn | undefined): Promise<boolean> {
      const silent = Date.now() - changedAt >= silentMs && (turn?.state ?? 'running') === 'running';
      timesIdle = silent && (await following.isAtRest?.()) ? timesIdle + 1 : 0;
      return timesIdle >= 2 && runs.get(key) === run;
    }
  }

  async function show({ key, rest, thread, promptId }: FollowedTurn, since: number, content: string) {
    const posted = messages.get(key);
    if (posted !== undefined && posted.thread === thread && posted.since === since)
      return editMessage(rest, thread, posted.message, { content }, { patienceMs: 0 });
    const nonce = stableNonce('progress', thread, promptId ?? '', since);
    const created = await createMessage(rest, thread, nonce, { content, silent: true }, { patienceMs: 0 });
    if (created === undefined) return;
    messages.set(key, { thread, message: created.id, since });
    save();
  }

  async function end(key: string, rest: Rest, how: 'done' | 'interrupted' | 'failed'): Promise<void> {
    const run = runs.get(key);
    run?.stop();
    await run?.idle;
    const posted = messages.get(key);
    if (posted === undefined) return;
    messages.delete(key);
    save();
    const content = summaryText(run?.turn, Date.now() - posted.since, how);
    await editMessage(rest, posted.thread, posted.message, { content }).catch((error: Error) =>
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

/** A transcript only grows, so its size shows a change. It is polled, because the system may not have enough file watches. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0; // the file does not exist yet
  }
}

/** A change of the elapsed time alone is not worth an edit. */
function withoutClock(text: string): string {
  return text.replace(/\S{1,20} (?:s|min)(?: \d{1,9} s)?$/, '');
}

// The text of a progress message while a turn runs, and its one-line summary afterwards. Pure.

export type ProgressLevel = ConfigFile['progress'];

const LONGEST_TEXT = 600;
const LONGEST_LABEL = 200;
const LINES_SHOWN = 12;
const LIMIT = 1_900;

/** Undefined while there is nothing to show. */
export function progressText(turn: TranscriptTurn, level: ProgressLevel, elapsedMs: number): string | undefined {
  if (level === 'quiet') return undefined;
  const said = turn.messages.flatMap(({ texts }) => texts.map(({ text }) => text));
  const tools = level === 'verbose' ? turn.tools.slice(-LINES_SHOWN) : turn.tools.slice(-1);
  const lines = [
    shortened(said.at(-1) ?? '', LONGEST_TEXT),
    ...tools.map((tool) => `${mark(tool)} ${untrustedText(tool.label, LONGEST_LABEL)}`),
    `-# working · ${counted(turn.tools)}${formatDuration(elapsedMs)}`,
  ];
  // Drop the oldest tools: the last text, the running tool and the small line always fit.
  while (lines.join('\n').length > LIMIT && lines.length > 3) lines.splice(1, 1);
  return lines.filter(Boolean).join('\n').slice(0, LIMIT);
}

/** "Bash ×3, Edit · 42 s": replaces the progress message when the reply has arrived. */
export function summaryText(
  turn: TranscriptTurn | undefined,
  elapsedMs: number,
  how: 'done' | 'interrupted' | 'failed',
): string {
  const word = { done: '', interrupted: 'interrupted · ', failed: 'failed · ' }[how];
  return `-# ${word}${counted(turn?.tools ?? [])}${formatDuration(elapsedMs)}`;
}

function counted(tools: readonly TranscriptTool[]): string {
  const counts = new Map<string, number>();
  for (const { name } of tools) counts.set(name, (counts.get(name) ?? 0) + 1);
  const words = [...counts].map(([name, times]) => (times === 1 ? name : `${name} ×${times}`));
  return words.length === 0 ? '' : `${untrustedText(words.slice(0, 8).join(', '))} · `;
}

function mark(tool: TranscriptTool): string {
  if (tool.outcome === undefined) return '⏳';
  return tool.outcome === 'ok' ? '✔' : '✘';
}

function shortened(text: string, longest: number): string {
  const points = [...text];
  return points.length <= longest ? text : `${points.slice(0, longest - 1).join('')}…`;
}
