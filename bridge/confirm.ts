// After Enter: proof. Claude Code's own hook confirms a prompt; without it we look again, press
// Enter once more if the text still stands in the box, and never type a second time.

import { setTimeout as sleep } from 'node:timers/promises';
import { DIALOG, hasDialog } from '../claude/dialog-line.ts';
import { boxHolds, describeScreen } from '../claude/screen-words.ts';
import { isThreadmuxError } from '../core/errors.ts';
import type { PaneRecord } from '../home/pane-record.ts';
import { pressEnter } from '../tmux/keys.ts';
import type { Tmux } from '../tmux/tmux.ts';
import { type Errand, screenOf } from './forward.ts';
import { type SeenScreen, seenScreen } from './seen-screen.ts';
import type { SharedLook } from './shared-look.ts';

export interface Proof {
  readonly tmux: Tmux;
  readonly record: PaneRecord;
  readonly signal: AbortSignal;
  readonly look: SharedLook;
  /** Whether the receipt comes within this time. */
  readonly receipt: (ms: number) => Promise<boolean>;
  /** Whether it came while nobody listened. */
  readonly asked: () => Promise<boolean>;
  readonly waitMs?: number;
}

export type Verdict =
  | { readonly kind: 'submitted'; readonly dialog: SeenScreen | undefined }
  | {
      readonly kind: 'unproven';
      readonly because: string;
      readonly screen: SeenScreen | undefined;
    };

const WAIT_MS = 4_000;
/** Looks at a pane that does nothing about it, after which the receipt will not come any more. */
const VAIN_LOOKS = 4;
const LONGEST_MS = 24 * 3_600_000;

export async function confirm(errand: Errand, proof: Proof): Promise<Verdict> {
  return errand.typed.kind === 'slash'
    ? confirmByScreen(errand, proof)
    : confirmByHook(errand, proof);
}

async function confirmByHook(errand: Errand, proof: Proof): Promise<Verdict> {
  const deadline = Date.now() + LONGEST_MS;
  const waitMs = proof.waitMs ?? WAIT_MS;
  for (let vain = 0, patient = 0; Date.now() < deadline; ) {
    if (await proof.receipt(waitMs)) return { kind: 'submitted', dialog: undefined };
    // What a neighbour saw will do, if it was seen well after our own text was typed.
    const seen = await lookAgain(errand, proof, waitMs / 2);
    if (seen.kind === 'unseen') continue; // the host is away: what was typed there stays typed
    patient = seen.kind === 'busy' ? patient + 1 : 0;
    if (isDue(patient) && (await proof.asked().catch(() => false)))
      return { kind: 'submitted', dialog: undefined };
    if (seen.kind === 'over')
      return { kind: 'unproven', because: seen.because, screen: seen.screen };
    vain = seen.kind === 'idle' || seen.kind === 'standing' ? vain + 1 : 0;
    if (vain >= VAIN_LOOKS)
      return {
        kind: 'unproven',
        because:
          seen.kind === 'standing'
            ? 'It stands in the box, and Enter does not submit it.'
            : 'It was typed, but Claude Code never confirmed it.',
        screen: seen.screen,
      };
    if (seen.kind === 'standing') await pressOnceMore(errand, proof);
  }
  return {
    kind: 'unproven',
    because: 'Claude Code has not confirmed it for a day.',
    screen: undefined,
  };
}

/** While Claude works, receipts are late and hardly ever lost: the server is asked less and less often. */
function isDue(patient: number): boolean {
  return (patient & (patient - 1)) === 0;
}

/** No hook tells of a slash command; that it left the box, and what came of it, does. */
async function confirmByScreen(errand: Errand, proof: Proof): Promise<Verdict> {
  for (let tries = 0, gone = 0; tries < 12; tries++) {
    await sleep(400, undefined, { signal: proof.signal });
    const seen = await lookAgain(errand, proof);
    if (seen.kind === 'dialog') return { kind: 'submitted', dialog: seen.screen };
    if (seen.kind === 'over')
      return { kind: 'unproven', because: seen.because, screen: seen.screen };
    gone = seen.kind === 'idle' || seen.kind === 'busy' ? gone + 1 : 0;
    if (gone >= 3) return { kind: 'submitted', dialog: undefined };
    if (seen.kind === 'standing' && tries > 4) await pressOnceMore(errand, proof);
  }
  return { kind: 'unproven', because: 'The command still stands in the box.', screen: undefined };
}

/** Only if it stands there still after a moment: a draft that came back in its place must not be sent. */
async function pressOnceMore(errand: Errand, proof: Proof): Promise<void> {
  await sleep(500, undefined, { signal: proof.signal });
  if ((await lookAgain(errand, proof)).kind !== 'standing') return;
  const { tmux, record } = proof;
  await pressEnter(
    tmux,
    { pane: record, command: record.command, dialog: DIALOG },
    errand.deliveryId,
  );
}

type Seen =
  | { readonly kind: 'idle' | 'busy' | 'dialog' | 'standing'; readonly screen: SeenScreen }
  | { readonly kind: 'unseen' }
  | { readonly kind: 'over'; readonly because: string; readonly screen: SeenScreen | undefined };

async function lookAgain(
  errand: Errand,
  { tmux, record, signal, look }: Proof,
  maxAgeMs = 0,
): Promise<Seen> {
  try {
    const seen = await look(tmux, record, { maxAgeMs, signal });
    if (seen.kind === 'gone')
      return { kind: 'over', because: 'The pane is gone.', screen: undefined };
    const screen = screenOf(seen, record);
    const text = seen.text;
    const shown = seenScreen(record, seen);
    if (boxHolds(screen, errand.typed.text) === 'yes') return { kind: 'standing', screen: shown };
    if (hasDialog(text)) return { kind: 'dialog', screen: shown };
    switch (screen.kind) {
      case 'empty':
      case 'draft':
        return {
          kind: screen.busy || (screen.kind === 'empty' && screen.queued) ? 'busy' : 'idle',
          screen: shown,
        };
      case 'dialog':
        return { kind: 'dialog', screen: shown };
      case 'dead':
      case 'shell':
      case 'otherProgram':
        return { kind: 'over', because: describeScreen(screen), screen: shown };
      default:
        return { kind: 'busy', screen: shown };
    }
  } catch (error) {
    if (signal.aborted || !isThreadmuxError(error)) throw error;
    return { kind: 'unseen' };
  }
}
