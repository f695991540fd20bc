// An earlier process was stopped while it told the end of a session. Its thread says so now, once, and is archived.

import type { Log } from '../core/log.ts';
import { newestMessages } from '../discord/messages.ts';
import type { HostList } from '../tmux/host-list.ts';
import { endedNotice } from './ended-notice.ts';
import { postNotice } from './notices.ts';
import { isAlive } from './panes.ts';
import type { ThreadRecord } from './registry.ts';
import type { Threads } from './session-threads.ts';

interface EndFinisherOptions {
  readonly threads: Threads;
  readonly hosts: HostList;
  readonly log: Log;
}

const READ = 5;

/** Only for what was left when it is created, one host per call. What fails (an unreachable host or server) is tried again by the next call. */
export function createEndFinisher({ threads, hosts, log }: EndFinisherOptions): (host: string) => Promise<void> {
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
