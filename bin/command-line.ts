// Helpers to define commands and to read their arguments.

import { type Command, type CommandOptions, InvalidArgumentError } from 'commander';
import { ThreadmuxError } from '../core/errors.ts';

export function addCommand(
  under: Command,
  usage: string,
  about: string,
  example: string,
  options: CommandOptions = {},
): Command {
  return under.command(usage, options).description(about).addHelpText('after', `\nExample:\n  threadmux ${example}`);
}

/** The first argument is the name, unless it comes after "--". */
export function nameAndRest(
  { args }: Command,
  rest: string | undefined,
): { readonly name: string | undefined; readonly rest: readonly string[] } {
  const dashes = process.argv.indexOf('--');
  const after = dashes === -1 ? [] : process.argv.slice(dashes + 1);
  const [name, ...before] = args.slice(0, args.length - after.length);
  if (rest !== undefined && before.length > 0)
    throw new ThreadmuxError('bad_usage', `write ${rest} after "--"`, {
      hint: `Example: threadmux start ${name} -- ${before.join(' ')}`,
    });
  return { name, rest: [...before, ...after] };
}

export function readNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
  };
}

/** What `onHost` adds. */
export interface SessionFlags {
  readonly host?: string;
  readonly json?: boolean;
}

/** For commands that name a session. */
export function onHost(command: Command): Command {
  return command.option('--host <name>', 'host of the session').option('--json', 'print JSON');
}

/** Collects the values of a repeatable option. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** How the agent starts; see docs/projects.md. */
export function agentOptions(command: Command): Command {
  return command
    .option('--model <name>', 'model of the agent, such as opus')
    .option('--mode <mode>', 'permission mode of the agent, such as plan')
    .option('--agent <name>', 'agent to start: claude, codex, gemini, opencode or pi')
    .option('--continue', 'continue the newest conversation of this session')
    .option('--worktree', 'start in a new git worktree')
    .option('--no-worktree', 'start in the directory itself, although the project uses worktrees');
}

export function addWorktrees(program: Command): void {
  const worktrees = addCommand(
    program,
    'worktrees',
    'show the git worktrees of sessions, also those whose session has ended',
    'worktrees list',
  );
  addCommand(worktrees, 'list', 'list the worktrees on all hosts and what is in them', 'worktrees list', {
    isDefault: true,
  })
    .option('--host <name>', 'list only this host')
    .option('--json', 'print JSON')
    .action(async (flags) => (await import('./commands/worktrees.ts')).listAllWorktrees(flags));
  addCommand(
    worktrees,
    'remove <name>',
    'remove a worktree and its branch, if nothing would get lost',
    'worktrees remove shop/web --host mini',
  )
    .option('--host <name>', 'host of the worktree')
    .option('--json', 'print JSON')
    .action(async (name, flags) => (await import('./commands/worktrees.ts')).removeWorktree(name, flags));
}
