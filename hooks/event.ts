// The input and the result of every handler: what to post, and the new state of Claude.

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

/** The key of a turn's progress. It includes the pane, because two panes of one session may work at the same time. */
export function turnOf({ thread, letter }: Report): string {
  return `${thread.thread} ${letter.pane}`;
}

export interface Outcome {
  readonly say?: Saying;
  readonly state?: ThreadRecord['state'];
  /** Called after `say` has been posted. */
  readonly after?: () => void | Promise<void>;
}

export type Handler<I extends HookInput> = (input: I, report: Report) => Promise<Outcome> | Outcome;
