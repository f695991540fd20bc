// Decides what happens to the card of a dialog when the pane was looked at. Pure.

import type { AgentDialog } from '../../agents/screen.ts';
import type { DialogCard } from '../../threads/registry.ts';

type CardStep =
  | { readonly do: 'nothing' }
  /** Look again then: a hook may have posted a prompt for it. */
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'post' }
  | { readonly do: 'edit' }
  /** The old dialog is over, and this is another one. */
  | { readonly do: 'replace' }
  | { readonly do: 'close' }
  /** A panel that only shows something: post what it shows, and press Esc. */
  | { readonly do: 'dismiss' };

interface CardFacts {
  readonly dialog: Pick<AgentDialog, 'which' | 'form' | 'title'> & { readonly print: string };
  readonly card: Pick<DialogCard, 'print' | 'which' | 'title' | 'message' | 'answer'> | undefined;
  /** A prompt of a hook stands for this dialog. */
  readonly isPrompted: boolean;
  /** Hooks report from this pane, so a prompt may still come. */
  readonly isHeard: boolean;
  readonly seenForMs: number;
  /** A message waits, or a command from the thread has opened it. */
  readonly isInTheWay: boolean;
}

/** The letter of a hook takes this long at most. */
const PROMPT_WITHIN_MS = 3_000;
const OF_HOOKS: readonly string[] = ['permission', 'question', 'plan'];

/**
 * All of a kind have the same title, so another text is another thing to approve: it must not take the place of the one that somebody is
 * about to tap, and people are told of a new message, not of an edit.
 */
const APPROVES: readonly string[] = ['permission', 'plan'];

/** Hooks post prompts for these; an unknown dialog may be one of them. */
export function isOfHooks(which: string): boolean {
  return OF_HOOKS.includes(which) || which === 'unknown';
}

export function decideCard({ dialog, card, ...facts }: CardFacts): CardStep {
  if (facts.isPrompted) return { do: card === undefined ? 'nothing' : 'close' };
  if (dialog.form === 'panel') {
    if (facts.isInTheWay) return { do: 'dismiss' };
    return { do: card === undefined ? 'nothing' : 'close' };
  }
  const isSame = card?.print === dialog.print;
  if (isSame) return { do: card.message === '' ? 'post' : 'nothing' };
  const isScrolled = card?.which === dialog.which && card.title === dialog.title && card.answer === undefined;
  if (isScrolled && !APPROVES.includes(dialog.which)) return { do: 'edit' };
  const left = PROMPT_WITHIN_MS - facts.seenForMs;
  if (isOfHooks(dialog.which) && facts.isHeard && left > 0)
    return card === undefined ? { do: 'wait', ms: left } : { do: 'close' };
  return { do: card === undefined ? 'post' : 'replace' };
}
