// Runs the command line, and prints errors as text or JSON with an exit code.

import { CommanderError } from 'commander';
import { EXIT, errorData, exitCodeOf, explain, isThreadmuxError, plainError, ThreadmuxError } from '../core/errors.ts';
import { harmless } from '../core/json.ts';
import { maskSecrets } from '../core/mask-secrets.ts';
import { HOOKED_BY } from '../core/session-environment.ts';
import { neutralise } from '../core/untrusted-text.ts';
import { homeError, homeRoot } from '../home/home.ts';
import { makeProgram } from './program.ts';

export function runCommandLine(): void {
  /** stdout was closed early, for example by `head`: exit quietly. */
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done);
    throw error;
  });
  void carryOut().then((code) => {
    if (code !== undefined) process.exit(code);
  });
}

/** Resolves with the exit code if the command did not work; its error is printed. */
export async function carryOut(): Promise<number | undefined> {
  delete process.env[HOOKED_BY]; // an agent started us; the variable must not get into a tmux server that we start
  const dashes = process.argv.indexOf('--');
  const ours = dashes === -1 ? process.argv : process.argv.slice(0, dashes);
  const wantsJson = ours.includes('--json');
  try {
    await makeProgram({ wantsJson }).parseAsync();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return endUsage(thrown, wantsJson);
    const error = explained(thrown);
    const isUnexpected = !isThreadmuxError(error) && error instanceof Error;
    const stack = isUnexpected ? `${neutralise(maskSecrets(error.stack ?? ''))}\n` : '';
    process.stderr.write(
      wantsJson
        ? `${harmless(maskSecrets(JSON.stringify(errorData(error))))}\n`
        : `threadmux: ${neutralise(maskSecrets(explain(error)))}\n${stack}`,
    );
    return exitCodeOf(error);
  }
}

/** File system errors are expected: they get a message instead of a stack trace. */
function explained(error: unknown): unknown {
  const { path = '' } = error as NodeJS.ErrnoException;
  const root = homeRoot(process.env);
  return `${path}/`.startsWith(`${root}/`) ? homeError(error, root) : plainError(error);
}

/** commander has already printed the error, unless --json is given. */
function endUsage(error: CommanderError, wantsJson: boolean): number {
  if (error.exitCode === 0) return EXIT.done;
  if (wantsJson) {
    const usage = new ThreadmuxError('bad_usage', error.message.replace(/^error: /, ''), {
      hint: 'Run with --help for usage.',
    });
    process.stderr.write(`${harmless(JSON.stringify(errorData(usage)))}\n`);
  }
  return EXIT.usage;
}
