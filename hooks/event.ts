// What every handler gets, and what it gives back: what to say, and what Claude is doing now.

import type { HookInput } from '../claude/hook-input.ts';
import type { Rest } from '../discord/rest.ts';
import type { ThreadRecord } from '../threads/record.ts';
import type { SessionPane } from '../threads/threads.ts';
import type { CourierContext } from './context.ts';
import type { Saying } from './fit.ts';
import type { Letter } from './letter.ts';

export interface Report {
  readonly letter: Letter;
  readonly session: SessionPane;
  readonly context: CourierContext;
  readonly rest: Rest;
  readonly thread: ThreadRecord;
}

/** What a turn's progress is kept by: two panes of one session may work at the same time. */
export function turnOf({ thread, letter }: Report): string {
  return `${thread.thread} ${letter.pane}`;
}

export interface Outcome {
  readonly say?: Saying;
  readonly state?: ThreadRecord['state'];
  /** Done once what was to be said has been posted. */
  readonly after?: () => void | Promise<void>;
}

export type Handler<I extends HookInput> = (input: I, report: Report) => Promise<Outcome> | Outcome;
