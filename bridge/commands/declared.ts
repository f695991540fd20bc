// !start and !stop-session: the declared sessions of the configuration, by name. What is stopped stays so until somebody starts it.

import { isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { type DeclaredPlace, requireDeclared } from '../declared/declared-list.ts';
import { type Command, type CommandCall, type CommandContext, type CommandReply, replyWith } from './command.ts';
import { killCommand } from './kill.ts';

export const startCommand: Command = {
  name: 'start',
  usage: '!start <name>',
  about: 'start a declared session',
  run: async (order, context) => startDeclared(placeOf(order, context, '!start'), context),
};

export const stopSessionCommand: Command = {
  name: 'stop-session',
  usage: '!stop-session <name>',
  about: 'end a declared session until somebody starts it',
  run: async (order, context) => stopDeclared(placeOf(order, context, '!stop-session'), order, context),
};

export async function startDeclared(place: DeclaredPlace, context: CommandContext): Promise<CommandReply> {
  const name = untrustedCode(place.label);
  const begun = await context.declared.start(place);
  if (begun.is === 'there') return replyWith(`${name} already runs${begun.link}`);
  if (begun.is === 'up') return replyWith(`▶️ ${name} is up: <#${begun.thread}>`);
  return replyWith(`🔔 ${name} ${begun.is === 'asks' ? 'waits for you' : 'has not reported yet'}: <#${begun.thread}>`);
}

export async function stopDeclared(
  place: DeclaredPlace,
  order: CommandCall,
  context: CommandContext,
): Promise<CommandReply> {
  const { name, host } = place;
  const status = context.declared.statuses().find((one) => one.place === place);
  const kill = () => killCommand.run({ ...order, rest: `${name}@${host}` }, context);
  if (status?.isThere !== false) return kill();
  // It may exist already, while its worktree is set up.
  const killed = status.because === 'starting' && (await kill().catch(isNotThere));
  if (killed) return killed;
  context.declared.ending({ host, name });
  return replyWith(`⏹️ ${untrustedCode(place.label)} does not run, and stays ended until somebody starts it.`);
}

function isNotThere(error: unknown): undefined {
  if (!isThreadmuxError(error, 'session_not_found')) throw error;
}

function placeOf({ rest, thread, channel }: CommandCall, context: CommandContext, usage: string): DeclaredPlace {
  const all = context.declared.all();
  const text = rest.trim();
  if (text !== '') return requireDeclared(text, all, thread?.parentId ?? channel);
  const record = thread && context.threads.registry.get(thread.id);
  const own = record && all.find(({ host, name }) => host === record.host && name === record.sessionName);
  if (own !== undefined) return own;
  throw new ThreadmuxError('bad_usage', `\`${usage}\` needs the name of a declared session.`, {
    hint: '`!sessions` lists them.',
  });
}
