// The one message that says that a session has ended, also after a crash, and the buttons that start it again. The buttons name the thread: its
// record says which session on which host it was.

import { untrustedText } from '../core/untrusted-text.ts';
import { button, type ComponentRow, type MessageDraft, newestMessages, row } from '../discord/messages.ts';
import { postNotice } from './notices.ts';
import { isAlive } from './panes.ts';
import type { ThreadRecord } from './registry.ts';
import { canStartAgain, conversationOf } from './remembered-session.ts';
import type { Shared } from './shared-services.ts';

export const START_AGAIN = 'again';

/** `by` is the name of the user who ended it. */
export function endedNotice(record: ThreadRecord, by?: string): MessageDraft {
  const content = by === undefined ? '⏹️ The session has ended.' : `⏹️ Ended by ${untrustedText(by)}.`;
  return { content, components: startButtons(record), silent: true };
}

export function startButtons(record: ThreadRecord): readonly ComponentRow[] {
  if (!canStartAgain(record)) return [];
  const conversation = conversationOf(record);
  const again = button('Start again', `${START_AGAIN}:${record.thread}`);
  if (conversation === undefined) return [row(again)];
  return [row(again, button('Continue the conversation', `${START_AGAIN}:${record.thread}:${conversation}`))];
}

// An earlier process was stopped while it told the end of a session. Its thread says so now, once, and is archived.

const READ = 5;

/** Only for what was left when it is created, one host per call. What fails (an unreachable host or server) is tried again by the next call. */
export function createEndFinisher({
  threads,
  hosts,
  log,
}: Pick<Shared, 'threads' | 'hosts' | 'log'>): (host: string) => Promise<void> {
  const { registry, connections } = threads;
  const left = new Set(
    registry
      .all()
      .filter(({ closed, ending }) => closed && ending)
      .map(({ thread }) => thread),
  );

  async function finish(record: ThreadRecord): Promise<void> {
    const { thread, server, channel } = record;
    const connection = connections.named(server);
    if (connection === undefined || record.deleted || record.inChannel) return;
    // The session was about to be killed.
    if (await isAlive(hosts, record)) return void registry.change(thread, { closed: false, ending: false });
    const { rest } = connection;
    const { botId } = await connection.place(channel);
    const { messages } = await newestMessages(rest, thread, READ);
    const isTold = messages.findLast(({ author }) => author.id === botId)?.content.startsWith('⏹️');
    if (!isTold) await postNotice(rest, thread, [thread, 'ended', record.panePid], endedNotice(record));
    await threads.archive(thread, { ended: record });
  }

  return async (host) => {
    for (const thread of [...left]) {
      const record = registry.get(thread);
      if (record !== undefined && record.host !== host) continue;
      try {
        if (record?.closed && record.ending) await finish(record);
        left.delete(thread);
      } catch (error) {
        log.info('finishing the end of a session', { thread, because: (error as Error).message });
      }
    }
  };
}
