// What a headless agent is started with and told. Permissions are skipped only if that is asked for and still allowed.

interface AgentArguments {
  readonly agentSettings: string | undefined;
  readonly skipPermissions: boolean;
  /** The conversation to go on with. */
  readonly session: string | undefined;
}

const STREAM = [
  ...['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
  // Prompts on stdin, and permissions asked for instead of denied: our hook runs beside the question and answers it.
  ...['--input-format', 'stream-json', '--permission-prompt-tool', 'stdio'],
];

export function agentArguments(wanted: AgentArguments): readonly string[] {
  const { agentSettings, skipPermissions, session } = wanted;
  return [
    ...STREAM,
    ...(agentSettings === undefined ? [] : ['--settings', agentSettings]),
    ...(skipPermissions ? ['--dangerously-skip-permissions'] : []),
    ...(session === undefined ? [] : ['--resume', session]),
  ];
}

/** Claude Code would take a first "/" for a command, also on stdin; a space before it makes it text. */
export function guarded(text: string, slashCommands: readonly string[]): string {
  const [word = ''] = text.split(/\s/, 1);
  return text.startsWith('/') && !slashCommands.includes(word) ? ` ${text}` : text;
}
