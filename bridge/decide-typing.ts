// Decides from what the pane shows whether a message is typed, waits or is refused. Pure. Text is typed only into a box
// that is certainly visible.

import { describeScreen } from '../agents/describe-screen.ts';
import type { AgentDriver } from '../agents/driver.ts';
import type { AgentScreen } from '../agents/screen.ts';
import { isShell } from '../agents/shell-name.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { noDialogOf, shownAgent } from '../threads/read-pane.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { LookResult, PaneLook } from '../tmux/look.ts';
import type { PaneGuard } from '../tmux/pane.ts';
import type { ServerParts } from './bridge-options.ts';
import type { AcceptedMessage } from './inbox.ts';
import { refusalReason } from './route.ts';
import { isRestricted } from './slash-decision.ts';
import type { TypedText } from './typed-text.ts';

export type TypingStep =
  | { readonly do: 'type'; readonly stash: boolean }
  /** `still`: what tmux checks, too, if an agent runs in the program or terminal. */
  | { readonly do: 'run'; readonly still: Pick<PaneGuard, 'dialog' | 'shows'> }
  | { readonly do: 'leave-mode' }
  /** Look again later. */
  | { readonly do: 'wait'; readonly because: string }
  /** `isExit`: because the agent has exited to a shell. Once the user knows it, the shell gets what is written. */
  | { readonly do: 'refuse'; readonly because: string; readonly isExit?: true };

export interface PaneState {
  readonly look: LookResult;
  readonly screen: AgentScreen;
  readonly record: Pick<ThreadRecord, 'panePid' | 'serverPid' | 'shell' | 'claudeSession' | 'at'>;
  /** Its hooks or its screen show that an agent runs there. */
  readonly isAgent: boolean;
  readonly driver: Pick<AgentDriver, 'title' | 'screen' | 'typing'>;
  /** What would be typed. */
  readonly text: string;
  readonly allowShell: boolean;
  /** Whether a shell that the agent has exited to may run it: only if the session was started as a shell, and if the user knew of the exit. */
  readonly afterExit: 'never' | 'unknown' | 'known';
  /** A text that we typed and that is not confirmed yet. */
  readonly standing: string | undefined;
  readonly now: number;
  /** It was written a moment ago. */
  readonly isFresh: boolean;
}

/** A newly started agent may need this long until it reports. */
const STARTS_WITHIN_MS = 60_000;
/** In a session that the user just created, an agent may start within this time. */
const FOUND_STARTS_WITHIN_MS = 10_000;

export function decide(facts: PaneState): TypingStep {
  const { look, screen, record, driver } = facts;
  if (look.kind === 'gone') return { do: 'refuse', because: 'The pane is gone, because its session was closed.' };
  if (look.serverPid !== record.serverPid || look.panePid !== record.panePid)
    return { do: 'refuse', because: 'Another program runs in the pane now, or tmux was restarted.' };
  if (look.inputOff) return { do: 'wait', because: 'The pane accepts no input (tmux select-pane -d).' };
  if (look.synchronized)
    return { do: 'wait', because: 'The pane shares its input with other panes (tmux synchronize-panes).' };
  if (record.shell === 'terminal') return unlessAsked(decideForTerminal(look), look, facts);
  if (!facts.isAgent) return unlessAsked(decideForShell(look, facts), look, facts);
  const refusal = driver.typing.refuse(facts.text);
  if (refusal !== undefined) return { do: 'refuse', because: refusal };
  switch (screen.kind) {
    case 'empty':
      return decideForEmpty(screen, driver);
    case 'draft':
      return decideForDraft(screen, facts);
    case 'copyMode':
      return { do: 'leave-mode' };
    case 'dead':
      return { do: 'refuse', because: describeScreen(screen, driver.title) };
    case 'shell':
    case 'otherProgram':
      if (isStarting(facts)) return { do: 'wait', because: 'The agent is starting.' };
      return screen.kind === 'otherProgram' || screen.suspended
        ? { do: 'refuse', because: describeScreen(screen, driver.title) }
        : decideAfterExit(look, facts);
    default:
      return {
        do: 'wait',
        because: [describeScreen(screen, driver.title), nextStep(screen)].filter(Boolean).join(' '),
      };
  }
}

/** What the user can do, so that the message is typed. */
function nextStep(screen: AgentScreen): string {
  switch (screen.kind) {
    case 'dialog':
      // threadmux closes a panel itself.
      return screen.form === 'panel' ? '' : 'Answer it, and your message is typed.';
    case 'menu':
    case 'shellMode':
    case 'aside':
    case 'agents':
    case 'subagent':
      return 'Leave it with `!key Escape`, and your message is typed.';
    default:
      return '';
  }
}

function decideForEmpty(
  { busy, queued }: AgentScreen & { kind: 'empty' },
  { title, typing }: PaneState['driver'],
): TypingStep {
  if (typing.onlyWhenIdle && (busy || queued))
    return { do: 'wait', because: `${title} is working. Your message is typed when it is done.` };
  return { do: 'type', stash: false };
}

/**
 * There is only one stash. A text that may be ours must not be stashed: right after Enter the box still shows
 * it, and confirm.ts presses Enter again if it stays.
 */
function decideForDraft(
  screen: AgentScreen & { kind: 'draft' },
  { standing, driver: { screen: reader, typing, title } }: PaneState,
): TypingStep {
  const ours = standing === undefined ? 'no' : reader.boxHolds(screen, standing);
  const mayType = typing.stash !== undefined && !(typing.onlyWhenIdle && screen.busy);
  if (ours === 'no' && !screen.stashed && mayType) return { do: 'type', stash: true };
  return {
    do: 'wait',
    because:
      ours === 'yes'
        ? 'An earlier message is still in the input box.'
        : `${describeScreen(screen, title)} Submit or clear it, and your message is typed.`,
  };
}

function decideForShell(look: LookResult & { kind: 'pane' }, facts: PaneState): TypingStep {
  const { screen, record, now } = facts;
  if (look.dead) return { do: 'refuse', because: 'The shell in the pane has ended.' };
  if (look.mode !== undefined) return { do: 'leave-mode' };
  const mayRun = record.shell === 'ours' || facts.allowShell;
  const mayStart = record.shell === 'found' && now - record.at < FOUND_STARTS_WITHIN_MS;
  if (mayStart && !(mayRun && isShell(look.command)))
    return { do: 'wait', because: 'No agent has started in the pane yet.' };
  if (!mayRun)
    return {
      do: 'refuse',
      because: isShell(look.command)
        ? 'The pane runs a plain shell, not an agent. Set "allowShell": true in config.json to run messages as commands.'
        : `${untrustedCode(look.command)} runs in the pane, and threadmux does not recognise it as an agent.`,
    };
  return screen.kind === 'shell' || screen.kind === 'otherProgram' || screen.kind === 'unknown'
    ? { do: 'run', still: {} }
    : { do: 'wait', because: describeScreen(screen, facts.driver.title) };
}

/** The message may be meant for the agent, and must not run as a command then. */
function decideAfterExit(look: PaneLook, facts: PaneState): TypingStep {
  const { title } = facts.driver;
  const because = describeScreen(facts.screen, title);
  switch (facts.afterExit) {
    case 'known':
      return unlessAsked({ do: 'run', still: {} }, look, facts);
    case 'unknown':
      return {
        do: 'refuse',
        because: `${because} Your message may be meant for ${title}, so the shell did not run it. Retry runs it there, and so does the shell with all that you write from now on.`,
        isExit: true,
      };
    case 'never':
      return {
        do: 'refuse',
        because: `${because} A message for ${title} is never run by a shell. Start ${title} there again, then retry.`,
      };
  }
}

/** A program may ask something else by now, and a late "y" would answer that. Only the dialogs of agents are recognised. */
function unlessAsked(step: TypingStep, look: PaneLook, { isFresh, text }: PaneState): TypingStep {
  if (step.do !== 'run') return step;
  const agent = shownAgent(look);
  if (agent?.screen.kind === 'dialog')
    return {
      do: 'refuse',
      because: `It was not typed, because the screen shows a dialog of ${agent.driver.title}, or a text that looks like one, and Enter would answer it. Look with \`!screen\`, answer it with keys or move it off the screen, then tap Retry.`,
    };
  if (isFresh) return agent === undefined ? step : { do: 'run', still: noDialogOf(agent, look, text) };
  return {
    do: 'refuse',
    because:
      'It was not typed, because it was written while threadmux was not running or could not reach the program, which may ask something else by now. Look with `!screen`, then tap Retry.',
  };
}

function isStarting({ record, now }: PaneState): boolean {
  return record.claudeSession === '' && now - record.at < STARTS_WITHIN_MS;
}

/** In a terminal, every message is input for the program that runs there. */
function decideForTerminal(look: LookResult & { kind: 'pane' }): TypingStep {
  if (look.dead)
    return {
      do: 'refuse',
      because:
        'The program has ended. Archive this thread with `!done`, or start another with `!terminal <dir> <command>`.',
    };
  return look.mode === undefined ? { do: 'run', still: {} } : { do: 'leave-mode' };
}

const NOT_LISTED = 'Its author is no longer on the list of people who may write here.';
const RESTRICTED = 'Its command is not in "slashCommands" of the configuration, which has changed meanwhile.';

/** Why a message that has waited is not typed any more: the configuration has changed since it was accepted. Undefined if it may be typed. */
export function refusedMeanwhile(
  { authorId, text }: Pick<AcceptedMessage, 'authorId' | 'text'>,
  kind: TypedText['kind'],
  { server, config }: Pick<ServerParts, 'server' | 'config'>,
): string | undefined {
  if (refusalReason({ userId: authorId }, server) !== undefined) return NOT_LISTED;
  return kind === 'slash' && isRestricted(text, config.slashCommands) ? RESTRICTED : undefined;
}
