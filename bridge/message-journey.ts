// Journey in: a message that was accepted reaches the pane of its session. It is in the inbox until its outcome is
// known.
//
//   listen.ts → route.ts → inbox.ts → here: a command is run, an answer goes to its prompt or dialog, everything else waits in the
//   queue of its session → delivery.ts → delivery-attempt.ts (look, decide, type, Enter) → confirm.ts (the receipt) → outcomes.ts

import { setImmediate as nextTurn } from 'node:timers/promises';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { optionValue } from '../core/prompt.ts';
import { looksLikeAnswer } from '../core/prompt-answer.ts';
import { isStreamTitle } from '../core/thread-title.ts';
import { MISSING_ACCESS, MISSING_PERMISSIONS } from '../discord/error-codes.ts';
import { refusedWith } from '../discord/messages.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { tryBestEffort } from '../home/atomic-write.ts';
import { KEEPS_TRYING, type TakenAnswer } from '../threads/prompts/finish-prompt.ts';
import { createAskAgent } from './ask-agent.ts';
import type { CommandContext, CommandReply } from './commands/command.ts';
import { pressesKeys, runCommand } from './commands/commands.ts';
import { createDeliver } from './delivery.ts';
import type { Waits } from './delivery-waits.ts';
import { answerQuestion } from './dialogs/answer-question.ts';
import { type AcceptedMessage, targetOf } from './inbox.ts';
import { whereIs } from './listen.ts';
import { type RouteAction, route } from './route.ts';

export interface JourneyOptions extends CommandContext {
  readonly settleMs: number | undefined;
  readonly waits: Partial<Waits> | undefined;
}

const ANSWER_AGAIN_MS = 2_000;

export function createJourney(options: JourneyOptions) {
  const { server, known, inbox, reactions, outcomes, receipts, prompts, log, signal } = options;
  const deliver = createDeliver(options);
  const askAgent = createAskAgent(options);
  /** Keys wait only for other keys, not for messages: a pane refuses a key that is older than the last one. */
  const keysInTurn = createKeyedQueue();

  const begin = (message: AcceptedMessage, todo: RouteAction) =>
    void act(message, todo).catch((error: Error) => {
      if (!signal.aborted) log.error('acting on a message', { message: message.id, because: error.message });
    });

  async function act(message: AcceptedMessage, todo: RouteAction): Promise<void> {
    const thread = await known.find(targetOf(message));
    if (thread !== undefined) await untilStreamBegun(thread);
    if (todo.kind === 'command') return command(message, todo, thread);
    if (thread === undefined) return inbox.done(message);
    if (message.answers !== undefined && (await answered(message))) return;
    if (await answerQuestion(message, thread, options)) return;
    await send(message, thread);
  }

  /** Users see the thread of a terminal or headless agent before it has started. */
  async function untilStreamBegun({ id, title }: ThreadRef): Promise<void> {
    if (!isStreamTitle(title) || options.streams.of(id) !== undefined) return;
    await options.streams.begun();
    await nextTurn(); // a headless agent gets its first prompt before
  }

  /** Stores the reply before it is posted, so that a command never runs twice. */
  async function command(
    message: AcceptedMessage,
    todo: Extract<RouteAction, { kind: 'command' }>,
    thread: ThreadRef | undefined,
  ): Promise<void> {
    let answer: CommandReply = { content: message.answer ?? '' };
    if (message.answer === undefined) {
      const { id, channelId: channel, author: by, authorId: byId, liveAt, repliedTo } = message;
      const order = { id, thread, channel, rest: todo.rest, repliedTo, by, byId, liveAt };
      const run = () => runCommand(todo.name, order, options);
      answer = await (pressesKeys(todo.name) ? keysInTurn(message.channelId, run) : run());
      tryBestEffort('the inbox', () => inbox.put({ ...message, answer: answer.content }));
    }
    const said = { ...answer, replyTo: message.id };
    const reply = await options.postNotice(message.channelId, [message.id, 'command'], said);
    inbox.done(message);
    await answer.after?.(message.channelId, reply);
  }

  /** True if the message is finished. A message is given to the prompt or typed, never both. */
  async function answered(message: AcceptedMessage): Promise<boolean> {
    const { answers } = message;
    if (answers === undefined) return false;
    if (answers === 'unclear') return over(() => outcomes.unclear(message));
    const answer = () =>
      prompts.answer({
        prompt: answers.id,
        on: { thread: message.channelId, message: answers.messageId },
        answer: { action: 'text', values: [optionValue(answers.question, 0)], text: message.text.trim() },
        by: { id: message.authorId, name: message.author },
        order: message.id,
      });
    const given = await whenBack(message, answers.id, answer).catch((error: Error) => {
      signal.throwIfAborted();
      log.warn('an answer was not taken', { message: message.id, because: error.message });
      return 'undelivered' as const;
    });
    if (given === 'taken') return over(() => outcomes.submitted(message));
    if (given === 'undelivered' || looksLikeAnswer(message.text, [answers]))
      return over(() => outcomes.unclear(message));
    const { answers: _, ...plain } = message;
    inbox.put(plain);
    return false;

    async function over(tell: () => Promise<void>): Promise<true> {
      await tell();
      inbox.done(message);
      return true;
    }
  }

  /** Repeats until the hook has the answer, or will not take it. */
  async function whenBack(
    message: AcceptedMessage,
    prompt: string,
    answer: () => Promise<TakenAnswer>,
  ): Promise<TakenAnswer> {
    const host = options.threads.registry.get(message.channelId)?.host ?? '';
    for (let isTold = false; ; isTold = true) {
      options.remote.wanted(host);
      const given = await answer();
      if (given !== 'waits') return given;
      if (!isTold) await outcomes.waiting(message, `${prompts.waitsBecause(prompt)} ${KEEPS_TRYING}`, undefined);
      await options.remote.untilBack(host, ANSWER_AGAIN_MS, signal);
      signal.throwIfAborted();
    }
  }

  /** Sends it into its pane or to its headless agent. Never rejects. */
  function send(message: AcceptedMessage, thread: ThreadRef): Promise<void> {
    const stream = options.streams.of(thread.id);
    if (stream?.kind === 'agent') return askAgent(message, stream.agent);
    const over = options.states.delivering(thread.id, message.deliveryId ?? message.id);
    return deliver(message, thread).finally(over);
  }

  receipts.onLate((thread, delivery) => {
    const record = options.threads.registry.get(thread);
    if (record?.server !== server.name) return;
    // The first message of a thread that a user created stays in the channel.
    const { channel } = record;
    void outcomes.corrected(delivery.message === thread ? channel : thread, delivery).then(() => {
      if (!signal.aborted) receipts.corrected(thread, delivery.id);
    });
  });

  /** Undefined if the thread is gone, or the message would be ignored now. */
  async function todoOf(message: AcceptedMessage): Promise<RouteAction | undefined> {
    const where = await whereIs(targetOf(message), known, options.channels);
    const facts = { fromBot: false, fromWebhook: false, written: true };
    const attachments = message.attachments.length;
    const decision = route({ ...message, ...facts, attachments }, where, server);
    if (decision.kind !== 'ignore') return decision;
    // It was written while the channel talked to a session.
    const because = 'This channel no longer talks to a session. Write in the thread of one.';
    if (decision.because === 'talk') await outcomes.ended(message, { kind: 'failed', because, screen: undefined });
    return undefined;
  }

  return {
    begin,
    send,
    /** Continues with the messages that an earlier process left, in order. */
    async takeUp(): Promise<void> {
      for (const message of inbox.left()) {
        try {
          const todo = await todoOf(message);
          reactions.assume(message.id, ['waiting', 'typed', 'failed']);
          if (todo === undefined) inbox.done(message);
          else begin(message, todo);
        } catch (error) {
          // A thread without access must not stop the start.
          if (!refusedWith(error, MISSING_ACCESS, MISSING_PERMISSIONS)) throw error;
          log.warn('a message stays where it is', { message: message.id });
        }
      }
    },
  };
}
