// Types a text into a session with the same checks as the bridge. If typing is not safe, nothing is typed, and the result says why.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentDriver } from '../../agents/driver.ts';
import type { AgentScreen } from '../../agents/screen.ts';
import { decide, type TypingStep } from '../../bridge/decide-typing.ts';
import { isPlainCommand } from '../../bridge/slash-decision.ts';
import { composeForAgent, type TypedText } from '../../bridge/typed-text.ts';
import { newest } from '../../core/snowflake.ts';
import { tryLock } from '../../home/lock.ts';
import { readPane } from '../../threads/read-pane.ts';
import { leaveMode } from '../../tmux/keys.ts';
import { lookAtPane, type PaneLook } from '../../tmux/look.ts';
import { isCovered, typeMessage } from '../../tmux/type-message.ts';
import { paneOf, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { hasMessagesFor } from '../running.ts';

interface Typed {
  /** Undefined for a command line that was typed into a shell. */
  readonly typed: Exclude<TypedText, { kind: 'nothing' }> | undefined;
  /** The id that marks the pane. */
  readonly mark: string;
  readonly at: number;
  /** The agent was working when it was typed. */
  readonly wasBusy: boolean;
}

export type TypingOutcome =
  | ({ readonly outcome: 'typed' } & Typed)
  /** Nothing was typed. */
  | {
      readonly outcome: 'refused';
      readonly because: string;
      readonly passing: boolean;
      /** The agent shows a dialog. */
      readonly needsPerson: boolean;
    }
  /** The text was typed, but Enter was not pressed. `isCovered`: a dialog opened in that moment, or (`isUnread`) the box stayed as it was. */
  | ({
      readonly outcome: 'held';
      readonly because: string;
      readonly isCovered: boolean;
      readonly isUnread: boolean;
    } & Typed);

const PAUSE_MS = 250;

export interface TypingPatience {
  /** How long to wait for the pane to be ready. */
  readonly waitMs: number;
  /** Whether a command line may be typed into a plain shell. */
  readonly allowShell: boolean;
  /** How long to wait for a dialog to be answered, if that is shorter. */
  readonly dialogMs?: number;
}

export async function typeText(
  target: SessionTarget,
  text: string,
  finder: SessionFinder,
  { waitMs, allowShell, dialogMs = waitMs }: TypingPatience,
): Promise<TypingOutcome> {
  const deadline = Date.now() + waitMs;
  for (let dialogAt = Date.now(); ; await sleep(PAUSE_MS)) {
    const sent = await alone(target, finder, () => attempt(target, text, finder, allowShell));
    if (sent.outcome !== 'refused' || !sent.passing || Date.now() >= deadline) return sent;
    if (!sent.needsPerson) dialogAt = Date.now();
    if (Date.now() - dialogAt >= dialogMs) return sent;
  }
}

/** How long after Enter the text may still be in the box: another program would take it for a draft. */
const LEAVES_WITHIN_MS = 1_000;

/** One program at a time per pane. The lock outlives the typing by a moment. */
async function alone(
  target: SessionTarget,
  { home }: SessionFinder,
  act: () => Promise<TypingOutcome>,
): Promise<TypingOutcome> {
  const { serverPid, paneId } = paneOf(target);
  const release = tryLock(join(home.folder('state'), `typing.${target.host}.${serverPid}.${paneId.slice(1)}`));
  if (release === undefined) return refused('Another program is typing into that pane.', true);
  const sent = await act().catch((error: unknown) => {
    release();
    throw error;
  });
  if (sent.outcome === 'typed') setTimeout(release, LEAVES_WITHIN_MS).unref();
  else release();
  return sent;
}

async function attempt(
  target: SessionTarget,
  text: string,
  finder: SessionFinder,
  allowShell: boolean,
): Promise<TypingOutcome> {
  const { tmux } = target;
  const pane = paneOf(target);
  const seen = await lookAtPane(tmux, pane);
  if (seen.kind === 'gone') return refused('The pane is closed.');
  if (target.record === undefined && isOwnPane(pane.paneId, seen.serverPid))
    return refused('This command is running in that pane.');
  const record = target.record ?? unreported(target, seen, allowShell);
  const { screen, isAgent, driver } = readPane(seen, record);
  const step = decide({
    look: seen,
    screen,
    record,
    isAgent,
    driver,
    text,
    allowShell,
    afterExit: 'never',
    standing: undefined,
    now: Date.now(),
    isFresh: true,
  });
  const needsPerson = isAgent && screen.kind === 'dialog';
  if (step.do === 'refuse') return refused(step.because, false, needsPerson);
  if (step.do === 'wait') return refused(step.because, true, needsPerson);
  if (target.record && hasMessagesFor(finder.home, target.record.thread))
    return refused('A message from its thread is being typed into that pane.', true);
  const isKnown = step.do !== 'run' && record.claudeSession !== '';
  const guard = { pane, command: isKnown ? record.command : seen.command };
  if (step.do === 'leave-mode') {
    await leaveMode(tmux, guard);
    return refused('The pane is in copy mode.', true);
  }
  const watched = { ...guard, ...(step.do === 'run' ? step.still : { dialog: driver.screen.dialogLine }) };
  return type(target, { guard: watched, step, seen, driver, isBusy: isAgent && takesLater(screen) }, text, finder);
}

/** The agent works, and takes what is submitted now when it has finished. */
export function takesLater(screen: AgentScreen): boolean {
  return (screen.kind === 'empty' && (screen.busy || screen.queued)) || (screen.kind === 'draft' && screen.busy);
}

interface ReadyPane {
  readonly guard: Parameters<typeof typeMessage>[1];
  readonly step: TypingStep & { do: 'type' | 'run' };
  readonly seen: PaneLook;
  readonly driver: AgentDriver;
  readonly isBusy: boolean;
}

async function type(
  { tmux }: SessionTarget,
  { guard, step, seen, driver, isBusy }: ReadyPane,
  text: string,
  { config }: SessionFinder,
): Promise<TypingOutcome> {
  const { typing, commands } = driver;
  const typed =
    step.do === 'run'
      ? undefined
      : composeForAgent(text, [], isPlainCommand(text, commands, config.slashCommands) ? 'command' : 'text', typing);
  if (typed?.kind === 'nothing') return refused('The text is empty.');
  const words = typed?.text ?? text;
  const shows = step.do === 'run' ? (guard.shows ?? []) : typing.boxLines(seen.text, words, seen);
  const mark = nextMark(seen);
  const at = Date.now();
  const delivery = await typeMessage(
    tmux,
    { ...guard, shows },
    { id: mark, text: words },
    step.do === 'type'
      ? { shown: typing.shownText(words), stash: step.stash ? typing.stash : undefined, turnEnds: typing.turnEnds }
      : {},
  );
  const done = { typed, mark, at, wasBusy: isBusy };
  switch (delivery.kind) {
    case 'delivered':
      return { outcome: 'typed', ...done };
    case 'already':
      return refused('Another message was typed there at the same time.', true);
    case 'text-only':
      return {
        outcome: 'held',
        because: 'the screen changed before Enter was pressed.',
        ...done,
        isCovered: isCovered(delivery.because),
        isUnread: delivery.because === 'unread',
      };
    case 'refused':
      return refused(`The pane has changed (${delivery.because}).`, true, delivery.because === 'dialog');
  }
}

/**
 * The pane remembers the last id that was typed and treats every lower id as typed. Queued messages have higher ids, so the
 * very next id cannot hide any of them.
 */
export function nextMark({ typed }: Pick<PaneLook, 'typed'>): string {
  return String(BigInt(newest(typed.text ?? '0', typed.enter ?? '0')) + 1n);
}

/** A session without hooks, of which nothing is known. */
export const UNREPORTED = { command: '', shell: 'found', claudeSession: '', agent: 'claude' } as const;

/** For a session without hooks: a pane that looks like an agent is treated as one. */
export function unreported({ session }: SessionTarget, { command }: Pick<PaneLook, 'command'>, allowShell: boolean) {
  const { serverPid, pane } = session;
  const shell = allowShell ? ('ours' as const) : ('found' as const);
  return { serverPid, paneId: pane.id, panePid: pane.pid, command, claudeSession: '', agent: 'claude', at: 0, shell };
}

function isOwnPane(paneId: string, serverPid: number): boolean {
  const { TMUX = '', TMUX_PANE } = process.env;
  return TMUX_PANE === paneId && TMUX.includes(`,${serverPid},`);
}

function refused(because: string, passing = false, needsPerson = false): TypingOutcome {
  return { outcome: 'refused', because, passing, needsPerson };
}
