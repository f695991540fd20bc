// What is known of one pane from looking at it. A reading counts when it was seen twice: one look may catch a half-drawn screen.

import { isSameState, type KnownFacts, type ScreenReading } from './session-state.ts';

export interface SeenPane {
  seen?: KnownFacts['seen'];
  isOver?: boolean;
  /** The host was away since the last look. */
  isStale?: boolean;
  /** Another reading, seen once. */
  next?: ScreenReading | undefined;
  /** When the screen last showed that the agent works. */
  workingAt?: number;
  print?: string;
  told?: string;
}

/** Undefined: the screen says nothing certain. */
export function addReading(view: SeenPane, reading: ScreenReading | undefined, at: number): void {
  if (reading?.state === 'working') view.workingAt = at;
  const known = [view.seen?.reading, view.next];
  if (reading === undefined) view.next = undefined;
  else if (view.seen === undefined || known.some((one) => isSameState(one, reading))) {
    const dialogAt = reading.state === 'needs_person' ? at : (view.seen?.dialogAt ?? 0);
    view.seen = { reading, at, dialogAt, workingAt: view.workingAt ?? 0 };
    view.next = undefined;
  } else view.next = reading;
}

/** What the screen shows was seen only once. */
export function isUnsure(view: SeenPane): boolean {
  return view.next !== undefined || view.print !== view.told;
}
