// What every handler gets, and what it gives back: what to say, and what Claude is doing now.

import type { HookInput } from '../claude/hook-input.ts';
import type { Rest } from '../discord/rest.ts';
import type { PaneRecord } from '../home/pane-record.ts';
import type { Whereabouts } from '../tmux/whoami.ts';
import type { Desk } from './desk.ts';
import type { Saying } from './fit.ts';
import type { Letter } from './letter.ts';
import type { Bound } from './thread-book.ts';

export interface Report {
  readonly letter: Letter;
  readonly session: Whereabouts;
  readonly desk: Desk;
  readonly rest: Rest;
  readonly thread: Bound;
}

/** What a turn's progress is kept by: two panes of one session may work at the same time. */
export function turnOf({ thread, letter }: Report): string {
  return `${thread.thread} ${letter.pane}`;
}

export interface Outcome {
  readonly say?: Saying;
  readonly state?: PaneRecord['state'];
  /** Done once what was to be said has been posted. */
  readonly after?: () => void | Promise<void>;
}

export type Handler<I extends HookInput> = (input: I, report: Report) => Promise<Outcome> | Outcome;
