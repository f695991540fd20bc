// A terminal from start to end: starts a program with its output in a log; the log is read, emulated and shown in the thread by
// the process that follows it. When the program ends, the rest of its output is shown first, then how it ended.

import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isThreadmuxError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { SessionName } from '../../core/session-name.ts';
import type { Rest } from '../../discord/rest.ts';
import { tryBestEffort } from '../../home/atomic-write.ts';
import type { Home } from '../../home/home.ts';
import { loadStreamRecords, type StreamRecord, saveStreamRecord, streamFolder } from '../../home/stream-record.ts';
import { startPiped } from '../../tmux/pipe.ts';
import { killSession } from '../../tmux/sessions.ts';
import { type Tmux, tmuxOn } from '../../tmux/tmux.ts';
import type { EmulatorLimits } from '../emulator/emulator-process.ts';
import { terminalSummary } from './exit.ts';
import { createFollower } from './follower.ts';
import { isStreamMessage } from './message-plan.ts';
import { TERMINAL_SIZE } from './output-reader.ts';
import { panesOf } from './panes.ts';
import { followRemote, type RemoteFollower } from './remote-follower.ts';
import { prepareRemoteLog, removeRemoteLog } from './remote-log.ts';

export interface TerminalParts {
  readonly home: Home;
  /** On the host where the terminal runs. */
  readonly tmux: Tmux;
  readonly rest: Rest;
  readonly botId: string;
  readonly log: Log;
  /** The name of the server in the configuration. */
  readonly server: string;
  /** Resolves when the other host can be reached again, at the latest after `ms`. */
  readonly untilBack?: (ms: number, signal: AbortSignal) => Promise<void>;
}

interface WantedTerminal {
  /** Only for this terminal: every message of ours in it that looks like output counts as this terminal's. */
  readonly thread: string;
  readonly name: SessionName;
  /** Absolute. */
  readonly dir: string;
  readonly command: string;
  /** What is known before it runs. */
  readonly record: StreamRecord;
}

export interface Terminal {
  record(): StreamRecord;
  /** Call for every message in the thread: later output goes below it, unless the message is part of the output. */
  heard(content: string, ours: boolean): void;
  /** Something has happened on its host. */
  wake(): void;
  /** Stops following; the program keeps running. */
  close(): Promise<void>;
  /** Ends the program if it runs, shows the rest, and resolves with a one-line summary. */
  end(): Promise<string>;
  /** Resolves when the program has ended and that was posted. */
  readonly ended: Promise<void>;
}

const READS_PER_SEGMENT = 2048;
const END_MS = 10_000;
const LOG_BYTES = 128 * 1024 * 1024;

export async function startTerminal(
  parts: TerminalParts,
  wanted: WantedTerminal,
  log: { readsPerSegment?: number; maxBytes?: number } = {},
): Promise<StreamRecord> {
  const { thread, name, dir, command } = wanted;
  const folder = logFolder(parts.home, thread);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  const { far } = wanted.record;
  if (far !== undefined) {
    const known = loadStreamRecords(parts.home).map((record) => record.thread);
    await prepareRemoteLog(parts.tmux.host, far.logFolder, thread, known);
  }
  const pane = await startPiped(parts.tmux, {
    name,
    directory: dir,
    command,
    size: TERMINAL_SIZE,
    ...(far === undefined ? {} : { atEnd: farEvent(far.logFolder) }),
    log: {
      folder: far?.logFolder ?? folder,
      readsPerSegment: log.readsPerSegment ?? READS_PER_SEGMENT,
      maxBytes: log.maxBytes ?? LOG_BYTES,
    },
  });
  const record: StreamRecord = { ...wanted.record, pane };
  saveStreamRecord(parts.home, record);
  return record;
}

export interface FollowOptions {
  /** The shortest time between two updates of the thread. */
  readonly everyMs?: number;
  /** Time between two checks whether the program still runs. */
  readonly lookMs?: number;
  /** How long the log must be quiet after the program has ended. */
  readonly quietMs?: number;
  /** How long output may redraw the same lines before it is shown less often. */
  readonly spinsAfterMs?: number;
  /** How long to wait after a failure. */
  readonly retryMs?: number;
  /** How long to wait for a missing permission. */
  readonly lackingMs?: number;
  /** How long `end` waits for the rest to be shown. */
  readonly endMs?: number;
  /** The largest attached file. */
  readonly fileBytes?: number;
  readonly emulator?: EmulatorLimits;
}

/** Begins, or continues where an earlier process stopped. */
export function followTerminal(parts: TerminalParts, record: StreamRecord, options: FollowOptions = {}): Terminal {
  const { pane, far } = record;
  const copy = logFolder(parts.home, record.thread);
  const follower = createFollower(parts, record, copy, options);
  // Where it was started: the configuration may name another server now.
  const tmux = tmuxOn(parts.tmux.host, pane?.socket);
  const closing = new AbortController();
  const there = far && record.ended === undefined ? followThere(far.logFolder) : undefined;
  const stop =
    there?.close ??
    (pane === undefined || far ? () => {} : panesOf(tmux, parts.log, options.lookMs).follow(pane, follower.saw));
  const running = follower
    .run()
    .finally(stop)
    .finally(() => there?.over) // two followers must not write to one copy
    .then(removeThere);

  function followThere(folder: string): RemoteFollower | undefined {
    const { log, untilBack = async (ms) => void (await sleep(ms)) } = parts;
    return pane && followRemote({ tmux, pane, folder, copy, log, untilBack, tell: follower.saw });
  }

  /** If the host cannot be reached now, the log is removed when the next terminal starts there. */
  async function removeThere(): Promise<void> {
    if (far === undefined || follower.record().ended === undefined) return;
    await removeRemoteLog(tmux.host, far.logFolder, closing.signal).catch(() => {});
  }

  return {
    record: follower.record,
    ended: follower.ended,
    wake: () => there?.wake(),
    heard(content, ours) {
      if (ours && isStreamMessage(content)) return;
      follower.cut();
      there?.wake();
    },
    async close() {
      follower.close();
      closing.abort();
      await running;
    },
    async end() {
      follower.expectEnd(true);
      try {
        if (pane !== undefined) await kill(tmux, pane, record.name);
      } catch (error) {
        follower.expectEnd(false); // it keeps running
        throw error;
      }
      there?.wake();
      const endMs = options.endMs ?? END_MS;
      if (there !== undefined) await inTime(there.over, endMs, there.close);
      follower.end();
      await inTime(running, endMs, follower.close);
      const now = follower.record();
      const ended = now.ended ?? { at: Date.now(), how: 'ended' };
      tryBestEffort(now.thread, () => saveStreamRecord(parts.home, { ...now, ended }));
      return terminalSummary(follower.lines(), now.startedAt, ended);
    },
  };
}

/** Reports through our home there that a program has ended; see install/program-files.ts. */
function farEvent(folder: string): string {
  return `${folder.replace(/\/streams\/\d+\/log$/, '')}/tmux-event`;
}

/** Discord may be unreachable or refuse us, so the wait is limited. */
async function inTime(running: Promise<void>, ms: number, giveUp: () => void): Promise<void> {
  const over = new AbortController();
  const late = sleep(ms, undefined, { signal: over.signal }).then(giveUp, () => {});
  await Promise.race([running, late]);
  over.abort();
}

function logFolder(home: Home, thread: string): string {
  return join(streamFolder(home, thread), 'log');
}

async function kill(tmux: Tmux, pane: NonNullable<StreamRecord['pane']>, name: string) {
  const { sessionId: id, serverPid } = pane;
  await killSession(tmux, { id, serverPid, name }).catch((error: unknown) => {
    if (!isThreadmuxError(error, 'session_not_found')) throw error;
  });
}
