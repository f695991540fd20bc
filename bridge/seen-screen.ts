// The screen of a pane as it was seen, with the fingerprint that ties key buttons to it.

import type { ScreenReader } from '../agents/driver.ts';
import type { AgentScreen } from '../agents/screen.ts';
import { type PaneView, screenFingerprint } from '../agents/screen-fingerprint.ts';
import { readPane } from '../threads/read-pane.ts';
import { type LookResult, lookAtPane as lookAt, type PaneLook } from '../tmux/look.ts';
import type { PaneGuard, PaneRef } from '../tmux/pane.ts';
import type { Tmux } from '../tmux/tmux.ts';

export interface SeenScreen {
  readonly text: string;
  /** Undefined: no key may be pressed for it. */
  readonly print: string | undefined;
}

export function seenScreen(pane: { readonly paneId: string }, view: PaneView, reader: ScreenReader): SeenScreen {
  return { text: view.text, print: screenFingerprint(pane.paneId, view, reader) };
}

const BOXES: readonly AgentScreen['kind'][] = ['empty', 'draft', 'menu', 'shellMode'];

/**
 * What tmux checks at the moment of a key that is meant for a screen without a dialog: one may appear after the look. Not every dialog has
 * the line of `dialogLine`, but none shows the box.
 */
export function stillNoDialog(
  seen: PaneLook,
  record: Parameters<typeof readPane>[1],
): Required<Pick<PaneGuard, 'dialog' | 'shows'>> {
  const { screen, driver } = readPane({ ...seen, mode: undefined }, record);
  const shows = BOXES.includes(screen.kind) ? driver.typing.boxLines(seen.text, '', seen) : [];
  return { dialog: driver.screen.dialogLine, shows };
}

// Shares one look at a pane among all messages that wait there.

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
