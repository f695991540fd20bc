// Types a text into a session and waits until the agent has submitted it. The receipt is read from the registry, which the bridge or the
// courier writes, so it also comes if one of them is killed meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import { confirm } from '../../bridge/confirm.ts';
import { createSharedLook } from '../../bridge/shared-look.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { readPane } from '../../threads/read-pane.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { timesSubmitted } from '../../threads/submitted-prompts.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { paneOf, recordNow, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { type TypingOutcome, type TypingPatience, takesLater, typeText, UNREPORTED, unreported } from './type-text.ts';

export interface Submitted {
  /** `queued`: the agent still works, and takes it next. `run`: a command line in a shell. */
  readonly outcome: 'submitted' | 'queued' | 'run';
  readonly at: number;
}

const CONFIRM_MS = 1_500;
const SCREEN_MS = 300;
const LOOK_MS = 60;
/** So long after Enter, an agent that works has put the text into its queue, or has reported that it was submitted. */
const QUEUED_WITHIN_MS = 1_000;
const DRAWN_WITHIN_MS = 700;

interface SubmitRules extends TypingPatience {
  /** How long to wait for the receipt. */
  readonly confirmMs: number;
  /** If the agent works, that the text is in its queue is enough. The receipt comes when its turn comes. */
  readonly mayQueue: boolean;
}

type TypedByUs = Exclude<TypingOutcome, { outcome: 'refused' }> & { readonly typed: object };

/** Rejects with the reason if it was not submitted. */
export async function submitText(
  target: SessionTarget,
  text: string,
  finder: SessionFinder,
  { confirmMs, mayQueue, ...rules }: SubmitRules,
): Promise<Submitted> {
  const sent = await typeText(target, text, finder, rules);
  if (sent.outcome === 'refused') throw notTyped(sent);
  const { typed, at } = sent;
  if (typed === undefined) return { outcome: 'run', at };
  if (sent.outcome === 'held') {
    const isSubmitted = await afterDialog({ ...sent, typed }, target, finder, rules);
    return isSubmitted
      ? { outcome: 'submitted', at }
      : submitText(target, text, finder, { confirmMs, mayQueue, ...rules });
  }
  const deadline = Date.now() + confirmMs;
  for (let shortMs = mayQueue && sent.wasBusy ? QUEUED_WITHIN_MS : confirmMs; ; shortMs *= 2) {
    const until = Math.min(deadline, Date.now() + shortMs);
    const proof = await proofBefore(until, target, { ...sent, typed }, finder, rules.allowShell);
    if (proof?.kind === 'submitted') {
      const isWaiting = mayQueue && sent.wasBusy && (await showsQueue(target, typed.text));
      return { outcome: isWaiting ? 'queued' : 'submitted', at };
    }
    if (proof === undefined && (await queueOf(target, typed.text)) !== 'no') return { outcome: 'queued', at };
    if (proof === undefined && Date.now() < deadline) continue;
    throw new ThreadmuxError('not_submitted', `the text was typed, but not confirmed. ${proof?.because ?? ''}`.trim(), {
      hint: 'Read the screen before you send it again: it may have been submitted.',
    });
  }
}

/** Waits until the dialog is closed that opened before Enter. False if it took the text: then none of it is in the box. */
async function afterDialog(
  sent: TypedByUs & { readonly outcome: 'held' },
  target: SessionTarget,
  finder: SessionFinder,
  { dialogMs, waitMs, allowShell }: TypingPatience,
): Promise<boolean> {
  // Without hooks, an open dialog is the proof that a text was submitted.
  if (!sent.isCovered || target.record === undefined || target.record.claudeSession === '') throw notTyped(sent);
  const proof = await proofBefore(Date.now() + (dialogMs ?? waitMs), target, sent, finder, allowShell);
  if (proof?.kind === 'submitted') return true;
  if (proof?.kind === 'swallowed') return false;
  throw notTyped(sent);
}

/** Undefined if it is not known at that time. */
async function proofBefore(
  until: number,
  target: SessionTarget,
  { typed, mark, at, ...sent }: TypedByUs,
  finder: SessionFinder,
  allowShell: boolean,
) {
  const record = target.record ?? unreported(target, { command: target.session.pane.command }, allowShell);
  const left = () => Math.max(1, until - Date.now());
  const late = AbortSignal.timeout(left());
  return confirm(
    { typed, deliveryId: mark },
    {
      tmux: target.tmux,
      record: typedInto(record, target),
      signal: late,
      look: createSharedLook(),
      waits: { confirmMs: CONFIRM_MS, screenMs: SCREEN_MS },
      isCovered: sent.outcome === 'held',
      isUnread: sent.outcome === 'held' && sent.isUnread,
      isHeard: () => record.claudeSession !== '',
      receipt: (ms) => hasReceipt(target, finder, { text: typed.text, at, ms: Math.min(ms, left()) }),
      onUnreachable: async () => {},
    },
  ).catch((error: unknown) => {
    if (!late.aborted) throw error;
    return undefined;
  });
}

/** Without hooks, only the program that runs there now is known. */
function typedInto<R extends Pick<ThreadRecord, 'command' | 'claudeSession'>>(
  record: R,
  { session }: SessionTarget,
): R {
  return record.claudeSession === '' ? { ...record, command: session.pane.command } : record;
}

async function hasReceipt(
  target: SessionTarget,
  { home }: SessionFinder,
  { text, at, ms }: { readonly text: string; readonly at: number; readonly ms: number },
): Promise<boolean> {
  for (const deadline = Date.now() + ms; ; await sleep(LOOK_MS)) {
    const record = recordNow(home, target);
    if (record !== undefined && timesSubmitted(record, text, at) > 0) return true;
    if (Date.now() >= deadline) return false;
  }
}

/** Newer versions of Claude Code send the receipt when they put the text into their queue, and draw it a moment later. */
async function showsQueue(target: SessionTarget, text: string): Promise<boolean> {
  for (const deadline = Date.now() + DRAWN_WITHIN_MS; Date.now() < deadline; await sleep(LOOK_MS))
    if ((await queueOf(target, text)) === 'shown') return true;
  return false;
}

/** `likely`: the agent works, and the text has left its box. */
async function queueOf(target: SessionTarget, text: string): Promise<'shown' | 'likely' | 'no'> {
  const seen = await lookAtPane(target.tmux, paneOf(target));
  if (seen.kind === 'gone') return 'no';
  const { screen, driver } = readPane(seen, target.record ?? UNREPORTED);
  if (screen.kind === 'empty' && screen.queued) return 'shown';
  return takesLater(screen) && driver.screen.boxHolds(screen, text) !== 'yes' ? 'likely' : 'no';
}

function notTyped(sent: Exclude<TypingOutcome, { outcome: 'typed' }>): ThreadmuxError {
  if (sent.outcome === 'held')
    return new ThreadmuxError('not_submitted', `the text was typed, but Enter was not pressed: ${sent.because}`, {
      hint: 'Read the screen: the text is in the input box.',
    });
  if (sent.needsPerson)
    return new ThreadmuxError('needs_person', `nothing was typed: ${sent.because}`, {
      hint: 'A person has to answer the dialog in the thread or in the terminal. Send it again after that.',
    });
  return new ThreadmuxError('not_submitted', `nothing was typed: ${sent.because}`, {
    hint: sent.passing ? 'Try again later.' : 'Read the screen to see what runs in the pane.',
  });
}
