// Types one message into one pane: pastes the text, waits until it is seen, presses Enter. Each step checks that the pane is still the same.
// Calling it again with the same id is always safe: nothing is typed twice.

import { ThreadmuxError } from '../core/errors.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { ShOptions } from '../hosts/host.ts';
import { isKey, type Press, READ_READY, readyLine, TYPE_SCRIPT } from './keys.ts';
import {
  deliveryId,
  type PaneGuard,
  type PaneRefusal,
  patternOf,
  readyFormat,
  refusalOf,
  type Seen,
  sameFormat,
  seenFormat,
} from './pane.ts';
import { type Tmux, unlessGone } from './tmux.ts';

interface TypedMessage {
  /**
   * Up to 20 digits, increasing from message to message: the pane remembers the last id and treats all ids up to it as done.
   * A message that the user sends again with Retry therefore needs a new id.
   */
  readonly id: string;
  /** Already cleaned: tab and newline are the only control characters allowed. */
  readonly text: string;
}

type TypeResult =
  | { readonly kind: 'delivered' }
  /** An earlier attempt or a later message has already been submitted. */
  | { readonly kind: 'already' }
  /** The text is in the pane, but Enter was not pressed; from now on only pressEnter() presses it. */
  | { readonly kind: 'text-only'; readonly because: PaneRefusal; readonly seen: Seen }
  /** Nothing was typed. */
  | { readonly kind: 'refused'; readonly because: PaneRefusal; readonly seen: Seen | undefined };

interface TypeOptions extends ShOptions {
  /** The pause between text and Enter: Claude Code treats an Enter that arrives with a long text as part of it. */
  readonly settleMs?: number;
  /**
   * Where and what the pane shows once it has taken the text. Enter is pressed as soon as it is seen, or after the pause if the box shows
   * something else. If the box stays as it was, only pressEnter() presses it.
   */
  readonly shown?:
    | {
        readonly from: string;
        readonly to: string;
        readonly whole: string;
        readonly parts: readonly string[];
        /** Enter comes after the whole pause in any case. */
        readonly late?: boolean;
      }
    | undefined;
  /** Types the text without bracketed paste. */
  readonly asKeys?: boolean;
  /** Press `key` first, and continue only when the screen shows `confirmed` (an extended regular expression). */
  readonly stash?: { readonly key: string; readonly confirmed: string } | undefined;
  /** Enter waits while the screen shows this (an extended regular expression), for two seconds at most. */
  readonly turnEnds?: string | undefined;
}

/** A dialog covers the box, or the agent has not read the text: Enter can be pressed when the text is seen there. */
export function isCovered(because: PaneRefusal): boolean {
  return because === 'dialog' || because === 'changing' || because === 'unread';
}

export const MAX_TEXT_BYTES = 2 * 1024 * 1024;
const SETTLE_MS = 300;
/** How long one look takes, with its own short wait. */
const LOOK_MS = 20;

export async function typeMessage(
  tmux: Tmux,
  guard: PaneGuard & { readonly command: string | undefined },
  message: TypedMessage,
  options: TypeOptions = {},
): Promise<TypeResult> {
  const { settleMs = SETTLE_MS, stash, shown, turnEnds, asKeys = false, ...call } = options;
  const bytes = Buffer.from(checkedText(message.text));
  if (stash !== undefined && !isKey(stash.key)) throw new ThreadmuxError('bad_usage', `${stash.key} is not a key`);
  const args = [
    ...[guard.pane.paneId, deliveryId(message.id), String(bytes.length), String(settleMs / 1000)],
    ...[sameFormat(guard), readyFormat(guard), seenFormat(guard)],
    ...(stash === undefined ? ['', ''] : [stash.key, patternOf(stash.confirmed)]),
    asKeys ? '' : '-p',
    turnEnds === undefined ? '' : patternOf(turnEnds),
    ...(shown === undefined
      ? []
      : [
          shown.late ? '0' : String(Math.ceil(settleMs / LOOK_MS)),
          patternOf(shown.from),
          patternOf(shown.to),
          String(shown.parts.length),
        ]),
  ];
  // Each is a line of its own, and line breaks do not count.
  const compared = shown === undefined ? [] : [shown.whole, ...shown.parts].map((part) => part.replaceAll('\n', ''));
  const input = Buffer.concat([...compared.map((line) => Buffer.from(`${line}\n`)), bytes]);
  const doing = `type into pane ${guard.pane.paneId}`;
  const printed = await tmux.script(TYPE_SCRIPT, args, { doing, ...call, input }).catch(unlessGone(undefined));
  if (printed === undefined) return { kind: 'refused', because: 'gone', seen: undefined };
  return readDelivery(printed, guard, tmux.host.name, bytes.length);
}

/** Pastes a text into the field of the dialog that `guard.shows` describes, without Enter. Once per id, like `pressInDialog`. */
export async function pasteInDialog(
  tmux: Tmux,
  guard: PaneGuard & { readonly shows: readonly string[] },
  id: string,
  text: string,
): Promise<Press> {
  const bytes = Buffer.from(checkedText(text));
  const args = [guard.pane.paneId, deliveryId(id), String(bytes.length), seenFormat(guard)];
  const doing = `write into pane ${guard.pane.paneId}`;
  const input = Buffer.concat([Buffer.from(readyLine(readyFormat(guard))), bytes]);
  const printed = (await tmux.script(PASTE_SCRIPT, args, { doing, input })).replace(/\n$/, '');
  if (printed === 'PASTED') return { kind: 'pressed' };
  if (printed === 'ALREADY') return { kind: 'already' };
  if (printed.startsWith('REFUSED ')) return { kind: 'refused', ...refusalOf(guard, printed.slice(8)) };
  throw new ThreadmuxError(
    'tmux_failed',
    `threadmux could not write into pane ${guard.pane.paneId} on ${tmux.host.name}`,
  );
}

/** stdin: the condition "ready", then the text. Arguments: pane, id, length in bytes, and the format to print after a refusal. */
const PASTE_SCRIPT = `pane=$1; id=$2; length=$3; seen=$4; b=threadmux-dialog-$id-$$
${READ_READY}trap 't delete-buffer -b "$b" 2>/dev/null' EXIT
n=$(t load-buffer -b "$b" - \\; list-buffers -f "#{==:#{buffer_name},$b}" -F '#{buffer_size}') || exit 1
[ "$n" = "$length" ] || { echo SIZE; exit 0; }
printf '%s\\n' "if-shell -F -t $pane '#{==:#{@threadmux_dialog},$id}' { display-message -p ALREADY } { if-shell -F -t $pane '$ready' \\
  { paste-buffer -p -r -d -b $b -t $pane ; set-option -p -t $pane @threadmux_dialog $id ; display-message -p PASTED } { display-message -p -t $pane 'REFUSED $seen' } }" | t source-file -`;

/** An escape byte could end the paste early and turn the rest into keystrokes; an empty buffer pastes an older one. */
function checkedText(text: string): string {
  const refused = (why: string) => new ThreadmuxError('bad_usage', `threadmux does not type this text: ${why}`);
  if (text === '') throw refused('it is empty');
  if (/[^\P{Cc}\t\n]/u.test(text)) throw refused('it contains control characters');
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) throw refused(`it has more than ${MAX_TEXT_BYTES} bytes`);
  return text;
}

function readDelivery(printed: string, guard: PaneGuard, host: string, length: number): TypeResult {
  const last = printed.replace(/\n$/, '').split('\n').at(-1) ?? '';
  const [, word, rest = ''] = last.match(/^([A-Z]+)(?: (.*))?$/s) ?? [];
  switch (word) {
    case 'ENTER':
      return { kind: 'delivered' };
    case 'ALREADY':
      return { kind: 'already' };
    case 'MIXED':
      return { kind: 'text-only', because: 'mixed', seen: refusalOf(guard, rest).seen };
    case 'UNREAD': {
      const held = refusalOf(guard, rest);
      return { kind: 'text-only', ...held, because: held.because === 'changing' ? 'unread' : held.because };
    }
    case 'HELD':
      return { kind: 'text-only', ...refusalOf(guard, rest) };
    case 'REFUSED':
      return { kind: 'refused', ...refusalOf(guard, rest) };
    case 'UNSTASHED':
      return { kind: 'refused', because: 'not-stashed', seen: refusalOf(guard, rest).seen };
    case 'SIZE':
      throw new ThreadmuxError(
        'tmux_failed',
        `threadmux typed nothing on ${host}: ${Number(rest) || 0} of ${length} bytes arrived there`,
        {
          hint: 'A startup file of the login shell there (such as .bashrc) may read stdin; it must not do so when ssh runs a command.',
        },
      );
    default:
      throw new ThreadmuxError(
        'tmux_failed',
        `threadmux could not type into pane ${guard.pane.paneId} on ${host}: tmux said ${untrustedCode(last)}`,
      );
  }
}
