// A declared session that runs has a thread, and gets its prompt if we have started it: once per start, also if the bridge is killed in between. The prompt is a
// message of the bot in the thread, and is delivered like any other.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { getsPrompt, isDeclaredStart } from '../../threads/remembered-session.ts';
import type { CommandContext } from '../commands/command.ts';
import type { AcceptedMessage } from '../inbox.ts';
import { shownPart } from '../own-messages.ts';
import { type DeclaredMemory, runText } from './decide-start.ts';
import type { DeclaredPlace } from './declared-list.ts';
import type { HostPane } from './find-run.ts';

interface Running {
  readonly place: DeclaredPlace;
  readonly pane: HostPane;
  readonly memory: DeclaredMemory;
}

/** Resolves with the run that has its prompt. */
export async function givePrompt(
  { place, pane, memory }: Running,
  context: CommandContext,
): Promise<string | undefined> {
  const { threads } = context;
  const run = runText(pane);
  const known = threads.registry.ofSession(pane.host, pane);
  if (known !== undefined && memory.prompted === run) return run;
  const { dead: _, exitStatus: __, createdAt: ___, ...session } = pane;
  const record =
    known ??
    // Somebody else started it, or the bridge was killed before it created the thread.
    (await threads.ensure(session, { directory: pane.path, shell: isDeclaredStart(pane.started) ? 'no' : 'found' }));
  const getsIt = getsPrompt(pane.started, context.config.host) && memory.prompted !== run;
  if (record === undefined || !getsIt) return memory.prompted;
  if (place.prompt === undefined) return run;
  const prompt = await postPrompt({ text: place.prompt, thread: record.thread, run }, context);
  const thread = await context.known.find(record.thread);
  if (prompt !== undefined && thread !== undefined) context.accept(prompt, thread);
  return run;
}

interface PostedPrompt {
  readonly text: string;
  readonly thread: string;
  readonly run: string;
  /** A message that is typed after it, although it is older. */
  readonly before?: string;
}

/** Undefined if it was taken before. */
export async function postPrompt(
  { text, thread, run, before }: PostedPrompt,
  { home, threads, server, postNotice }: CommandContext,
): Promise<AcceptedMessage | undefined> {
  // The same message after a crash, because of its nonce.
  const id = await postNotice(thread, ['prompt', run], { content: shownPart(text), silent: true });
  const isTaken =
    id === undefined ||
    existsSync(join(home.folder('inbox'), `${id}.json`)) ||
    threads.registry.get(thread)?.deliveries.some((one) => one.message === id);
  if (isTaken) return undefined;
  const author = { authorId: server.allow[0] ?? '', author: 'config.json' };
  const order = before === undefined ? {} : { deliveryId: String(BigInt(before) - 1n) };
  return { id, channelId: thread, ...author, text, attachments: [], ...order };
}
