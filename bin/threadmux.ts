#!/usr/bin/env node
// The command line: one line a command. Errors become a sentence and an exit code here.

import { Command, CommanderError } from 'commander';
import { shownConfig } from '../core/config.ts';
import { explain, isThreadmuxError } from '../core/errors.ts';
import { maskSecrets } from '../core/log.ts';
import { VERSION } from '../core/version.ts';
import { openContext } from './context.ts';
import { bridgeOnly, up, workspaceOnly } from './up.ts';

const port = (text: string) => {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value < 65_536) return value;
  throw new CommanderError(2, 'threadmux.port', `error: "${text}" is not a port (0 to 65535)`);
};

const program = new Command('threadmux')
  .description(
    'Chat with your Claude Code sessions from anywhere: every tmux session that runs an agent has a thread.',
  )
  .version(VERSION)
  .showHelpAfterError('(add --help for what it takes)')
  .addHelpText(
    'after',
    `
Exit codes: 0 done, 1 failed (the sentence says why), 2 wrong usage, 78 the configuration
has to be corrected first (a service manager should not start it again).

Start with:
  threadmux up          serve the local workspace and print the link to open`,
  )
  .exitOverride();

program
  .command('up')
  .description('run everything: the bridge, and the local workspace if no Discord is configured')
  .option('--port <port>', 'port of the local workspace (default: 7420, or any free one)', port)
  .option('--verbose', 'show the log as it is written')
  .addHelpText('after', '\nExample:\n  threadmux up --port 8080')
  .action(up);

program
  .command('workspace')
  .description('serve the local workspace alone')
  .option('--port <port>', 'port to serve it on', port)
  .option('--verbose', 'show the log as it is written')
  .addHelpText('after', '\nExample:\n  threadmux workspace')
  .action(workspaceOnly);

program
  .command('bridge')
  .description('run the bridge alone, for the configured Discord server')
  .option('--verbose', 'show the log as it is written')
  .addHelpText('after', '\nExample:\n  threadmux bridge --verbose')
  .action(bridgeOnly);

program
  .command('config')
  .description(
    'print the configuration in force, with tokens masked, and where each value came from',
  )
  .addHelpText('after', '\nExample:\n  threadmux config')
  .action(() => console.log(JSON.stringify(shownConfig(openContext('config').config), null, 2)));

program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  console.error(`threadmux: ${maskSecrets(explain(error))}`);
  if (!isThreadmuxError(error) && error instanceof Error)
    console.error(maskSecrets(error.stack ?? ''));
  process.exit(isThreadmuxError(error, 'config_invalid') ? 78 : 1);
});
