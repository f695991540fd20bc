// Types one message into one pane: the text as a paste, a pause, then Enter, each only if the pane is still the one meant.
// Calling it again with the same id is always safe: what was typed is never typed twice.

import { isThreadmuxError, ThreadmuxError } from '../core/errors.ts';
import { code } from '../core/outside-words.ts';
import type { ShOptions } from '../hosts/host.ts';
import { DELIVER_SCRIPT } from './deliver-script.ts';
import { isKey } from './keys.ts';
import {
  deliveryId,
  type PaneGuard,
  patternOf,
  type Refusal,
  readyFormat,
  refusalOf,
  type Seen,
  sameFormat,
  seenFormat,
} from './pane.ts';
import type { Tmux } from './tmux.ts';

interface Message {
  /**
   * Up to 20 digits, growing from message to message: the pane remembers the last one, and takes every id up to it
   * for done. A message typed anew on the person's order therefore needs a new id, not the one it first had.
   */
  readonly id: string;
  /** Cleaned already: of the control characters only tab and newline are allowed in it. */
  readonly text: string;
}

type Delivery =
  | { readonly kind: 'delivered' }
  /** An earlier attempt, or a later message, has been typed and entered. */
  | { readonly kind: 'already' }
  /** The text is in the pane and Enter was not pressed; only pressEnter() presses it then. */
  | { readonly kind: 'text-only'; readonly because: Refusal; readonly seen: Seen }
  /** Nothing was typed. */
  | { readonly kind: 'refused'; readonly because: Refusal; readonly seen: Seen | undefined };

interface DeliverOptions extends ShOptions {
  /** Between text and Enter; Claude Code takes an Enter that comes with a long text for a part of it. */
  readonly settleMs?: number;
  /** As if every character were typed: no program is told that it is a paste. */
  readonly asKeys?: boolean;
  /** Press `key` first, and go on only when the screen shows `confirmed` (an extended regular expression). */
  readonly stash?: { readonly key: string; readonly confirmed: string };
}

export const MAX_TEXT_BYTES = 2 * 1024 * 1024;
const SETTLE_MS = 300;

export async function deliver(
  tmux: Tmux,
  guard: PaneGuard & { readonly command: string | undefined },
  message: Message,
  options: DeliverOptions = {},
): Promise<Delivery> {
  const { settleMs = SETTLE_MS, stash, asKeys = false, ...call } = options;
  const bytes = Buffer.from(checkedText(message.text));
  if (stash !== undefined && !isKey(stash.key))
    throw new ThreadmuxError('bad_usage', `${stash.key} is not a key`);
  const args = [
    ...[guard.pane.paneId, deliveryId(message.id), String(bytes.length), String(settleMs / 1000)],
    ...[sameFormat(guard), readyFormat(guard), seenFormat(guard)],
    ...(stash === undefined ? ['', ''] : [stash.key, patternOf(stash.confirmed)]),
    asKeys ? '' : '-p',
  ];
  try {
    const printed = await tmux.script(DELIVER_SCRIPT, args, {
      doing: `type into pane ${guard.pane.paneId}`,
      ...call,
      input: bytes,
    });
    return readDelivery(printed, guard, tmux.host.name, bytes.length);
  } catch (error) {
    if (isThreadmuxError(error, 'session_not_found'))
      return { kind: 'refused', because: 'gone', seen: undefined };
    throw error;
  }
}

/** An escape byte could end the paste early and turn the rest into keystrokes; an empty buffer pastes an older one. */
function checkedText(text: string): string {
  const refused = (why: string) =>
    new ThreadmuxError('bad_usage', `threadmux does not type this text: ${why}`);
  if (text === '') throw refused('it is empty');
  if (/[^\P{Cc}\t\n]/u.test(text)) throw refused('it holds control characters');
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES)
    throw refused(`it has more than ${MAX_TEXT_BYTES} bytes`);
  return text;
}

function readDelivery(printed: string, guard: PaneGuard, host: string, length: number): Delivery {
  const last = printed.replace(/\n$/, '').split('\n').at(-1) ?? '';
  const [, word, rest = ''] = last.match(/^([A-Z]+)(?: (.*))?$/s) ?? [];
  switch (word) {
    case 'ENTER':
      return { kind: 'delivered' };
    case 'ALREADY':
      return { kind: 'already' };
    case 'HELD':
      return { kind: 'text-only', ...refusalOf(guard, rest) };
    case 'REFUSED':
      return { kind: 'refused', ...refusalOf(guard, rest) };
    case 'UNSTASHED':
      return { kind: 'refused', because: 'not-stashed', seen: refusalOf(guard, rest).seen };
    case 'SIZE':
      throw new ThreadmuxError(
        'tmux_failed',
        `threadmux typed nothing on ${host}: ${rest || 0} of ${length} bytes arrived there`,
        {
          hint: 'A start-up file of the login shell there (such as .bashrc) may read from stdin; it must not when it runs for ssh.',
        },
      );
    default:
      throw new ThreadmuxError(
        'tmux_failed',
        `threadmux could not type into pane ${guard.pane.paneId} on ${host}: tmux said ${code(last)}`,
      );
  }
}
