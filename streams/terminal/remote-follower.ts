// Follows a terminal on another host: copies its log here, segment by segment, and reads the copy like the log of a local
// terminal. The copy itself shows how far it is, so a restart or an unreachable host loses and repeats nothing.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { explain } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { PaneRef } from '../../tmux/pane.ts';
import type { Tmux } from '../../tmux/tmux.ts';
import { LOG_START, type LogPosition, logBytes, markCut, segmentsIn } from './log.ts';
import { isUnknown, NUDGES, nudge, type PaneSeen } from './panes.ts';
import { type RemoteLogState, type RemotePiece, readRemoteLog } from './remote-log.ts';

interface RemoteTerminal {
  readonly tmux: Tmux;
  readonly pane: PaneRef;
  /** The folder of the log on the host. */
  readonly folder: string;
  /** The folder of the copy here. */
  readonly copy: string;
  readonly log: Log;
  /** Resolves when the host can be reached again, at the latest after `ms`. */
  readonly untilBack: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Reports the state of the pane; reports its end only when the copy is complete. */
  readonly tell: (seen: PaneSeen) => void;
}

export interface RemoteFollower {
  /** Something may have happened on the host: look now, and more often for a while. */
  wake(): void;
  /** Resolves when the end was reported or the follower is closed. Nothing writes to the copy after that. */
  readonly over: Promise<void>;
  close(): void;
}

const BUSY_MS = 1000;
/** How long after the last output the host is polled often. */
const CALM_AFTER_MS = 30_000;
const SILENT_MS = 10_000;
/** Between looks at a program that has ended: tmux may write more. */
const ENDING_MS = 250;
const QUIET_LOOKS = 3;
const RETRY_MS = 2000;
const LONGEST_RETRY_MS = 30_000;
/** The most bytes in the copy that are not shown yet. The rest waits on the host, where the log is capped. */
const COPY_BYTES = 8 * 1024 * 1024;
/** What a segment counts at least: a hostile host could send millions with one byte each, and each is a file that is looked at. */
const SEGMENT_BYTES = 16 * 1024;

export function followRemote(far: RemoteTerminal): RemoteFollower {
  const closing = new AbortController();
  const { signal } = closing;
  let activeAt = Date.now();
  let cutWait = () => {};

  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, signal.aborted ? 0 : ms);
      cutWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function follow(): Promise<void> {
    let failures = 0;
    let unknown = 0;
    let quiet = 0;
    let silentMs = BUSY_MS;
    while (!signal.aborted) {
      if (copyBytes(far.copy) > COPY_BYTES) {
        await wait(ENDING_MS);
        continue;
      }
      let look: RemoteLogState;
      let news: boolean;
      try {
        look = await readRemoteLog(far.tmux, far.pane, far.folder, reached(far.copy), signal);
        news = await copyPieces(far.copy, look.pieces);
        if (look.ended && !look.more) writeFileSync(join(far.copy, 'end'), '', { mode: 0o600 });
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (failures++ === 0) far.log.warn('a terminal is not reached', { because: explain(error) });
        await far.untilBack(Math.min(RETRY_MS * failures, LONGEST_RETRY_MS), signal);
        continue;
      }
      if (news) activeAt = Date.now();
      // A hostile host may always say that there is more: only what brings bytes is read without a pause.
      if (look.more && news) continue;
      if (look.more) {
        await wait(BUSY_MS);
        continue;
      }
      if (look.seen.kind === 'runs') {
        far.tell(look.seen);
        const isBusy = Date.now() - activeAt < CALM_AFTER_MS;
        silentMs = isBusy ? BUSY_MS : Math.min(silentMs * 1.5, SILENT_MS);
        await wait(silentMs);
        continue;
      }
      quiet = news ? 0 : quiet + 1;
      const isKnown = !isUnknown(look.seen) || unknown++ >= NUDGES;
      if (isKnown && (look.ended || quiet >= QUIET_LOOKS)) return far.tell(look.seen);
      if (!isKnown) await nudge(far.tmux).catch(() => {}); // the next look shows whether it helped
      await wait(ENDING_MS);
    }
  }

  return {
    wake() {
      activeAt = Date.now();
      cutWait();
    },
    over: follow().catch((error: unknown) =>
      far.log.error('a terminal is no longer followed', { because: explain(error) }),
    ),
    close() {
      closing.abort();
      cutWait();
    },
  };
}

/** How far the copy is. Its newest segment is only removed when there is a newer one. */
function reached(copy: string): LogPosition {
  mkdirSync(copy, { recursive: true, mode: 0o700 });
  const segment = segmentsIn(copy).at(-1);
  return segment === undefined ? LOG_START : { segment, offset: logBytes(join(copy, String(segment))) };
}

/** True if there was anything new. A segment is synced to disk before the next one begins, because it is then removed on the host. */
export async function copyPieces(copy: string, pieces: readonly RemotePiece[]): Promise<boolean> {
  const { segment, offset } = reached(copy);
  const [first] = pieces;
  // The cap has removed the rest of our segment on the host.
  if (first !== undefined && first.segment > segment) markCut(copy, segment);
  let news = false;
  for (const piece of pieces) {
    const bytes = piece.bytes.subarray(piece.segment === segment ? offset - piece.from : 0);
    if (bytes.length > 0) news = true;
    else if (!existsSync(join(copy, String(piece.segment)))) continue;
    if (bytes.length === 0 && !piece.whole) continue;
    const file = await open(join(copy, String(piece.segment)), 'a', 0o600);
    try {
      await file.appendFile(bytes);
      if (piece.whole) await file.datasync();
    } finally {
      await file.close();
    }
  }
  return news;
}

function copyBytes(copy: string): number {
  const paths = existsSync(copy) ? segmentsIn(copy).map((segment) => join(copy, String(segment))) : [];
  return paths.reduce((sum, path) => sum + Math.max(SEGMENT_BYTES, logBytes(path)), 0);
}
