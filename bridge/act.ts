// What is done about an accepted message: a command is run, an answer is carried to its prompt, everything else is sent
// on its way. A message stays in the inbox until then, and what an earlier process left is taken up first.

import type { Server } from '../core/config.ts';
import { createInTurn } from '../core/in-turn.ts';
import type { Log } from '../core/log.ts';
import { refusedWith } from '../discord/messages.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { attempt } from '../home/keep.ts';
import type { Answer, Tools } from './command.ts';
import { runCommand } from './commands.ts';
import type { Accepted, Inbox } from './inbox.ts';
import type { KnownThreads } from './known-threads.ts';
import type { Marks } from './marks.ts';
import type { Prompts } from './prompts.ts';
import { type Decision, route } from './route.ts';

type Todo = Exclude<Decision, { kind: 'ignore' }>;

export interface ActOptions {
  readonly threads: KnownThreads;
  readonly inbox: Inbox;
  readonly marks: Marks;
  readonly prompts: Prompts;
  readonly tools: Tools;
  readonly send: (message: Accepted, thread: ThreadRef) => Promise<void>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface Act {
  begin(message: Accepted, todo: Todo): void;
  /** Everything an earlier process left, in the order it was written. */
  takeUp(channels: readonly string[], server: Server): Promise<void>;
}

export function createAct(options: ActOptions): Act {
  const { threads, inbox, marks, prompts, tools, log, signal } = options;
  const inTurn = createInTurn();

  async function act(message: Accepted, todo: Todo): Promise<void> {
    if (todo.kind === 'forward')
      return inTurn(message.channelId, () => forward(message, todo.text));
    const thread = await threads.find(message.channelId);
    const answer = await answerTo(message, todo, thread);
    await tools.say(message.channelId, [message.id, 'command'], { ...answer, replyTo: message.id });
    inbox.done(message.id);
    await answer.after?.(message.channelId);
  }

  /** Noted before it is said: an order that was carried out is not carried out again. */
  async function answerTo(
    message: Accepted,
    todo: Extract<Todo, { kind: 'command' }>,
    thread: ThreadRef | undefined,
  ): Promise<Answer> {
    if (message.answer !== undefined) return { content: message.answer };
    const answer = await runCommand(todo.name, { id: message.id, thread, rest: todo.rest }, tools);
    attempt('the inbox', () => inbox.put({ ...message, answer: answer.content }));
    return answer;
  }

  /** In turn up to the session's own queue: the pane takes a message that comes after a newer one for typed. */
  async function forward(message: Accepted, text: string): Promise<void> {
    const thread = await threads.find(message.channelId);
    if (thread === undefined || (await answered(message, text, thread))) return;
    void options.send(message, thread);
  }

  /** While a prompt is open, what is written answers it: through its hook, never by keys. */
  async function answered(message: Accepted, text: string, thread: ThreadRef): Promise<boolean> {
    if (text === '' || message.attachments.length > 0) return false;
    const by = { id: message.authorId, name: message.author };
    if (!(await prompts.wrote(text, thread, message.id, by).catch(() => false))) return false;
    await marks.set(message.channelId, message.id, 'submitted');
    inbox.done(message.id);
    return true;
  }

  const begin = (message: Accepted, todo: Todo) =>
    void act(message, todo).catch((error: Error) => {
      if (!signal.aborted)
        log.error('acting on a message', { message: message.id, because: error.message });
    });

  /** Undefined for what is over: the thread is gone, or nobody would be heard with it any more. */
  async function todoOf(
    message: Accepted,
    channels: readonly string[],
    server: Server,
  ): Promise<Todo | undefined> {
    const inChannel = channels.includes(message.channelId);
    if (!inChannel && (await threads.find(message.channelId)) === undefined) return undefined;
    const facts = { fromBot: false, fromWebhook: false, written: true };
    const attachments = message.attachments.length;
    const where = inChannel ? 'channel' : 'thread';
    const decision = route({ ...message, ...facts, attachments }, where, server);
    return decision.kind === 'ignore' ? undefined : decision;
  }

  return {
    begin,
    async takeUp(channels, server) {
      for (const message of inbox.left()) {
        try {
          const todo = await todoOf(message, channels, server);
          marks.assume(message.id, ['waiting', 'typed']);
          if (todo === undefined) inbox.done(message.id);
          else begin(message, todo);
        } catch (error) {
          // A thread that we may not see now must not keep everything else from starting.
          if (!refusedWith(error, 50001, 50013)) throw error;
          log.warn('a message stays where it is', { message: message.id });
        }
      }
    },
  };
}
