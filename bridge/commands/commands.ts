// The list of commands, and how they are run. An unknown command is answered and never typed.

import { isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import { nearestName } from '../../core/nearest-name.ts';
import { cutMessage, untrustedCode, untrustedHint } from '../../core/untrusted-text.ts';
import { type Command, type CommandCall, type CommandContext, type CommandReply, replyWith } from './command.ts';
import { startCommand, stopSessionCommand } from './declared.ts';
import { exportCommand } from './export.ts';
import { keyCommand, shortKeyCommands, stopCommand } from './keys.ts';
import { killCommand } from './kill.ts';
import { newCommand } from './new.ts';
import { atCommand, everyCommand, scheduleCommand } from './schedule.ts';
import { screenCommand } from './screen.ts';
import { sessionsCommand } from './sessions.ts';
import { setCommand } from './set.ts';
import { shCommand } from './sh.ts';
import { agentCommand, doneCommand, statusCommand, terminalCommand } from './streams.ts';

const retry: Command = {
  name: 'retry',
  usage: '!retry [message id]',
  about: 'type the last failed message again',
  async run(order, context) {
    const message = order.rest.trim();
    // A thread that was created from a message has its id.
    const isFirst = (context.threads.registry.get(message)?.adopted ?? 'no') !== 'no';
    const thread = isFirst ? await context.known.find(message) : order.thread;
    if (thread === undefined) throw new ThreadmuxError('bad_usage', 'Use this in a session’s thread.');
    return replyWith(await context.retry(message, order, thread));
  },
};

const help: Command = { name: 'help', usage: '!help', about: 'this list', run: async () => replyWith(helpText()) };

export const COMMANDS: readonly Command[] = [
  newCommand,
  killCommand,
  startCommand,
  stopSessionCommand,
  sessionsCommand,
  terminalCommand,
  agentCommand,
  doneCommand,
  statusCommand,
  setCommand,
  exportCommand,
  screenCommand,
  stopCommand,
  keyCommand,
  atCommand,
  everyCommand,
  scheduleCommand,
  retry,
  shCommand,
  help,
];
const ALL: readonly Command[] = [...COMMANDS, ...shortKeyCommands];

export function helpText(): string {
  return [
    ...COMMANDS.map(({ usage, about }) => `\`${usage}\` ${about}`),
    'Commands of the agent itself begin with `/`, such as `/compact`. On Discord: `/claude`.',
  ].join('\n');
}

function unknownCommand(name: string): string {
  const written = untrustedCode(`!${name.slice(0, 30)}`);
  const near = nearestName(
    name,
    COMMANDS.map((one) => one.name),
  );
  const hint = near === undefined ? '' : ` Did you mean \`!${near}\`?`;
  return `⚠️ ${written} is not a command, so nothing was done.${hint} \`!help\` lists all.`;
}

export function pressesKeys(name: string): boolean {
  return [keyCommand, stopCommand, ...shortKeyCommands].some((command) => command.name === name);
}

/** Never rejects: errors become replies. */
export async function runCommand(name: string, order: CommandCall, context: CommandContext): Promise<CommandReply> {
  const command = ALL.find((one) => one.name === name);
  if (command === undefined) return replyWith(unknownCommand(name));
  try {
    return await command.run(order, context);
  } catch (error) {
    context.log.info('command failed', { name, because: (error as Error).message });
    if (!isThreadmuxError(error)) context.log.error('command failed', { name, because: (error as Error).stack ?? '' });
    return replyWith(cutMessage(`⚠️ ${untrustedHint(error)}`, 1_900));
  }
}
