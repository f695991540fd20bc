// The line that Claude Code shows below every dialog. It is checked on the screen before typing, and again inside tmux at the
// moment a key is pressed.

/** An extended regular expression, for tmux. */
export const DIALOG = '^ *(Esc to cancel|Enter to select|Enter to confirm)';

const LINE = new RegExp(DIALOG, 'm');

/** A dialog may be open above a box that looks ready; typed text would then answer the dialog. */
export function hasDialog(text: string): boolean {
  return LINE.test(text);
}
