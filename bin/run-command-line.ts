// Runs the command line, and prints errors as text or JSON with an exit code.

import { CommanderError } from 'commander';
import { EXIT, errorData, exitCodeOf, explain, isThreadmuxError, plainError, ThreadmuxError } from '../core/errors.ts';
import { maskSecrets } from '../core/log.ts';
import { HOOKED_BY } from '../core/session-environment.ts';
import { neutralise } from '../core/untrusted-text.ts';
import { homeError, homeRoot } from '../home/home.ts';
import { harmless } from './print.ts';
import { makeProgram } from './program.ts';

const dashes = process.argv.indexOf('--');
const ours = dashes === -1 ? process.argv : process.argv.slice(0, dashes);
const wantsJson = ours.includes('--json');

export function runCommandLine(): void {
  delete process.env[HOOKED_BY]; // an agent started us; the variable must not get into a tmux server that we start
  /** stdout was closed early, for example by `head`: exit quietly. */
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done);
    throw error;
  });

  makeProgram({ wantsJson })
    .parseAsync()
    .catch((thrown: unknown) => {
      if (thrown instanceof CommanderError) return endUsage(thrown);
      const error = explained(thrown);
      if (wantsJson) process.stderr.write(`${harmless(maskSecrets(JSON.stringify(errorData(error))))}\n`);
      else console.error(`threadmux: ${neutralise(maskSecrets(explain(error)))}`);
      if (!isThreadmuxError(error) && error instanceof Error && !wantsJson)
        console.error(neutralise(maskSecrets(error.stack ?? '')));
      process.exit(exitCodeOf(error));
    });
}

/** File system errors are expected: they get a message instead of a stack trace. */
function explained(error: unknown): unknown {
  const { path = '' } = error as NodeJS.ErrnoException;
  const root = homeRoot(process.env);
  return `${path}/`.startsWith(`${root}/`) ? homeError(error, root) : plainError(error);
}

/** commander has already printed the error, unless --json is given. */
function endUsage(error: CommanderError): never {
  if (error.exitCode === 0) process.exit(EXIT.done);
  if (wantsJson) {
    const usage = new ThreadmuxError('bad_usage', error.message.replace(/^error: /, ''), {
      hint: 'Run with --help for usage.',
    });
    process.stderr.write(`${harmless(JSON.stringify(errorData(usage)))}\n`);
  }
  process.exit(EXIT.usage);
}
