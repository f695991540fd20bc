// The parts of an agent's configured command: a subcommand comes between its program and its options. Pure.

export function splitCommand(command: readonly string[]): {
  readonly program: readonly string[];
  readonly options: readonly string[];
} {
  const at = command.findIndex((word, index) => index > 0 && word.startsWith('-'));
  return at < 0 ? { program: command, options: [] } : { program: command.slice(0, at), options: command.slice(at) };
}
