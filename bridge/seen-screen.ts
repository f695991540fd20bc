// A screen as it was seen, to be shown to the person with buttons that belong to it.

import { type PaneView, screenFingerprint } from '../agents/claude/screen/fingerprint.ts';

export interface SeenScreen {
  readonly text: string;
  /** Undefined: no key may be pressed for it. */
  readonly print: string | undefined;
}

export function seenScreen(pane: { readonly paneId: string }, view: PaneView): SeenScreen {
  return { text: view.text, print: screenFingerprint(pane.paneId, view) };
}
