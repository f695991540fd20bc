// Looks at all panes of a tmux server once per second, for all terminals together: which programs still run, and how the
// others ended. Does not look while no terminal is followed.

import { explain } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Host } from '../../hosts/host.ts';
import type { PaneRef } from '../../tmux/pane.ts';
import { readRow, rowFormat, type Tmux, unlessGone } from '../../tmux/tmux.ts';
import type { EmulatorSize } from '../emulator/snapshot.ts';

export type PaneSeen =
  | { readonly kind: 'runs'; readonly size: EmulatorSize }
  | { readonly kind: 'dead'; readonly code?: number; readonly signal?: string; readonly at?: number }
  /** The session, the pane or the whole server is gone. */
  | { readonly kind: 'gone' };

interface TerminalPanes {
  /** Reports the state of this pane after every look. Returns a function that stops it. */
  follow(pane: PaneRef, tell: (seen: PaneSeen) => void): () => void;
}

export const PANE_VARIABLES = [
  ...(['pid', 'pane_id', 'pane_pid', 'pane_dead', 'pane_dead_status', 'pane_dead_signal'] as const),
  ...(['pane_dead_time', 'pane_width', 'pane_height'] as const),
];
type Row = Readonly<Record<(typeof PANE_VARIABLES)[number], string>>;

const LOOK_MS = 1000;
const NUDGED_MS = 150;
export const NUDGES = 3;

const shared = new WeakMap<Host, Map<string | undefined, TerminalPanes>>();

/** Shared by all terminals of one server. */
export function panesOf(tmux: Tmux, log: Log, lookMs = LOOK_MS): TerminalPanes {
  const servers = shared.get(tmux.host) ?? new Map<string | undefined, TerminalPanes>();
  shared.set(tmux.host, servers);
  const panes = servers.get(tmux.socket) ?? openPanes(tmux, log, lookMs);
  servers.set(tmux.socket, panes);
  return panes;
}

function openPanes(tmux: Tmux, log: Log, lookMs: number): TerminalPanes {
  const followers = new Map<(seen: PaneSeen) => void, PaneRef>();
  /** How often a pane was seen dead without tmux knowing how it ended. */
  const unknown = new Map<PaneRef, number>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;

  const look = async () => {
    looking = true;
    let nextMs = lookMs;
    try {
      const rows = await listPanes(tmux);
      for (const [tell, pane] of [...followers]) {
        const seen = seenOf(rows, pane);
        const times = unknown.get(pane) ?? 0;
        if (isUnknown(seen) && times < NUDGES) {
          unknown.set(pane, times + 1);
          nextMs = NUDGED_MS;
        } else tell(seen);
      }
      if (nextMs === NUDGED_MS) await nudge(tmux);
    } catch (error) {
      log.warn('the panes could not be looked at', { because: explain(error) });
    } finally {
      looking = false;
      schedule(nextMs);
    }
  };
  const schedule = (ms: number) => {
    clearTimeout(timer);
    if (followers.size > 0 && !looking) timer = setTimeout(look, ms);
  };
  return {
    follow(pane, tell) {
      followers.set(tell, pane);
      if (followers.size === 1) schedule(lookMs);
      return () => {
        followers.delete(tell);
        unknown.delete(pane);
        if (followers.size === 0) clearTimeout(timer);
      };
    },
  };
}

export function isUnknown(seen: PaneSeen): boolean {
  return seen.kind === 'dead' && seen.code === undefined && seen.signal === undefined;
}

/** tmux 3.3a sometimes misses that a child has exited until another child exits, so start one that does. */
export async function nudge(tmux: Tmux): Promise<void> {
  await tmux.run(['run-shell', '-b', 'true'], { doing: 'ask how a program ended' });
}

async function listPanes(tmux: Tmux): Promise<readonly Row[]> {
  const printed = await tmux
    .run(['list-panes', '-a', '-F', rowFormat(PANE_VARIABLES)], { doing: 'look at the panes' })
    .catch(unlessGone(''));
  return readPanes(printed);
}

export function readPanes(printed: string): readonly Row[] {
  return printed.split('\n').flatMap((line) => readRow(PANE_VARIABLES, line) ?? []);
}

export function seenOf(rows: readonly Row[], pane: PaneRef): PaneSeen {
  const row = rows.find(
    ({ pid, pane_id, pane_pid }) =>
      Number(pid) === pane.serverPid && pane_id === pane.paneId && Number(pane_pid) === pane.panePid,
  );
  if (row === undefined) return { kind: 'gone' };
  if (row.pane_dead !== '1')
    return { kind: 'runs', size: { width: Number(row.pane_width), height: Number(row.pane_height) } };
  return {
    kind: 'dead',
    ...(row.pane_dead_status === '' ? {} : { code: Number(row.pane_dead_status) }),
    ...(row.pane_dead_signal === '' ? {} : { signal: row.pane_dead_signal }),
    ...(row.pane_dead_time === '' ? {} : { at: Number(row.pane_dead_time) * 1000 }),
  };
}
