// threadmux send: types into a session with the same checks as the bridge. If typing is not safe, it reports why and does not
// touch the pane.

import { text as readAll } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentDriver } from '../../agents/driver.ts';
import { decide, type TypingStep } from '../../bridge/decide-typing.ts';

import { isPlainCommand } from '../../bridge/slash-decision.ts';
import { composeForAgent } from '../../bridge/typed-text.ts';
import { EXIT, ThreadmuxError } from '../../core/errors.ts';
import { newest } from '../../core/snowflake.ts';
import { cleanInbound } from '../../core/untrusted-text.ts';
import { readPane } from '../../threads/read-pane.ts';
import { leaveMode } from '../../tmux/keys.ts';
import { lookAtPane, type PaneLook } from '../../tmux/look.ts';
import { typeMessage } from '../../tmux/type-message.ts';
import { findTarget, openSessionFinder, paneOf, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { printable, printJson, printNote, withProgress } from '../print.ts';
import { hasMessagesFor } from '../running.ts';

interface SendFlags {
  readonly host?: string;
  readonly json?: boolean;
  /** How long to wait for the pane to be ready, in seconds. */
  readonly wait: number;
}

type Outcome =
  | { readonly outcome: 'typed' }
  /** Nothing was typed. */
  | { readonly outcome: 'refused'; readonly because: string; readonly passing: boolean }
  /** The text was typed, but Enter was not pressed. */
  | { readonly outcome: 'held'; readonly because: string };

const PAUSE_MS = 250;

export async function send(name: string | undefined, words: readonly string[], flags: SendFlags): Promise<void> {
  const text = await wholeText(words);
  const reach = openSessionFinder();
  const target = await findTarget(reach, name, flags.host);
  const { host, session } = target;
  const sent = await withProgress(`typing into ${session.name}`, untilReady(target, text, reach, flags));
  if (sent.outcome !== 'typed') process.exitCode = EXIT.failed;
  const because = sent.outcome === 'typed' ? null : sent.because;
  if (flags.json) return printJson({ host, name: session.name, outcome: sent.outcome, because });
  const where = `${printable(session.name)} on ${host}`;
  if (sent.outcome === 'typed') printNote(`Typed into ${where}.`);
  else if (sent.outcome === 'held') printNote(`The text was typed into ${where}, but not sent: ${because}`);
  else printNote(`Nothing was typed into ${where}: ${because}`);
}

async function wholeText(words: readonly string[]): Promise<string> {
  if (words.length === 0 && process.stdin.isTTY)
    throw new ThreadmuxError('bad_usage', 'nothing to send', {
      hint: 'Write the text after the name, or pipe it: git diff | threadmux send shop',
    });
  const given = words.length > 0 ? words.join(' ') : await readAll(process.stdin);
  const text = cleanInbound(given).trim();
  if (text === '') throw new ThreadmuxError('bad_usage', 'nothing to send: the text is empty');
  return text;
}

async function untilReady(
  target: SessionTarget,
  text: string,
  reach: SessionFinder,
  flags: SendFlags,
): Promise<Outcome> {
  for (const deadline = Date.now() + flags.wait * 1_000; ; await sleep(PAUSE_MS)) {
    const sent = await attempt(target, text, reach);
    if (sent.outcome !== 'refused' || !sent.passing || Date.now() >= deadline) return sent;
  }
}

async function attempt(target: SessionTarget, text: string, reach: SessionFinder): Promise<Outcome> {
  const { tmux } = target;
  const pane = paneOf(target);
  const seen = await lookAtPane(tmux, pane);
  if (seen.kind === 'gone') return refused('The pane is closed.');
  if (target.record === undefined && isOwnPane(pane.paneId, seen.serverPid))
    return refused('This command is running in that pane.');
  const record = target.record ?? unreported(target, seen);
  const { screen, isAgent, driver } = readPane(seen, record);
  const step = decide({
    ...{ look: seen, screen, record, isAgent, driver, text },
    allowShell: true, // the user already has a shell
    ...{ standing: undefined, now: Date.now(), isFresh: true },
  });
  if (step.do === 'refuse') return refused(step.because);
  if (step.do === 'wait') return refused(step.because, true);
  if (target.record && hasMessagesFor(reach.home, target.record.thread))
    return refused('A message from its thread is being typed into that pane.', true);
  const isKnown = step.do !== 'run' && record.claudeSession !== '';
  const guard = { pane, command: isKnown ? record.command : seen.command };
  if (step.do === 'leave-mode') {
    await leaveMode(tmux, guard);
    return refused('The pane is in copy mode.', true);
  }
  const watched = step.do === 'run' ? guard : { ...guard, dialog: driver.screen.dialogLine };
  return type(target, { guard: watched, step, seen, driver }, text, reach);
}

interface ReadyPane {
  readonly guard: Parameters<typeof typeMessage>[1];
  readonly step: TypingStep & { do: 'type' | 'run' };
  readonly seen: PaneLook;
  readonly driver: AgentDriver;
}

async function type(
  { tmux }: SessionTarget,
  { guard, step, seen, driver }: ReadyPane,
  text: string,
  { config }: SessionFinder,
): Promise<Outcome> {
  const { typing, commands } = driver;
  const typed =
    step.do === 'run'
      ? text
      : composeForAgent(text, [], isPlainCommand(text, commands, config.slashCommands) ? 'command' : 'text', typing);
  if (typeof typed !== 'string' && typed.kind === 'nothing') return refused('The text is empty.');
  const words = typeof typed === 'string' ? typed : typed.text;
  const shows = step.do === 'run' ? [] : typing.boxLines(seen.text, words, seen);
  const delivery = await typeMessage(
    tmux,
    { ...guard, shows },
    { id: nextMark(seen), text: words },
    { stash: step.do === 'type' && step.stash ? typing.stash : undefined },
  );
  switch (delivery.kind) {
    case 'delivered':
      return { outcome: 'typed' };
    case 'already':
      return refused('Another message was typed there at the same time.', true);
    case 'text-only':
      return { outcome: 'held', because: 'the screen changed before Enter was pressed.' };
    case 'refused':
      return refused(`The pane has changed (${delivery.because}).`, true);
  }
}

/**
 * The pane remembers the last id that was typed and treats every lower id as typed. Queued messages have higher ids, so the
 * very next id cannot hide any of them.
 */
export function nextMark({ typed }: Pick<PaneLook, 'typed'>): string {
  return String(BigInt(newest(typed.text ?? '0', typed.enter ?? '0')) + 1n);
}

/** For a session without hooks: a pane that looks like an agent is treated as one. */
function unreported({ session }: SessionTarget, seen: PaneLook) {
  const { serverPid, pane } = session;
  return {
    ...{ serverPid, panePid: pane.pid, command: seen.command, claudeSession: '', agent: 'claude', at: 0 },
    shell: 'ours' as const,
  };
}

function isOwnPane(paneId: string, serverPid: number): boolean {
  const { TMUX = '', TMUX_PANE } = process.env;
  return TMUX_PANE === paneId && TMUX.includes(`,${serverPid},`);
}

function refused(because: string, passing = false): Outcome {
  return { outcome: 'refused', because, passing };
}
