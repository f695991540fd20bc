// What to do with a message, from what the pane shows. Pure. Only a box that is really there is
// ever typed into; everything else is left alone and said.

import { boxHolds, describeScreen } from '../agents/claude/screen/describe.ts';
import { type ClaudeScreen, isShell } from '../agents/claude/screen/screen.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { LookResult } from '../tmux/look.ts';

export type TypingStep =
  | { readonly do: 'type'; readonly stash: boolean }
  | { readonly do: 'run' }
  | { readonly do: 'leave-mode' }
  /** Somebody has to settle something first; it is looked at again. */
  | { readonly do: 'wait'; readonly because: string }
  | { readonly do: 'refuse'; readonly because: string };

export interface PaneState {
  readonly look: LookResult;
  readonly screen: ClaudeScreen;
  readonly record: Pick<ThreadRecord, 'panePid' | 'serverPid' | 'shell' | 'claudeSession' | 'at'>;
  /** An agent runs there: its hooks say so, or its screen does. */
  readonly isAgent: boolean;
  readonly allowShell: boolean;
  /** A text of ours that was typed and has not been confirmed yet. */
  readonly standing: string | undefined;
  readonly now: number;
}

/** An agent that was started a moment ago has not reported yet. */
const STARTS_WITHIN_MS = 60_000;
/** A session that was made by hand a moment ago may be about to start one. */
const FOUND_STARTS_WITHIN_MS = 10_000;

export function decide(facts: PaneState): TypingStep {
  const { look, screen, record, standing } = facts;
  if (look.kind === 'gone') return { do: 'refuse', because: 'The pane is gone, because its session was closed.' };
  if (look.serverPid !== record.serverPid || look.panePid !== record.panePid)
    return {
      do: 'refuse',
      because: 'Another program runs in the pane now, or tmux was restarted.',
    };
  if (look.inputOff) return { do: 'wait', because: 'The pane accepts no input (tmux select-pane -d).' };
  if (look.synchronized)
    return { do: 'wait', because: 'The pane shares its input with other panes (tmux synchronize-panes).' };
  if (record.shell === 'terminal') return decideForTerminal(look);
  if (!facts.isAgent) return decideForShell(look, facts);
  switch (screen.kind) {
    case 'empty':
      return { do: 'type', stash: false };
    case 'draft':
      return decideForDraft(screen, standing);
    case 'copyMode':
      return { do: 'leave-mode' };
    case 'dead':
      return { do: 'refuse', because: describeScreen(screen) };
    case 'shell':
    case 'otherProgram':
      return isStarting(facts)
        ? { do: 'wait', because: 'The agent is starting.' }
        : { do: 'refuse', because: describeScreen(screen) };
    default:
      return { do: 'wait', because: describeScreen(screen) };
  }
}

/**
 * A second stash would be lost under the first. And what may be a text of ours must not be stashed away: right after
 * its Enter the box still shows it, and whoever waits for its receipt presses Enter again if it stays.
 */
function decideForDraft(screen: ClaudeScreen & { kind: 'draft' }, standing: string | undefined): TypingStep {
  const ours = standing === undefined ? 'no' : boxHolds(screen, standing);
  if (ours === 'no' && !screen.stashed) return { do: 'type', stash: true };
  return {
    do: 'wait',
    because: ours === 'yes' ? 'An earlier message is still in the input box.' : describeScreen(screen),
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
        ? 'The pane runs a plain shell, not an agent. Set "allowShell": true in the configuration to run messages as commands.'
        : `${untrustedCode(look.command)} runs in the pane, and threadmux does not recognise it as an agent.`,
    };
  return screen.kind === 'shell' || screen.kind === 'otherProgram' || screen.kind === 'unknown'
    ? { do: 'run' }
    : { do: 'wait', because: describeScreen(screen) };
}

function isStarting({ record, now }: PaneState): boolean {
  return record.claudeSession === '' && now - record.at < STARTS_WITHIN_MS;
}

/** Whatever runs there, what is written is its input: that is what it was started for. */
function decideForTerminal(look: LookResult & { kind: 'pane' }): TypingStep {
  if (look.dead)
    return {
      do: 'refuse',
      because:
        'The program has ended. Archive this thread with `!done`, or start another with `!terminal <dir> <command>`.',
    };
  return look.mode === undefined ? { do: 'run' } : { do: 'leave-mode' };
}
