// A screen as it was seen, to be shown to the person with buttons that belong to it.

import { type PaneView, screenFingerprint } from '../agents/claude/screen/fingerprint.ts';
import { type LookResult, lookAtPane as lookAt } from '../tmux/look.ts';
import type { PaneRef } from '../tmux/pane.ts';
import type { Tmux } from '../tmux/tmux.ts';

export interface SeenScreen {
  readonly text: string;
  /** Undefined: no key may be pressed for it. */
  readonly print: string | undefined;
}

export function seenScreen(pane: { readonly paneId: string }, view: PaneView): SeenScreen {
  return { text: view.text, print: screenFingerprint(pane.paneId, view) };
}

// A look at a pane serves every message that waits there: two hundred of them cost no more than one.

interface Freshness {
  /** A look that began longer ago than this is not good enough; 0: only one of our own is. */
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
