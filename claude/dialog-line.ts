// The line Claude Code writes under every dialog. Checked on the screen before anything is typed,
// and once more inside tmux in the moment of the key.

/** An extended regular expression, for tmux. */
export const DIALOG = '^ *(Esc to cancel|Enter to select|Enter to confirm)';

const LINE = new RegExp(DIALOG, 'm');

/** A dialog may stand above a box that looks ready: what is typed then answers the dialog. */
export function hasDialog(text: string): boolean {
  return LINE.test(text);
}
