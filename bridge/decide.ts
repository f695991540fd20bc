// What to do with a message, from what the pane shows. Pure. Only a box that is really there is
// ever typed into; everything else is left alone and said.

import type { Screen } from '../claude/screen.ts';
import { boxHolds, describeScreen } from '../claude/screen-words.ts';
import type { PaneRecord } from '../home/pane-record.ts';
import type { Look } from '../tmux/look.ts';

export type Step =
  | { readonly do: 'type'; readonly stash: boolean }
  | { readonly do: 'run' }
  | { readonly do: 'leave-mode' }
  /** Somebody has to settle something first; it is looked at again. */
  | { readonly do: 'wait'; readonly because: string }
  | { readonly do: 'refuse'; readonly because: string };

export interface Facts {
  readonly look: Look;
  readonly screen: Screen;
  readonly record: Pick<PaneRecord, 'panePid' | 'serverPid' | 'shell'>;
  readonly allowShell: boolean;
  /** A text of ours that was typed and has not been confirmed yet. */
  readonly standing: string | undefined;
}

export function decide({ look, screen, record, allowShell, standing }: Facts): Step {
  if (look.kind === 'gone')
    return { do: 'refuse', because: 'The pane is gone: its session was closed.' };
  if (look.serverPid !== record.serverPid || look.panePid !== record.panePid)
    return {
      do: 'refuse',
      because: 'Another program runs in that pane now, or tmux was restarted.',
    };
  if (look.inputOff) return { do: 'wait', because: 'The pane takes no input (select-pane -d).' };
  if (look.synchronized)
    return { do: 'wait', because: 'The pane shares its input with others (synchronize-panes).' };
  if (record.shell === 'terminal') return decideForTerminal(look);
  if (record.shell !== 'no') return decideForShell(look, screen, record.shell, allowShell);
  switch (screen.kind) {
    case 'empty':
      return { do: 'type', stash: false };
    case 'draft':
      return decideForDraft(screen, standing);
    case 'copyMode':
      return { do: 'leave-mode' };
    case 'dead':
    case 'shell':
    case 'otherProgram':
      return { do: 'refuse', because: describeScreen(screen) };
    default:
      return { do: 'wait', because: describeScreen(screen) };
  }
}

/**
 * A second stash would be lost under the first. And what may be a text of ours must not be stashed away: right after
 * its Enter the box still shows it, and whoever waits for its receipt presses Enter again if it stays.
 */
function decideForDraft(screen: Screen & { kind: 'draft' }, standing: string | undefined): Step {
  const ours = standing === undefined ? 'no' : boxHolds(screen, standing);
  if (ours === 'no' && !screen.stashed) return { do: 'type', stash: true };
  return {
    do: 'wait',
    because:
      ours === 'yes' ? 'An earlier message still stands in the box.' : describeScreen(screen),
  };
}

function decideForShell(
  look: Look & { kind: 'pane' },
  screen: Screen,
  shell: 'ours' | 'found',
  allowShell: boolean,
): Step {
  if (look.dead) return { do: 'refuse', because: 'The shell in the pane has ended.' };
  if (look.mode !== undefined) return { do: 'leave-mode' };
  if (shell === 'found' && !allowShell)
    return {
      do: 'refuse',
      because: 'A plain shell is there, and "allowShell" is not set in the configuration.',
    };
  return screen.kind === 'shell' || screen.kind === 'otherProgram' || screen.kind === 'unknown'
    ? { do: 'run' }
    : { do: 'wait', because: describeScreen(screen) };
}

/** Whatever runs there, what is written is its input: that is what it was started for. */
function decideForTerminal(look: Look & { kind: 'pane' }): Step {
  if (look.dead)
    return {
      do: 'refuse',
      because:
        'The program has ended. `!done` archives this thread; `!terminal <dir> <command>` starts another.',
    };
  return look.mode === undefined ? { do: 'run' } : { do: 'leave-mode' };
}
