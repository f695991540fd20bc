// The commands, and the one way to run them. A message that begins with "!" and is none of them is
// answered with the list: it is never typed.

import { isThreadmuxError, ThreadmuxError } from '../core/errors.ts';
import { advice } from '../core/outside-words.ts';
import { screenBlock } from '../threads/notices.ts';
import { type Answer, type Command, type Order, say, type Tools } from './command.ts';
import { key, screen, shortKeys } from './command-keys.ts';
import { create, kill } from './command-new.ts';
import { sessions } from './command-sessions.ts';
import { stop } from './command-stop.ts';
import { agent, done, status, terminal } from './command-streams.ts';

const retry: Command = {
  name: 'retry',
  usage: '!retry [message id]',
  about: 'type the last message that failed once more',
  async run(order, tools) {
    if (order.thread === undefined)
      throw new ThreadmuxError('bad_usage', 'this belongs into the thread of a session');
    return say(await tools.retry(order.rest.trim(), order.id, order.thread));
  },
};

const SH_TIMEOUT_MS = 30_000;

const sh: Command = {
  name: 'sh',
  usage: '!sh <command>',
  about: 'run a command in a shell of the session’s host (only with "allowShell")',
  async run(order, tools) {
    if (!tools.config.allowShell)
      throw new ThreadmuxError('bad_usage', 'shell commands are off', {
        hint: 'Set "allowShell": true in the configuration to allow them.',
      });
    if (order.rest === '') throw new ThreadmuxError('bad_usage', '`!sh` needs a command');
    const host =
      order.thread === undefined ? tools.config.defaultHost : tools.panes.hostOf(order.thread);
    // The command goes as data on stdin: nothing of it is ever part of a command line.
    const script = 'sh 2>&1 || echo "[exit code $?]"';
    const printed = await tools.hosts
      .get(host)
      .sh(script, [], { input: order.rest, timeoutMs: SH_TIMEOUT_MS, doing: 'run the command' });
    return say(screenBlock(printed));
  },
};

const help: Command = {
  name: 'help',
  usage: '!help',
  about: 'this list',
  run: async () => say(helpText()),
};

export const COMMANDS: readonly Command[] = [
  create,
  kill,
  sessions,
  terminal,
  agent,
  done,
  status,
  screen,
  stop,
  key,
  retry,
  sh,
  help,
];
const ALL: readonly Command[] = [...COMMANDS, ...shortKeys];

export function helpText(): string {
  return COMMANDS.map(({ usage, about }) => `\`${usage}\` ${about}`).join('\n');
}

export function pressesKeys(name: string): boolean {
  return [key, stop, ...shortKeys].some((command) => command.name === name);
}

/** Every outcome is something to say, refusals too. */
export async function runCommand(name: string, order: Order, tools: Tools): Promise<Answer> {
  const command = ALL.find((one) => one.name === name);
  if (command === undefined)
    return say(
      `⚠️ \`!${name.replace(/[^\w-]/g, '').slice(0, 30)}\` is not a command, and a message that begins with \`!\` is never typed.\n${helpText()}`,
    );
  try {
    return await command.run(order, tools);
  } catch (error) {
    tools.log.info('command failed', { name, because: (error as Error).message });
    if (!isThreadmuxError(error))
      tools.log.error('command failed', { name, because: (error as Error).stack ?? '' });
    return say(`⚠️ ${advice(error)}`.slice(0, 1_900));
  }
}
