// Claude Code without a terminal: `claude -p` with JSON in both directions. Our hook asks for permissions in the thread.

import type { HeadlessRunner } from '../headless.ts';
import { denialLine, parseStreamLine, promptLine } from './stream-json.ts';

const STREAM = [
  ...['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
  // Prompts on stdin, and permissions requested instead of denied: our hook runs next to the request and answers it.
  ...['--input-format', 'stream-json', '--permission-prompt-tool', 'stdio'],
];

export const headlessClaude: HeadlessRunner = {
  asks: true,
  // How it is configured and paid for is up to the user.
  variables: ['DISABLE_*', 'AWS_*', 'GOOGLE_*', 'VERTEX_*', 'CLOUD_ML_REGION'],
  argv: ({ command, hookSettings, skipPermissions, session }) => [
    ...[...command, ...STREAM],
    ...(hookSettings === undefined ? [] : ['--settings', hookSettings]),
    ...(skipPermissions ? ['--dangerously-skip-permissions'] : []),
    ...(session === undefined ? [] : ['--resume', session]),
  ],
  // It treats a leading "/" as a command, also on stdin. A space before it makes it text.
  input: (text, isCommand) => promptLine(text.startsWith('/') && !isCommand ? ` ${text}` : text),
  keepsInput: true,
  reader: () => ({ line: parseStreamLine }),
  denial: denialLine,
  isLost: (failure) => /No conversation found with session ID/.test(failure),
};
