// Presses named keys in a pane, with the same guards and marks as a message. Only listed keys are allowed, so no text can be typed.

import { isThreadmuxError, ThreadmuxError } from '../core/errors.ts';
import type { ShOptions } from '../hosts/host.ts';
import {
  allOf,
  deliveryId,
  type PaneGuard,
  type PaneRefusal,
  readyFormat,
  refusalOf,
  type Seen,
  sameFormat,
  seenFormat,
} from './pane.ts';
import type { Tmux } from './tmux.ts';
import { PRESS_SCRIPT } from './type-scripts.ts';

export type Press =
  | { readonly kind: 'pressed' }
  | { readonly kind: 'already' }
  | { readonly kind: 'refused'; readonly because: PaneRefusal; readonly seen: Seen | undefined };

const NAMED: ReadonlySet<string> = new Set([
  ...['Enter', 'Escape', 'Tab', 'BTab', 'Space', 'BSpace', 'DC', 'Up', 'Down', 'Left', 'Right'],
  ...['Home', 'End', 'PPage', 'NPage'],
]);

/** Key names as tmux spells them: the names above, F1 to F12, C- and M- with a letter, one letter or digit. */
export function isKey(name: string): boolean {
  return NAMED.has(name) || /^(F([1-9]|1[0-2])|[CM]-[a-z]|[A-Za-z0-9])$/.test(name);
}

/** The id keeps a retry after a crash from pressing twice. These ids are separate from the ids of messages. */
export async function pressKeys(
  tmux: Tmux,
  guard: PaneGuard,
  id: string,
  keys: readonly string[],
  options: ShOptions = {},
): Promise<Press> {
  const unknown = keys.find((key) => !isKey(key));
  if (unknown !== undefined || keys.length === 0)
    throw new ThreadmuxError('bad_usage', `${JSON.stringify(unknown ?? '')} is not a key that threadmux presses`, {
      hint: `Keys are ${[...NAMED].join(', ')}, F1 to F12, C-a to C-z, M-a to M-z, or one letter or digit.`,
    });
  const mark = deliveryId(id);
  return press(tmux, guard, options, {
    keys: keys.join(' '),
    before: `#{>=:#{@threadmux_keys},${mark}}`,
    ready: readyFormat(guard),
    marks: { '@threadmux_keys': mark },
  });
}

/** Presses Enter again for a message whose text is still in the pane; at most once per message. */
export async function pressEnter(
  tmux: Tmux,
  guard: PaneGuard & { readonly command: string },
  messageId: string,
  options: ShOptions = {},
): Promise<Press> {
  const mark = deliveryId(messageId);
  return press(tmux, guard, options, {
    keys: 'Enter',
    before: `#{>=:#{@threadmux_again},${mark}}`,
    ready: allOf([`#{==:#{@threadmux_text},${mark}}`, readyFormat(guard)]),
    marks: { '@threadmux_again': mark, '@threadmux_enter': mark },
  });
}

const PRESS_WITHIN_MS = 10_000;

interface Stroke {
  readonly keys: string;
  readonly before: string;
  readonly ready: string;
  readonly marks: Readonly<Record<string, string>>;
}

async function press(tmux: Tmux, guard: PaneGuard, options: ShOptions, stroke: Stroke): Promise<Press> {
  const { paneId } = guard.pane;
  const marks = Object.entries(stroke.marks).map(([name, value]) => `set-option -p -t ${paneId} ${name} ${value}`);
  const args = [
    paneId,
    sameFormat(guard),
    stroke.ready,
    stroke.before,
    seenFormat(guard),
    stroke.keys,
    marks.join(' ; '),
    String(Math.ceil((options.timeoutMs ?? PRESS_WITHIN_MS) / 1_000)),
  ];
  try {
    const printed = await tmux.script(PRESS_SCRIPT, args, {
      doing: `press a key in pane ${paneId}`,
      ...options,
    });
    const line = printed.replace(/\n$/, '');
    if (line === 'PRESSED') return { kind: 'pressed' };
    if (line === 'ALREADY') return { kind: 'already' };
    return { kind: 'refused', ...refusalOf(guard, line.replace(/^REFUSED /, '')) };
  } catch (error) {
    if (isThreadmuxError(error, 'session_not_found')) return { kind: 'refused', because: 'gone', seen: undefined };
    throw error;
  }
}
