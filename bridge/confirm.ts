// Waits for the receipt: proof that a typed message was submitted. The agent's hook reports it; without hooks, the
// screen shows it.

import { setTimeout as sleep } from 'node:timers/promises';
import { describeScreen } from '../agents/describe-screen.ts';
import type { AgentDriver } from '../agents/driver.ts';
import { hasDialog } from '../agents/screen-fingerprint.ts';
import { isThreadmuxError } from '../core/errors.ts';
import { isNewer } from '../core/snowflake.ts';
import { untrustedReason } from '../core/untrusted-text.ts';
import { readPane } from '../threads/read-pane.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import { pressEnter } from '../tmux/keys.ts';
import type { PaneRef } from '../tmux/pane.ts';
import type { Tmux } from '../tmux/tmux.ts';
import type { TypedState } from './delivery-attempt.ts';
import type { Waits } from './delivery-waits.ts';
import type { SharedLook } from './shared-look.ts';

type TypedMessage = Pick<TypedState, 'typed' | 'deliveryId'>;

export interface ConfirmOptions {
  readonly tmux: Tmux;
  /** `command`: the program that was typed into. */
  readonly record: PaneRef & Pick<ThreadRecord, 'command' | 'shell' | 'claudeSession' | 'agent'>;
  readonly signal: AbortSignal;
  readonly look: SharedLook;
  /** Whether hooks report from this pane. */
  readonly isHeard: () => boolean;
  /** Whether the receipt comes within this time. */
  readonly receipt: (ms: number) => Promise<boolean>;
  /** Called once when the pane cannot be read. */
  readonly onUnreachable: (because: string) => Promise<void>;
  readonly waits: Pick<Waits, 'confirmMs' | 'screenMs'>;
  /** A dialog opened after the text was pasted, so Enter was not pressed. */
  readonly isCovered?: boolean | undefined;
  /** It is covered, but no dialog was seen: the box stayed as it was. The agent may still read the text. */
  readonly isUnread?: boolean | undefined;
}

type Confirmation =
  | {
      readonly kind: 'submitted';
      readonly by: 'hook' | 'screen';
      /** A dialog is open now. */
      readonly dialog: boolean;
    }
  /** The dialog took the text: it is not in the box, and Enter was never pressed. */
  | { readonly kind: 'swallowed'; readonly because: string; readonly screen: string }
  | { readonly kind: 'unproven'; readonly because: string; readonly screen: string | undefined };

/** After this many looks at an idle pane, the receipt will not come. */
const VAIN_LOOKS = 4;
/** The agent has read the keys that closed the dialog, so it has also read the text before them. */
const SWALLOWED_LOOKS = 2;
const SWALLOWED = 'A dialog opened while it was typed, and took the text.';
const LONGEST_MS = 24 * 3_600_000;
const LONGEST_PAUSE_MS = 5_000;
const SCREEN_LOOKS = 12;
/** Looks at a box without the text. One look is not enough: the text may not be drawn yet. */
const GONE_LOOKS = 3;
/** An agent that loads something may show a screen that nobody knows for half a minute. */
const UNCLEAR_LOOKS = 200;
const BY_HOOK = { kind: 'submitted', by: 'hook', dialog: false } as const;

export async function confirm(message: TypedMessage, options: ConfirmOptions): Promise<Confirmation> {
  return message.typed.kind === 'slash' || !options.isHeard()
    ? confirmByScreen(message, options)
    : confirmByHook(message, options);
}

async function confirmByHook(message: TypedMessage, options: ConfirmOptions): Promise<Confirmation> {
  const deadline = Date.now() + LONGEST_MS;
  const waitMs = options.waits.confirmMs;
  const away = createAway(options);
  let mayBeSwallowed = options.isCovered && !options.isUnread;
  for (let vain = 0; Date.now() < deadline; ) {
    if (await options.receipt(waitMs)) return BY_HOOK;
    // Another message's look is good enough if it began well after this text was typed.
    const seen = await lookAgain(message, options, waitMs / 2);
    if (seen.kind === 'unseen') {
      await away(seen);
      continue;
    }
    if (seen.kind === 'over') return { kind: 'unproven', because: seen.because, screen: seen.screen };
    vain = seen.kind === 'idle' || seen.kind === 'standing' ? vain + 1 : 0;
    if (seen.kind === 'dialog') mayBeSwallowed = options.isCovered;
    if (mayBeSwallowed && vain >= SWALLOWED_LOOKS && seen.kind === 'idle' && seen.isUntouched)
      return { kind: 'swallowed', because: SWALLOWED, screen: seen.screen };
    if (vain >= VAIN_LOOKS)
      return {
        kind: 'unproven',
        because:
          seen.kind === 'standing' ? 'The text is still in the input box, because Enter does not submit it.' : '',
        screen: seen.screen,
      };
    if (seen.kind === 'standing') await pressOnceMore(message, options);
  }
  return { kind: 'unproven', because: 'It was not submitted within a day.', screen: undefined };
}

/** No hook reports, so the proof is that the text has left the box. */
async function confirmByScreen(message: TypedMessage, options: ConfirmOptions): Promise<Confirmation> {
  const deadline = Date.now() + LONGEST_MS;
  const away = createAway(options);
  for (let tries = 0, gone = 0, unclear = 0; tries < SCREEN_LOOKS && Date.now() < deadline; ) {
    if (await options.receipt(options.waits.screenMs)) return BY_HOOK;
    const seen = await lookAgain(message, options);
    // Conclude nothing while the pane cannot be read.
    if (seen.kind === 'unseen') {
      await away(seen);
      continue;
    }
    if (seen.kind === 'unclear' && ++unclear < UNCLEAR_LOOKS) continue;
    tries++;
    if (seen.kind === 'dialog') return { kind: 'submitted', by: 'screen', dialog: true };
    if (seen.kind === 'over') return { kind: 'unproven', because: seen.because, screen: seen.screen };
    gone = seen.kind === 'idle' || seen.kind === 'busy' ? gone + 1 : 0;
    if (gone >= GONE_LOOKS) return { kind: 'submitted', by: 'screen', dialog: false };
    if (seen.kind === 'standing' && tries > 4) await pressOnceMore(message, options);
  }
  return { kind: 'unproven', because: 'The text is still in the input box.', screen: undefined };
}

/** Reports once that the pane cannot be read: at once if the host is unreachable, otherwise after a second failed look. */
function createAway({ onUnreachable, signal }: ConfirmOptions) {
  let looks = 0;
  let told = false;
  return async ({ because, surely }: Seen & { kind: 'unseen' }): Promise<void> => {
    looks++;
    if (!told && (surely || looks >= 2)) {
      told = true;
      await onUnreachable(because);
    }
    await sleep(Math.min(LONGEST_PAUSE_MS, 500 * looks), undefined, { signal });
  };
}

/** Looks again first, because a restored draft of the user must not be submitted. */
async function pressOnceMore(message: TypedMessage, options: ConfirmOptions): Promise<void> {
  await sleep(500, undefined, { signal: options.signal });
  const seen = await lookAgain(message, options);
  if (seen.kind !== 'standing') return;
  const { tmux, record } = options;
  const { screen, typing } = seen.driver;
  const shows = typing.boxLines(seen.screen, '', { width: 80, height: 24 });
  const guard = { pane: record, command: record.command, dialog: screen.dialogLine, shows };
  await pressEnter(tmux, guard, message.deliveryId).catch((error: unknown) => {
    // The next look presses it again; tmux knows whether it was pressed.
    if (options.signal.aborted || !isThreadmuxError(error)) throw error;
  });
}

type Seen =
  /** `isUntouched`: the box is empty, and Enter was not pressed for this message. */
  | { readonly kind: 'idle'; readonly screen: string; readonly isUntouched: boolean }
  /** `unclear`: the program that was typed into shows a screen that nobody knows. */
  | { readonly kind: 'busy' | 'dialog' | 'unclear'; readonly screen: string }
  | { readonly kind: 'standing'; readonly screen: string; readonly driver: AgentDriver }
  | { readonly kind: 'unseen'; readonly because: string; readonly surely: boolean }
  | { readonly kind: 'over'; readonly because: string; readonly screen: string | undefined };

async function lookAgain(
  message: TypedMessage,
  { tmux, record, signal, look }: ConfirmOptions,
  maxAgeMs = 0,
): Promise<Seen> {
  try {
    const seen = await look(tmux, record, { maxAgeMs, signal });
    if (seen.kind === 'gone') return { kind: 'over', because: 'The pane is gone.', screen: undefined };
    const { screen, driver } = readPane(seen, record);
    const { text } = seen;
    if (driver.screen.boxHolds(screen, message.typed.text) === 'yes') return { kind: 'standing', screen: text, driver };
    if (hasDialog(text, driver.screen)) return { kind: 'dialog', screen: text };
    switch (screen.kind) {
      case 'empty':
      case 'draft':
        if (screen.busy || (screen.kind === 'empty' && screen.queued)) return { kind: 'busy', screen: text };
        return {
          kind: 'idle',
          screen: text,
          isUntouched: screen.kind === 'empty' && !isMarked(seen.typed.enter, message.deliveryId),
        };
      case 'dialog':
        return { kind: 'dialog', screen: text };
      case 'otherProgram':
        if (record.claudeSession === '' && seen.command === record.command) return { kind: 'unclear', screen: text };
        return { kind: 'over', because: describeScreen(screen, driver.title), screen: text };
      case 'dead':
      case 'shell':
        return { kind: 'over', because: describeScreen(screen, driver.title), screen: text };
      default:
        return { kind: 'busy', screen: text };
    }
  } catch (error) {
    if (signal.aborted || !isThreadmuxError(error)) throw error;
    const surely = isThreadmuxError(error, 'host_unreachable');
    return { kind: 'unseen', because: untrustedReason(error), surely };
  }
}

/** Ids grow with each message, and the pane stores the last one. */
export function isMarked(mark: string | undefined, deliveryId: string): boolean {
  return mark !== undefined && !isNewer(deliveryId, mark);
}
