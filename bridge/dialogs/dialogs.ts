// The cards of dialogs: one message per open dialog, with a button per option. A card is posted, edited and closed as the pane
// changes, also when someone answers in the terminal. Prompts of hooks have their own messages and get no card.

import { randomBytes } from 'node:crypto';
import { driverOf } from '../../agents/list.ts';
import type { AgentDialog } from '../../agents/screen.ts';
import { isThreadmuxError } from '../../core/errors.ts';
import { createKeyedQueue, type KeyedQueue } from '../../core/keyed-queue.ts';
import { bold } from '../../core/untrusted-text.ts';
import { editIfThere, type MessageDraft } from '../../discord/messages.ts';
import { isOfClosedThread, unarchiveAndRetry } from '../../discord/threads.ts';
import { createLastEnds } from '../../threads/last-ends.ts';
import { type FoundPane, paneOnHost } from '../../threads/panes.ts';
import { readPane } from '../../threads/read-pane.ts';
import type { DialogCard } from '../../threads/registry.ts';
import { lookAtPane } from '../../tmux/look.ts';
import type { ServerParts } from '../bridge-options.ts';
import { isFresh } from '../inbox.ts';
import type { ShownScreens } from '../shown-screens.ts';
import { type CardButton, cardDraft, dialogPrint, dialogTitle, panelTexts } from './card-text.ts';
import { chooseOption, dismissPanel, reacts, type SeenDialog, unlessPending } from './choose-option.ts';
import { CLOSED, endOfCard, OLD, PENDING, told } from './closed-card-text.ts';
import { decideCard, isOfHooks } from './decide-card.ts';
import { writeText } from './write-text.ts';

export interface Dialogs {
  /** Looks at the pane now. With a reason, a panel that only shows something is posted and closed. True if there is a card. */
  look(thread: string, why?: PanelReason): Promise<boolean>;
  /** Resolves with a text for the user who tapped, if there is something to say. */
  tapped(tap: CardTap): Promise<string | undefined>;
  /** A text that was written then (`performance.now`) may have been meant for a dialog that is over, or for what this card showed before. */
  hasJustEnded(threadOrCard: string, at: number): boolean;
}

/** What a panel is closed for: a command from the thread opened it, or a message waits. */
type PanelReason = 'command' | 'message';

interface CardTap extends CardButton {
  readonly thread: string;
  readonly message: string;
  /** What was written into the form. */
  readonly words: string | undefined;
  readonly by: string;
  readonly liveAt: number | undefined;
}

interface DialogsParts extends ServerParts {
  readonly pressing: KeyedQueue;
  readonly shownScreens: ShownScreens;
  /** The option to choose without asking a person. */
  readonly ownChoice: (thread: string, dialog: AgentDialog) => number | undefined;
}

const AGAIN_MS = 3_000;

export function createDialogs(parts: DialogsParts): Dialogs {
  const { hosts, prompts, rest, postNotice, states, signal, log } = parts;
  /** A question of a program has no dialog. */
  const isAsked = (thread: string) => prompts.inThread(thread).some(({ ofProgram }) => !ofProgram);
  const { registry } = parts.threads;
  const inTurn = createKeyedQueue();
  /** The dialog that each pane shows, since when, and whether a prompt stands for it. */
  const open = new Map<string, { readonly print: string; readonly at: number; isPrompted: boolean }>();
  /** When a key was pressed without an effect so far: taps from before may have meant the same. */
  const pressedAt = new Map<string, number>();
  const timers = new Map<string, NodeJS.Timeout>();
  /** The last dialog that was answered without a person; it is tried once, then it gets a card. */
  const tried = new Map<string, string>();
  const ends = createLastEnds();

  const cardOf = (thread: string) => registry.get(thread)?.dialog;

  /** Never rejects: what fails is tried again. */
  const look = (thread: string, why?: PanelReason) =>
    inTurn(thread, () => review(thread, why)).catch((error: Error) => {
      if (signal.aborted) return false;
      log.warn('the card of a dialog', { thread, because: error.message });
      if (!isThreadmuxError(error, 'discord_refused') || isOfClosedThread(error)) lookAfter(thread, AGAIN_MS);
      return false;
    });

  function lookAfter(thread: string, ms: number): void {
    clearTimeout(timers.get(thread));
    timers.set(thread, setTimeout(() => void (signal.aborted || look(thread)), ms).unref());
  }

  async function review(thread: string, why?: PanelReason): Promise<boolean> {
    const record = registry.get(thread);
    if (record?.server !== parts.server.name || record.shell === 'terminal' || record.deleted) return false;
    const card = record.dialog;
    if (record.closed) return card !== undefined && close(thread, card, 'exited');
    const pane = paneOnHost(hosts, record);
    const seen = await lookAtPane(pane.tmux, record, { signal });
    if (seen.kind === 'gone') return card !== undefined && close(thread, card, 'exited');
    const { screen, isAgent, driver } = readPane({ ...seen, mode: undefined }, record);
    if (screen.kind !== 'dialog' || !isAgent || seen.panePid !== record.panePid) {
      // A screen that nobody recognises may be a dialog that is being drawn.
      if (screen.kind === 'unknown' && seen.panePid === record.panePid) return card !== undefined;
      open.delete(thread);
      return card !== undefined && close(thread, card, screen.kind === 'shell' ? 'exited' : 'terminal');
    }
    const print = dialogPrint(record, screen, seen.historyLines);
    return act(pane, { look: seen, dialog: screen, driver, print }, card, why);
  }

  async function act(pane: FoundPane, seen: SeenDialog, card: DialogCard | undefined, why?: PanelReason) {
    const { thread, claudeSession } = pane.record;
    const { dialog, print, driver } = seen;
    const own = tried.get(thread) === print ? undefined : parts.ownChoice(thread, dialog);
    if (own !== undefined) return chooseOwn(pane, print, own, card);
    const known = open.get(thread);
    const now = known?.print === print ? known : { print, at: Date.now(), isPrompted: false };
    const isPrompted = isAsked(thread) || prompts.isAnswered(thread);
    now.isPrompted ||= isOfHooks(dialog.which) && isPrompted;
    open.set(thread, now);
    const step = decideCard({
      dialog: { ...dialog, title: dialogTitle(dialog, driver.title), print },
      card,
      isPrompted: now.isPrompted,
      isHeard: claudeSession !== '' && driver.guarantees.permission !== 'keys',
      seenForMs: Date.now() - now.at,
      isInTheWay: why !== undefined,
    });
    switch (step.do) {
      case 'nothing':
        return card !== undefined;
      case 'wait':
        lookAfter(thread, step.ms + 50);
        return false;
      case 'post':
        return post(thread, seen, card);
      case 'edit':
        // Nobody has seen what a deleted card would show now.
        if (card === undefined || !(await edit(thread, card.message, cardDraft(dialog, print, driver.title))))
          return post(thread, seen, undefined);
        return note(thread, card, { print });
      case 'replace':
        if (card !== undefined) await close(thread, card, 'terminal');
        return post(thread, seen, undefined);
      case 'close':
        if (card !== undefined) await close(thread, card, now.isPrompted ? 'prompted' : 'terminal');
        lookAfter(thread, 0);
        return false;
      case 'dismiss':
        return dismiss(pane, seen, card, why);
    }
  }

  async function chooseOwn(pane: FoundPane, print: string, option: number, card: DialogCard | undefined) {
    const { thread } = pane.record;
    tried.set(thread, print);
    const action = { do: 'choose', option } as const;
    const choose = () => chooseOption(pane, print, action);
    const chosen = await parts.pressing(thread, () => unlessPending(pane, parts.shownScreens, action, choose));
    log.info('dialog', { thread, by: 'threadmux', choice: chosen.kind });
    if (chosen.kind === 'chosen') note(thread, card, { answer: { label: chosen.label, by: 'threadmux' } });
    if (chosen.kind === 'chosen') await reacts(pane, print, signal);
    states.lookSoon(thread);
    return review(thread);
  }

  /** Stored first: after a crash it is posted with the same nonce. */
  async function post(thread: string, seen: SeenDialog, before: DialogCard | undefined): Promise<true> {
    const { dialog, print, driver } = seen;
    const about = { print, which: dialog.which, title: dialogTitle(dialog, driver.title), message: '' };
    const card = before ?? { ...about, id: randomBytes(12).toString('base64url') };
    registry.change(thread, { dialog: card });
    const message = await postNotice(thread, ['dialog', card.id], cardDraft(dialog, print, driver.title));
    return note(thread, card, { message: message ?? 'deleted' });
  }

  function note(thread: string, card: DialogCard | undefined, to: Partial<DialogCard>): true {
    if (card !== undefined) registry.change(thread, { dialog: { ...card, ...to } });
    return true;
  }

  async function close(thread: string, card: DialogCard, how: 'terminal' | 'exited' | 'prompted'): Promise<false> {
    ends.note(thread);
    const content = endOfCard(card, how, driverOf(registry.get(thread)?.agent ?? '').title);
    // Killed before the answer of Discord: the nonce finds the message.
    const message =
      card.message || (await postNotice(thread, ['dialog', card.id], { content, silent: true })) || 'deleted';
    if (message !== 'deleted') await edit(thread, message, { content, components: [] });
    registry.change(thread, { dialog: undefined });
    return false;
  }

  /** False if a user has deleted it. */
  function edit(thread: string, message: string, draft: Partial<MessageDraft>): Promise<boolean> {
    const change = () => editIfThere(rest, thread, message, draft);
    const shown = unarchiveAndRetry(rest, thread, change, { archiveAgain: true });
    return ends.until(thread, ends.until(message, shown), { of: message });
  }

  async function dismiss(pane: FoundPane, seen: SeenDialog, card: DialogCard | undefined, why?: PanelReason) {
    const { thread } = pane.record;
    if (card !== undefined) await close(thread, card, 'terminal');
    const reason = why === 'message' ? ' was open. It is closed now, because your message waits.' : '';
    const head = `📋 ${bold(dialogTitle(seen.dialog, seen.driver.title))}${reason}`;
    const id = randomBytes(12).toString('base64url');
    for (const [at, content] of panelTexts(seen.dialog, head).entries())
      await postNotice(thread, ['panel', id, at], { content, silent: true });
    const isGone = await parts.pressing(thread, () => dismissPanel(pane, seen));
    log.info('panel', { thread, which: seen.dialog.which, closed: isGone });
    states.lookSoon(thread);
    return false;
  }

  async function answer(tap: CardTap): Promise<string | undefined> {
    const { thread, message, print, action, words = '', by, liveAt } = tap;
    // The answer to our post was lost, or we were killed before it came: its nonce finds the message.
    if (cardOf(thread)?.message === '') await review(thread);
    const record = registry.get(thread);
    const card = record?.dialog;
    if (record === undefined || card === undefined || card.message !== message) {
      await edit(thread, message, { components: [] });
      return CLOSED;
    }
    if (card.answer !== undefined || (liveAt ?? 0) < (pressedAt.get(thread) ?? 0)) return PENDING;
    if (!isFresh(liveAt, performance.now())) return OLD;
    const pane = paneOnHost(hosts, record);
    const choose = () =>
      action.do === 'write' ? writeText(pane, print, action.into, words) : chooseOption(pane, print, action);
    const chosen = await parts.pressing(thread, () => unlessPending(pane, parts.shownScreens, action, choose));
    log.info('dialog', { thread, which: card.which, tap: chosen.kind });
    if (chosen.kind === 'chosen') note(thread, card, { answer: { label: chosen.label, by } });
    const isSame = chosen.kind !== 'changed' && !(await reacts(pane, print, signal));
    if (isSame && chosen.kind === 'chosen') {
      pressedAt.set(thread, performance.now());
      note(thread, card, { answer: undefined });
    }
    await review(thread);
    states.lookSoon(thread);
    return told(chosen.kind, isSame, cardOf(thread)?.message === message);
  }

  states.onScreen((thread, { screen }) => {
    const isOpen = screen.kind === 'dialog';
    if (!signal.aborted && (isOpen || open.has(thread) || cardOf(thread) !== undefined)) void look(thread);
  });
  registry.onChange(({ thread, closed, dialog }) => {
    // A prompt that comes late changes the registry, but not the screen.
    if (dialog !== undefined && (closed || isAsked(thread)) && !signal.aborted) void look(thread);
  });
  for (const { thread, closed, dialog } of registry.all()) if (closed && dialog !== undefined) void look(thread);

  return { look, tapped: (tap) => inTurn(tap.thread, () => answer(tap)), hasJustEnded: ends.isJustBefore };
}
