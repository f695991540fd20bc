// Recognises shells by their name.

const SHELLS: ReadonlySet<string> = new Set(
  'sh ash bash dash zsh fish ksh mksh tcsh csh nu elvish xonsh pwsh'.split(' '),
);

/** `command` is tmux's name of the foreground program; the name of a login shell begins with a dash. */
export function isShell(command: string): boolean {
  return SHELLS.has(command.replace(/^-/, ''));
}
