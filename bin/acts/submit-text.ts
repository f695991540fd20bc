// Types a text into a session and waits until the agent has submitted it. The receipt is read from the registry, which the bridge or the
// courier writes, so it also comes if one of them is killed meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import { confirm } from '../../bridge/confirm.ts';
import { createSharedLook } from '../../bridge/seen-screen.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { readPane } from '../../threads/read-pane.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { timesSubmitted } from '../../threads/submitted-prompts.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { paneOf, recordNow, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { type TypingOutcome, type TypingPatience, typeText, UNREPORTED, unreported } from './type-text.ts';

export interface Submitted {
  /** `queued`: the agent still works, and takes it next. `run`: a command line in a shell. */
  readonly outcome: 'submitted' | 'queued' | 'run';
  readonly at: number;
}

const CONFIRM_MS = 1_500;
const SCREEN_MS = 300;
const LOOK_MS = 60;

/** Rejects with the reason if it was not submitted. `confirmMs`: how long to wait for the receipt. */
export async function submitText(
  target: SessionTarget,
  text: string,
  reach: SessionFinder,
  { confirmMs, ...rules }: TypingPatience & { readonly confirmMs: number },
): Promise<Submitted> {
  const sent = await typeText(target, text, reach, rules);
  if (sent.outcome !== 'typed') throw notTyped(sent);
  if (sent.typed === undefined) return { outcome: 'run', at: sent.at };
  const { typed, at } = sent;
  const record = target.record ?? unreported(target, { command: target.session.pane.command }, rules.allowShell);
  const late = AbortSignal.timeout(confirmMs);
  const proof = await confirm(
    { typed, deliveryId: sent.mark },
    {
      ...{ tmux: target.tmux, record: typedInto(record, target), signal: late, look: createSharedLook() },
      waits: { confirmMs: CONFIRM_MS, screenMs: SCREEN_MS },
      isHeard: () => record.claudeSession !== '',
      receipt: (ms) => hasReceipt(target, reach, { text: typed.text, at, ms }),
      onUnreachable: async () => {},
    },
  ).catch((error: unknown) => {
    if (!late.aborted) throw error;
    return undefined;
  });
  if (proof?.kind === 'submitted') return { outcome: 'submitted', at };
  if (proof === undefined && (await isWorking(target))) return { outcome: 'queued', at };
  throw new ThreadmuxError('not_submitted', `the text was typed, but not confirmed. ${proof?.because ?? ''}`.trim(), {
    hint: 'Read the screen before you send it again: it may have been submitted.',
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

async function isWorking(target: SessionTarget): Promise<boolean> {
  const seen = await lookAtPane(target.tmux, paneOf(target));
  if (seen.kind === 'gone') return false;
  const { screen } = readPane(seen, target.record ?? UNREPORTED);
  return (screen.kind === 'empty' && (screen.busy || screen.queued)) || (screen.kind === 'draft' && screen.busy);
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
