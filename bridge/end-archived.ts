// A user who archives a thread ends its session, if its project says so (`onArchive`). Discord archives idle threads by
// itself, which ends nothing.

import { newest, snowflakeTime } from '../core/snowflake.ts';
import { untrustedCode, untrustedReason } from '../core/untrusted-text.ts';
import { type ThreadRef, wasArchivedByUs } from '../discord/threads.ts';
import { isArchivedByPerson } from '../threads/archived-by.ts';
import { endedNotice } from '../threads/ended-notice.ts';
import { toSessionPane } from '../threads/panes.ts';
import { sessionKey, type ThreadRecord } from '../threads/registry.ts';
import { killSession, listSessions } from '../tmux/sessions.ts';
import { tmuxOn } from '../tmux/tmux.ts';
import type { CommandContext } from './commands/command.ts';
import { runOf } from './declared/decide-start.ts';
import type { Cursors } from './inbox.ts';

/** For each report about a thread. `isLive`: it came now, while we were connected. */
export function createArchivedEnds(context: CommandContext, cursors: Cursors) {
  const { threads, rest, log } = context;

  function isWanted(thread: ThreadRef, record: ThreadRecord): boolean {
    const { host, project, cwd, shell, closed, archived } = record;
    if (closed || archived !== 'no' || shell === 'terminal' || wasArchivedByUs(rest, thread.id)) return false;
    if (threads.destinationOf({ host, directory: project || cwd })?.project.onArchive !== 'end') return false;
    const read = cursors.channels().includes(thread.id) ? [cursors.get(thread.id)] : [];
    const last = [...(thread.lastMessageId === undefined ? [] : [thread.lastMessageId]), ...read];
    return isArchivedByPerson({
      archivedAt: thread.archiving?.at ?? Number.NaN,
      afterMinutes: thread.archiving?.afterMinutes,
      activeAt: last.length === 0 ? undefined : snowflakeTime(newest('0', ...last)),
    });
  }

  async function end(record: ThreadRecord): Promise<void> {
    const { host, socket, thread } = record;
    const tmux = tmuxOn(context.hosts.get(host), socket);
    const session = (await listSessions(tmux)).find(
      (one) => sessionKey(toSessionPane(host, socket, one)) === sessionKey(record),
    );
    // Before its agent reports its exit, and before the end is noticed: both would say the same again.
    const undo = context.declared.ending({ host, name: record.sessionName, run: session && runOf(session) });
    threads.registry.change(thread, { closed: true, ending: true, state: 'ended' });
    if (session !== undefined)
      await killSession(tmux, session).catch((error: unknown) => {
        undo();
        threads.registry.change(thread, { closed: false, ending: false, state: record.state });
        throw error;
      });
    const content = '⏹️ Ended, because its thread was archived.';
    await context.postNotice(thread, [thread, 'archived', record.panePid], { ...endedNotice(record), content });
    await threads.archive(thread, { ended: record });
  }

  return (thread: ThreadRef, isLive: boolean): void => {
    const record = threads.registry.get(thread.id);
    const isOver = thread.archived && isLive && record !== undefined && isWanted(thread, record);
    threads.heard(thread.id, thread.archived);
    if (!isOver) return;
    end(record).catch(async (error: unknown) => {
      log.warn('ending the session of an archived thread', { thread: thread.id, because: (error as Error).message });
      const again = untrustedCode(`!kill ${record.sessionName}`);
      const content = `⚠️ The session was not ended: ${untrustedReason(error)} ${again} tries it again.`;
      await context.postNotice(thread.id, [thread.id, 'not ended', Date.now()], { content }).catch(() => {}); // it is in the log
    });
  };
}
