// Pastes one line into the text field of a dialog. Enter is not pressed: the field is looked at first.

import { isThreadmuxError, ThreadmuxError } from '../core/errors.ts';
import { type PaneGuard, readyFormat } from './pane.ts';
import type { Tmux } from './tmux.ts';

const LONGEST = 2_000;

/** False if the pane does not show what `guard.shows` describes; then nothing was pasted. */
export async function writeInDialog(
  tmux: Tmux,
  guard: PaneGuard & { readonly shows: readonly string[] },
  line: string,
): Promise<boolean> {
  if (line === '' || line.length > LONGEST || /\p{Cc}/u.test(line))
    throw new ThreadmuxError('bad_usage', `One line of 1 to ${LONGEST} characters can be written here`);
  const { paneId } = guard.pane;
  const printed = await tmux
    .script(WRITE, [paneId, readyFormat(guard)], { doing: `write into pane ${paneId}`, input: Buffer.from(line) })
    .catch((error: unknown) => {
      if (isThreadmuxError(error, 'session_not_found')) return '';
      throw error;
    });
  return printed.trim() === 'WRITTEN';
}

/** stdin: the text. Arguments: pane, and the condition that tmux checks at the moment of the paste. */
const WRITE = `pane=$1; ready=$2; b=threadmux-field-$$
trap 't delete-buffer -b "$b" 2>/dev/null; exit 1' HUP INT TERM
t load-buffer -b "$b" - || exit 1
t if-shell -F -t "$pane" "$ready" "paste-buffer -p -r -d -b $b -t $pane ; display-message -p WRITTEN" "delete-buffer -b $b ; display-message -p REFUSED"`;
