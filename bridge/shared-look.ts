// Shares one look at a pane among all messages that wait there.

import { type LookResult, lookAtPane as lookAt } from '../tmux/look.ts';
import type { PaneRef } from '../tmux/pane.ts';
import type { Tmux } from '../tmux/tmux.ts';

interface Freshness {
  /** Accept a look that began at most this long ago; 0 means a new look. */
  readonly maxAgeMs: number;
  readonly signal: AbortSignal;
}

export type SharedLook = (tmux: Tmux, pane: PaneRef, freshness: Freshness) => Promise<LookResult>;

const FORGOTTEN_AFTER_MS = 10_000;

export function createSharedLook(): SharedLook {
  const looks = new Map<string, { readonly began: number; readonly seen: Promise<LookResult> }>();
  return (tmux, pane, { maxAgeMs, signal }) => {
    const now = Date.now();
    const key = [tmux.host.name, tmux.socket, pane.serverPid, pane.paneId, pane.panePid].join(' ');
    const last = looks.get(key);
    if (last !== undefined && now - last.began < maxAgeMs) return last.seen;
    for (const [other, { began }] of looks) if (now - began > FORGOTTEN_AFTER_MS) looks.delete(other);
    const seen = lookAt(tmux, pane, { signal });
    looks.set(key, { began: now, seen });
    return seen;
  };
}
