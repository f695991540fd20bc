// Presses Esc in a session whose agent works. Never in a dialog, which Esc would answer, and never in an idle box, where a second Esc opens
// another dialog.

import { keyId } from '../../bridge/dialogs/choose-option.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { readPane, stillNoDialog } from '../../threads/read-pane.ts';
import { pressInDialog } from '../../tmux/keys.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { paneOf, type SessionTarget } from '../find-session.ts';
import { UNREPORTED } from './type-text.ts';

/** False if the agent was not working. */
export async function interruptSession(target: SessionTarget): Promise<boolean> {
  const pane = paneOf(target);
  const seen = await lookAtPane(target.tmux, pane);
  if (seen.kind === 'gone') return false;
  const record = target.record ?? UNREPORTED;
  const { screen, isAgent, driver } = readPane(seen, record);
  if (!isAgent) throw new ThreadmuxError('bad_usage', 'no agent runs in that session', { hint: 'Read its screen.' });
  if (screen.kind === 'dialog') throw needsPerson();
  if (!((screen.kind === 'empty' || screen.kind === 'draft') && screen.busy)) return false;
  const guard = { pane, command: record.command || seen.command, ...stillNoDialog(seen, record) };
  // Not by an id of this machine's clock: keys of people have ids of Discord's, and smaller ones would count as pressed.
  const pressed = await pressInDialog(target.tmux, guard, keyId(), driver.typing.interrupt);
  if (pressed.kind !== 'refused') return true;
  if (pressed.because === 'dialog') throw needsPerson();
  throw new ThreadmuxError('busy', `Esc was not pressed: the pane has changed (${pressed.because})`, {
    hint: 'Read its screen, then try again.',
  });
}

function needsPerson(): ThreadmuxError {
  return new ThreadmuxError('needs_person', 'Esc was not pressed: the agent shows a dialog, and Esc would answer it', {
    hint: 'A person has to answer it in the thread or in the terminal.',
  });
}
