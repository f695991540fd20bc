// Follows one terminal: reads its log when it grows, updates the messages at a limited rate, and reports its end.
// The state is written only after everything it describes was posted.

import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { explain, isThreadmuxError } from '../../core/errors.ts';
import { stableNonce } from '../../core/snowflake.ts';
import { createMessage, messagesAfter } from '../../discord/messages.ts';
import { type StreamRecord, saveStreamRecord, streamFolder } from '../../home/stream-record.ts';
import type { EmulatorSize } from '../emulator/snapshot.ts';
import type { OpenStreamMessage } from '../post-stream.ts';
import { endingWords, isExitMessage, postExit, type TerminalEnding } from './exit.ts';
import { isStreamMessage } from './message-plan.ts';
import { createRetryLimit, openTerminalOutput, TERMINAL_SIZE, type TerminalOutput } from './output-reader.ts';
import type { PaneSeen } from './panes.ts';
import { openPostedTerminal, type PostedTerminal } from './posted.ts';
import { loadTerminalState, saveTerminalState, type TerminalState } from './state.ts';
import type { FollowOptions, TerminalParts } from './terminal.ts';

interface Follower {
  run(): Promise<void>;
  saw(seen: PaneSeen): void;
  /** Someone wrote in the thread. */
  cut(): void;
  close(): void;
  /** Whether the user is about to end it: then its end is not reported. */
  expectEnd(isExpected: boolean): void;
  end(): void;
  record(): StreamRecord;
  lines(): number;
  readonly ended: Promise<void>;
}

/** Discord accepts 10 MB per file, and a file can end up slightly larger than this. */
const FILE_BYTES = 8 * 1024 * 1024;
const EVERY_MS = 1000;
const QUIET_MS = 500;
const LOOK_MS = 50;
/** Output comes in bursts: wait for the rest of a burst before the first message. */
const GATHER_MS = 40;
/** In case the file system reports no change. */
const IDLE_MS = 5000;
/** Output that only redraws the same lines, such as a spinner, is shown less often after a while. */
const SPINS_AFTER_MS = 60_000;
const SPINS_SLOWER = 5;
/** An update with less text than one message. */
const CALM_CHARACTERS = 2000;

const GIVEN_UP =
  '⚠️ threadmux can no longer show the output of this terminal; the program keeps running.\n-# `!screen` shows its screen, `!done` ends it.';

export function createFollower(
  parts: TerminalParts,
  from: StreamRecord,
  logFolder: string,
  options: FollowOptions,
): Follower {
  const { rest, botId, log } = parts;
  const { thread, startedAt } = from;
  const folder = streamFolder(parts.home, thread);
  const { everyMs = EVERY_MS, quietMs = QUIET_MS, fileBytes = FILE_BYTES, retryMs, lackingMs } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const retried = createRetryLimit({ thread, log, signal, retryMs, lackingMs });
  /** Aborted when the program has ended or the follower is closed: stop waiting for output. */
  const over = new AbortController();
  let record = from;
  let lines = 0;
  let ending: TerminalEnding | undefined;
  let silent = false;
  let showing: PostedTerminal | undefined;
  let size: EmulatorSize | undefined;
  let tellEnded = () => {};
  const ended = new Promise<void>((resolve) => {
    tellEnded = resolve;
  });
  const ends = (how: TerminalEnding) => {
    ending ??= silent ? { kind: 'ended', at: how.at } : how;
    over.abort();
  };

  async function run(): Promise<void> {
    try {
      const state = await retried(() => loadTerminalState(folder));
      lines = state?.lines ?? 0;
      if (record.ended === undefined) await follow(state);
      tellEnded();
    } catch (error) {
      if (!signal.aborted) await giveUp(error);
    }
  }

  /** Only this terminal, and permanently: what failed would fail again after a restart. */
  async function giveUp(error: unknown): Promise<void> {
    log.error('a terminal is no longer shown', { thread, because: explain(error) });
    if (isThreadmuxError(error)) return; // its thread is gone
    const nonce = stableNonce('terminal-failed', thread, startedAt);
    const tell = () => createMessage(rest, thread, nonce, { content: GIVEN_UP }, { signal });
    await retried(
      async () => void (await tell()),
      () => {},
    ).catch(() => {}); // closed, or the thread is gone
    record = { ...record, ended: { at: Date.now(), how: 'no longer shown' } };
    if (!signal.aborted) await retried(() => saveStreamRecord(parts.home, record)).catch(() => {}); // closed
  }

  async function follow(state: TerminalState | undefined): Promise<void> {
    const { emulator = {} } = options;
    const files = { logFolder, folder, size: TERMINAL_SIZE, keptBytes: fileBytes, retried, emulator, signal };
    const output = await retried(() => openTerminalOutput(files, state));
    const { store } = output;
    const shown = openPostedTerminal({ rest, thread, store, signal, salt: startedAt, fileBytes }, state);
    showing = shown;
    try {
      const found = await retried(
        () => postedUnnoted(state),
        () => [],
      );
      const ours = found.filter(({ content }) => isStreamMessage(content));
      await retried(
        () => shown.adopt(ours),
        () => {},
      );
      const movedAt = state?.finished === true ? 0 : await stream(output, shown);
      const told = found.some(({ content }) => isExitMessage(content));
      const how = await known();
      if (!told && !silent) await tell(output, shown, how, movedAt);
      record = { ...record, ended: { at: how.at, how: endingWords(how) } };
      await retried(() => {
        saveStreamRecord(parts.home, record);
        store.remove();
        rmSync(logFolder, { recursive: true, force: true, maxRetries: 3 });
      });
    } finally {
      output.close();
    }
  }

  /** Shows all output until the program has ended; resolves with the time of the last output. */
  async function stream(output: TerminalOutput, shown: PostedTerminal): Promise<number> {
    let movedAt = 0;
    let linesAt = Date.now();
    let shownAt = 0;
    for (;;) {
      if (ending === undefined) {
        const waitMs = shown.state().flood === undefined ? IDLE_MS : everyMs;
        await retried(() => output.log.changed(waitMs, over.signal));
        const slower = Date.now() - linesAt > (options.spinsAfterMs ?? SPINS_AFTER_MS) ? SPINS_SLOWER : 1;
        const early = shownAt + everyMs * slower - Date.now();
        await sleep(Math.max(GATHER_MS, early), undefined, { signal });
      }
      if (size !== undefined) shown.add(await output.resize(size));
      const { text, moved } = await output.advance(shown.room());
      shown.add(text);
      if (moved) movedAt = Date.now();
      if (text !== '') linesAt = Date.now();
      lines = output.lines();
      const calm = text.length < CALM_CHARACTERS && !output.log.hasMore();
      if (moved || shown.state().flood !== undefined) {
        await retried(() => shown.show(output.live(), { calm, final: false }));
        shownAt = Date.now();
        await retried(() => note(output, shown, false));
      }
      if (ending === undefined || moved) continue;
      if (output.log.isEnded() || (await retried(() => quiet(output)))) break;
    }
    const rest = await output.finish();
    shown.add(rest.text);
    await retried(() => shown.show(rest.live, { calm: true, final: true }));
    await retried(() => output.store.append(rest.live));
    lines = output.lines() + (rest.live === '' ? 0 : rest.live.trimEnd().split('\n').length);
    await retried(() => note(output, shown, true));
    return movedAt;
  }

  /** tmux may write more output shortly after the program has ended. */
  async function quiet(output: TerminalOutput): Promise<boolean> {
    for (let waited = 0; waited < quietMs; waited += LOOK_MS) {
      await sleep(LOOK_MS, undefined, { signal });
      if (output.log.hasMore()) return false;
      if (output.log.isEnded()) return true;
    }
    return true;
  }

  async function note(output: TerminalOutput, shown: PostedTerminal, finished: boolean): Promise<void> {
    output.store.cap(shown.state().from);
    const checkpoint = output.checkpoint();
    await output.store.sync(); // the state must never describe text that is not on disk
    await saveTerminalState(folder, { ...checkpoint, lines, ...shown.state(), finished });
    output.log.forget(checkpoint.position);
    output.store.settle();
  }

  /** What an earlier process posted but could not save in the state before it was killed. */
  async function postedUnnoted(state: TerminalState | undefined): Promise<readonly OpenStreamMessage[]> {
    const after = state?.open.at(-1)?.id || state?.last || thread;
    const messages = await messagesAfter(rest, thread, after, { signal });
    return messages
      .filter(({ author, content }) => author.id === botId && (isStreamMessage(content) || isExitMessage(content)))
      .map(({ id, content }) => ({ id, content }));
  }

  /** Falls back to a message without any output if Discord refuses the output. */
  async function tell(
    output: TerminalOutput,
    shown: PostedTerminal,
    how: TerminalEnding,
    movedAt: number,
  ): Promise<void> {
    const about = { thread, startedAt, ending: how, lines, movedAt };
    const wholeBytes = shown.state().flooded ? fileBytes : undefined;
    const bare = () => postExit(rest, { ...about, movedAt: Date.now() }, output.store, undefined, signal);
    await retried(
      () => postExit(rest, about, output.store, wholeBytes, signal),
      () => retried(bare, () => {}),
    );
  }

  /** `saw` sets the ending when it looks at the pane. */
  async function known(): Promise<TerminalEnding> {
    while (ending === undefined) await sleep(LOOK_MS, undefined, { signal });
    return ending;
  }

  return {
    run,
    cut: () => showing?.cut(),
    saw(seen) {
      if (seen.kind === 'runs') size = seen.size;
      else if (seen.kind === 'gone') ends({ kind: 'gone', at: Date.now() });
      else {
        const { kind: _, at = Date.now(), ...exit } = seen;
        ends({ kind: 'exited', at, ...exit });
      }
    },
    close() {
      closing.abort();
      over.abort();
    },
    expectEnd(isExpected) {
      silent = isExpected;
    },
    end: () => ends({ kind: 'ended', at: Date.now() }),
    record: () => record,
    lines: () => lines,
    ended,
  };
}
