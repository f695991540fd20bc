// Gives the declared prompt to a session that we have started: once per start, also if the bridge is killed in between. It is a message of the bot in the
// thread, and is delivered like any other.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../home/home.ts';
import { getsPrompt } from '../../threads/remembered-session.ts';
import type { Threads } from '../../threads/session-threads.ts';
import type { CommandContext } from '../commands/command.ts';
import { type DeclaredMemory, runText } from './decide-start.ts';
import type { DeclaredPlace } from './declared-list.ts';
import type { HostPane } from './find-run.ts';

interface Running {
  readonly place: DeclaredPlace;
  readonly pane: HostPane;
  readonly memory: DeclaredMemory;
}

interface PromptParts {
  readonly home: Home;
  readonly threads: Threads;
  readonly tools: Pick<CommandContext, 'say' | 'accept' | 'known' | 'server'>;
}

/** The run that has its prompt. */
export async function givePrompt(
  { place, pane, memory }: Running,
  { home, threads, tools }: PromptParts,
): Promise<string | undefined> {
  const run = runText(pane);
  if (!getsPrompt(pane.started) || memory.prompted === run) return memory.prompted;
  const { dead: _, exitStatus: __, createdAt: ___, ...session } = pane;
  const record =
    threads.registry.ofSession(pane.host, pane) ??
    // The bridge was killed before it created the thread.
    (await threads.ensure(session, { directory: pane.path, shell: 'no' }));
  if (record === undefined) return memory.prompted;
  if (place.prompt === undefined) return run;
  const text = place.prompt;
  // The same message after a crash, because of its nonce.
  const draft = { content: text.length > 1_900 ? `${text.slice(0, 1_900)}…` : text, silent: true };
  const message = await tools.say(record.thread, ['prompt', run], draft);
  const thread = await tools.known.find(record.thread);
  if (message === undefined || thread === undefined) return run;
  const isTaken =
    existsSync(join(home.folder('inbox'), `${message}.json`)) ||
    threads.registry.get(record.thread)?.deliveries.some((one) => one.message === message);
  const author = { authorId: tools.server.allow[0] ?? '', author: 'config.json' };
  if (!isTaken) tools.accept({ id: message, channelId: record.thread, ...author, text, attachments: [] }, thread);
  return run;
}
