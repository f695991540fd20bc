// Follows running turns. Each text is posted when the agent continues after it, and one line below shows what runs now. Failures
// of the line never delay a letter.

import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentTurn, type TurnText, textsBeforeMore, textsOf } from '../agents/turn.ts';
import type { Log } from '../core/log.ts';
import { newest } from '../core/snowflake.ts';
import { showTyping } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import type { Home } from '../home/home.ts';
import { openProgressLines, type TurnRecord } from './progress-message.ts';
import { type ProgressLevel, progressText, summaryText, type TurnOutcome } from './progress-text.ts';

export interface FollowedTurn {
  readonly key: string;
  readonly record: TurnRecord;
  readonly rest: Rest;
  /** The turn so far; undefined if nothing of it is known yet. */
  read(): Promise<AgentTurn | undefined>;
  /** Changes when there is more to read. Undefined if only reading tells that, as on another host: then it is read less often. */
  version(): number | undefined;
  /** Posts the texts that were not posted yet, in order. */
  say(texts: readonly TurnText[]): Promise<void>;
  /** The newest message that we posted in the thread. */
  lastPosted(): string;
  /** Whether a prompt is open in the thread. */
  isAsking(): boolean;
  /** What the screen shows; checked when there is nothing new to read. */
  look(): Promise<'idle' | 'dialog' | 'busy'>;
}

export type Progress = ReturnType<typeof createProgress>;

export interface ProgressOptions {
  readonly home: Home;
  readonly log: Log;
  /** How much a thread shows. Asked each time, because it can change during a turn. */
  readonly levelOf: (thread: string) => ProgressLevel;
  readonly lookMs?: number;
  readonly editMs?: number;
  readonly firstMs?: number;
  readonly silentMs?: number;
  readonly moveMs?: number;
}

const LOOK_MS = 250;
const EDIT_MS = 1_000;
/** Shorter turns without tools show no line. */
const FIRST_MS = 2_500;
const TYPING_MS = 8_000;
/** A transcript on another host is read only this often. */
const REMOTE_MS = 3_000;
/** If the agent writes nothing for this long, it may have been interrupted. */
const SILENT_MS = 3_000;
/** The line moves below new texts this often: Discord allows five messages in five seconds, and texts come first. */
const MOVE_MS = 3_000;
/** A letter does not wait longer than this for a line. */
const STOP_WITHIN_MS = 1_000;

interface Run {
  readonly followed: FollowedTurn;
  stop(): void;
  /** Resolves when no update runs: only one does at a time. */
  idle: Promise<void>;
  turn: AgentTurn | undefined;
}

export function createProgress(options: ProgressOptions) {
  const { home, log, levelOf, lookMs = LOOK_MS, editMs = EDIT_MS, firstMs = FIRST_MS } = options;
  const { silentMs = SILENT_MS, moveMs = MOVE_MS } = options;
  const lines = openProgressLines(home);
  const runs = new Map<string, Run>();
  const told = (error: Error) => log.info('progress', { because: error.message });

  function begin(followed: FollowedTurn): void {
    const { key, rest, record } = followed;
    runs.get(key)?.stop();
    if (lines.get(key)?.since !== record.since) lines.put(key, record);
    const { since } = record;
    const isFar = followed.version() === undefined;
    let [version, changedAt, updatedAt, shownAt, movedAt] = [-1, Date.now(), 0, 0, 0];
    let [readAt, readMs] = isFar ? [Date.now(), REMOTE_MS] : [0, 0];
    let typingAt = Date.now() - TYPING_MS + 1_000;
    let shown = '';
    let timesIdle = 0;
    let isAsking = false;
    let isBelow = false; // a prompt stands below the line
    let busy = false;

    function tick(): void {
      const now = Date.now();
      isAsking = followed.isAsking();
      isBelow ||= isAsking;
      if (!isAsking && now - typingAt >= TYPING_MS) {
        typingAt = now;
        showTyping(rest, record.thread).catch(() => {}); // repeated in 8 s anyway
      }
      const isGrown = isFar ? !isAsking : followed.version() !== version;
      const isNew = isGrown && now - readAt >= readMs;
      if (busy || (!isNew && now - updatedAt < editMs)) return;
      busy = true;
      updatedAt = now;
      run.idle = update(isNew)
        .catch(told)
        .finally(() => {
          busy = false;
        });
    }

    async function update(isNew: boolean): Promise<void> {
      if (isNew) await read();
      const { turn } = run;
      if (runs.get(key) !== run) return;
      if (turn?.state === 'interrupted') return void end(key, rest, 'interrupted');
      const isSilent = !isAsking && Date.now() - changedAt >= silentMs;
      const seen = isSilent ? await followed.look() : 'busy';
      // Idle twice in a row: a single look may fall between two steps.
      timesIdle = seen === 'idle' ? timesIdle + 1 : 0;
      if (runs.get(key) !== run) return;
      if (timesIdle >= 2) return void end(key, rest, turn?.state === 'finished' ? 'done' : 'interrupted');
      if (turn !== undefined) await show(turn, isAsking || seen === 'dialog');
    }

    async function read(): Promise<void> {
      const began = Date.now();
      const versionNow = followed.version() ?? version;
      const turn = await followed.read();
      readAt = Date.now();
      readMs = isFar ? REMOTE_MS : 4 * (readAt - began); // a turn of many megabytes is read less often
      const isSame = isFar && JSON.stringify(turn) === JSON.stringify(run.turn);
      if (runs.get(key) !== run) return;
      if (!isSame && (version !== -1 || turn !== undefined)) changedAt = began;
      run.turn = turn;
      if (turn !== undefined) await followed.say(textsBeforeMore(turn));
      version = versionNow; // last: what could not be posted is tried again
    }

    async function show(turn: AgentTurn, waits: boolean): Promise<void> {
      const now = Date.now();
      const message = lines.get(key)?.message ?? '';
      const content = progressText(turn, levelOf(record.thread), { since, waits });
      if (content === undefined || runs.get(key) !== run) return;
      if (message === '' && (waits || now - since < (turn.tools.length > 0 ? Math.min(editMs, firstMs) : firstMs)))
        return;
      const isCovered = isBelow || newest(message || '0', followed.lastPosted()) !== message;
      const move = message !== '' && !waits && isCovered && now - movedAt >= moveMs;
      if ((content === shown && !move) || now - shownAt < editMs) return;
      await lines.show(key, rest, content, move);
      shownAt = Date.now();
      if (move || message === '') movedAt = shownAt;
      if (move) isBelow = isAsking;
      shown = content;
    }

    const timer = setInterval(tick, lookMs);
    const run: Run = {
      followed,
      idle: Promise.resolve(),
      turn: undefined,
      stop() {
        clearInterval(timer);
        if (runs.get(key) === run) runs.delete(key);
      },
    };
    runs.set(key, run);
  }

  /** Stops following the turn with this key, before its last text is posted. */
  async function stop(key: string): Promise<void> {
    const run = runs.get(key);
    run?.stop();
    await Promise.race([run?.idle, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
  }

  /** The turn is over: posts its texts that are missing if it was interrupted, and sums up its tools. */
  async function end(key: string, rest: Rest, how: TurnOutcome, known?: AgentTurn): Promise<void> {
    const run = runs.get(key);
    const before = lines.get(key);
    await stop(key);
    if (before === undefined || lines.get(key)?.since !== before.since) return;
    const turn = how === 'interrupted' ? await lastWords(run) : (known ?? run?.turn);
    const isNeeded = levelOf(before.thread) !== 'quiet' && (turn?.tools.length ?? 0) > 0;
    await lines.finish(key, rest, summaryText(turn, Date.now() - before.since, how), isNeeded).catch(told);
  }

  /** No letter comes for an interrupted turn, so all of its texts are posted here. */
  async function lastWords(run: Run | undefined): Promise<AgentTurn | undefined> {
    if (run === undefined) return undefined;
    try {
      const turn = await run.followed.read();
      await run.followed.say(textsOf(turn));
      return turn;
    } catch (error) {
      told(error as Error);
      return run.turn;
    }
  }

  return {
    begin,
    stop,
    end,
    /** Continues with the turns of an earlier process. A turn that `follow` does not know is forgotten. */
    takeUp(
      isMine: (turn: TurnRecord) => boolean,
      follow: (key: string, turn: TurnRecord) => FollowedTurn | undefined,
    ): void {
      for (const [key, turn] of lines.all().filter(([, one]) => isMine(one))) {
        const followed = follow(key, turn);
        if (followed === undefined) lines.drop(key);
        else begin(followed);
      }
    },
    isBusy: () => runs.size > 0,
    close: () => {
      for (const run of [...runs.values()]) run.stop();
    },
  };
}
