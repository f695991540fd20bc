// The input and the result of every handler: what to post, and the new state of Claude.

import type { HookInput } from '../../agents/claude/hook-input.ts';
import type { Rest } from '../../discord/rest.ts';
import type { SessionPane } from '../../threads/session-threads.ts';
import type { ThreadRecord } from '../../threads/thread-record.ts';
import type { CourierContext } from '../courier-context.ts';
import type { MessageParts } from '../fit-message.ts';
import type { Letter } from '../letter.ts';

export interface EventReport {
  readonly letter: Letter;
  readonly session: SessionPane;
  readonly context: CourierContext;
  readonly rest: Rest;
  readonly thread: ThreadRecord;
}

/** The key of a turn's progress. It includes the pane, because two panes of one session may work at the same time. */
export function turnOf({ thread, letter }: EventReport): string {
  return `${thread.thread} ${letter.pane}`;
}

export interface EventOutcome {
  readonly say?: MessageParts;
  readonly state?: ThreadRecord['state'];
  /** Called after `say` has been posted. */
  readonly after?: () => void | Promise<void>;
}

export type EventHandlerOf<I extends HookInput> = (
  input: I,
  report: EventReport,
) => Promise<EventOutcome> | EventOutcome;
