// Carries out an order, and writes down its outcome for the process that waits for it. Safe to repeat: what an order posts has a nonce
// made from its id.

import { isThreadmuxError } from '../core/errors.ts';
import { writeJson } from '../home/atomic-write.ts';
import { askedInput } from '../threads/prompts/program-question.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { CourierContext } from './courier-context.ts';
import {
  type AskOrder,
  type Order,
  type OrderOutcome,
  outcomePath,
  type PostOrder,
  type ThreadOrder,
} from './orders.ts';
import { filesAt, post, postTextsSoFar, type Speaker } from './post-texts.ts';

export async function obeyOrder(order: Order, context: CourierContext): Promise<void> {
  const outcome = await act(order, context).catch((error: unknown): OrderOutcome => {
    // Temporary failures are retried; any other failure must not block the letters after it.
    const temporary = ['discord_unreachable', 'host_unreachable'] as const;
    if (!isThreadmuxError(error) || temporary.some((code) => isThreadmuxError(error, code))) throw error;
    return refused(error.message);
  });
  writeJson(outcomePath(context.home, order), outcome);
}

const refused = (because: string): OrderOutcome => ({ outcome: 'refused', thread: null, because });

async function act(order: Order, context: CourierContext): Promise<OrderOutcome> {
  switch (order.order) {
    case 'open':
    case 'close':
      return openOrClose(order, context);
    case 'post':
      return postOrder(order, context);
    case 'ask':
      return askOrder(order, context);
  }
}

async function openOrClose({ order, session }: ThreadOrder, { threads }: CourierContext): Promise<OrderOutcome> {
  const known = threads.registry.ofSession(session.host, session);
  const exists = known !== undefined && !known.deleted && known.server !== '';
  if (order === 'close') {
    if (!exists) return { outcome: 'none', thread: null, because: '' };
    if (known.inChannel) return refused('this session talks in its channel and has no thread');
    await threads.archive(known.thread);
    return { outcome: 'closed', thread: known.thread, because: '' };
  }
  if (exists) await threads.reopen(known.thread);
  const record = exists ? known : await threads.ensure(session, { directory: session.path });
  if (record === undefined) return NOWHERE;
  return { outcome: 'opened', thread: record.thread, because: '' };
}

const NOWHERE: OrderOutcome = { outcome: 'nowhere', thread: null, because: '' };

/** Undefined if the session gets no thread. */
async function speakerFor(order: PostOrder | AskOrder, context: CourierContext): Promise<Speaker | undefined> {
  const { session } = order;
  const known = context.threads.registry.ofSession(session.host, session);
  const directory = known?.project || known?.cwd || session.path;
  const thread = await context.threads.ensure(session, { directory, shell: known?.shell ?? 'found' });
  if (thread === undefined) return undefined;
  const { claudeSession, cwd } = thread;
  return { context, session, thread, pane: session.paneId, directory, cwd, claudeSession };
}

async function postOrder(order: PostOrder, context: CourierContext): Promise<OrderOutcome> {
  const speaker = await speakerFor(order, context);
  if (speaker === undefined) return NOWHERE;
  const { files, refused: not } = await filesAt(order.paths, speaker);
  if (not.length > 0) return refused(not.join('\n'));
  await sayBefore(order, speaker);
  const { attached, text, silent, id, at } = order;
  const own = attached === undefined ? [] : [{ name: attached.name, data: new TextEncoder().encode(attached.text) }];
  const { thread } = speaker.thread;
  await context.inTurn(thread, () => post(speaker, `order ${id}`, at, { text, silent, files: [...files, ...own] }));
  return { outcome: 'posted', thread, because: '' };
}

/** A program that asks in a loop must not bury the thread. */
const MOST_QUESTIONS = 10;

async function askOrder(order: AskOrder, context: CourierContext): Promise<OrderOutcome> {
  const speaker = await speakerFor(order, context);
  if (speaker === undefined) return NOWHERE;
  await sayBefore(order, speaker);
  const { session, id, at: writtenAt, asker } = order;
  const { thread } = speaker.thread;
  const others = context.prompts.inThread(thread).filter((one) => one.ofProgram && one.id !== id);
  if (others.length >= MOST_QUESTIONS) return refused(`${others.length} questions are already open in its thread`);
  const letter = {
    ask: id,
    tmux: `${session.socket},${session.serverPid},0`,
    pane: session.paneId,
    project: speaker.directory,
    writtenAt,
    asker,
    ofProgram: true,
    agent: speaker.thread.agent,
  };
  const input = askedInput({ ...order, ...about(speaker.thread) });
  await context.inTurn(thread, () => context.prompts.open(letter, input, context.host.name));
  return { outcome: 'asked', thread, because: '' };
}

const about = ({ claudeSession: agentSession, transcript, cwd }: ThreadRecord) => ({ agentSession, transcript, cwd });

/** What the agent said before it called the tool is posted first. */
async function sayBefore({ at }: PostOrder | AskOrder, speaker: Speaker): Promise<void> {
  const { state } = speaker.thread;
  if (state === 'working') await postTextsSoFar(speaker.thread, at, speaker);
}
