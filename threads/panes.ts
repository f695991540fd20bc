// Which pane a thread speaks to: the one in its record. If that pane is gone, the session's present one; there is no
// other choice.

import type { Config } from '../core/config.ts';
import { parseThreadTitle } from '../core/session-name.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { Home } from '../home/home.ts';
import { loadStreamRecord } from '../home/stream-record.ts';
import type { HostList } from '../tmux/host-list.ts';
import { lookAtPane } from '../tmux/look.ts';
import { type Tmux, tmuxOn } from '../tmux/tmux.ts';
import { channelsOf } from './connections.ts';
import { sessionPanes } from './session-panes.ts';
import { type Threads, titleOf } from './session-threads.ts';
import { sessionKey, type ThreadRecord } from './thread-record.ts';

export interface FoundPane {
  readonly tmux: Tmux;
  readonly record: ThreadRecord;
}

type AThread = Pick<ThreadRef, 'id' | 'title' | 'parentId'>;

export interface PaneFinder {
  /** Undefined: there is no such session. `again` looks whether the pane we know is still there. */
  find(thread: AThread, again?: boolean): Promise<FoundPane | undefined>;
  hostOf(thread: Pick<ThreadRef, 'id' | 'title'>): string;
}

const DEADLINE_MS = 10_000;

export function createPaneFinder(
  { config, home, hosts }: { readonly config: Config; readonly home: Home; readonly hosts: HostList },
  { registry, connections, destinationOf }: Threads,
): PaneFinder {
  const hostOf: PaneFinder['hostOf'] = ({ id, title }) =>
    registry.get(id)?.host ??
    (loadStreamRecord(home, id) === undefined ? undefined : config.host) ??
    parseThreadTitle(title)?.host ??
    config.defaultHost;

  /** By its identity in tmux, else by its name: it was started again, or the registry was lost. */
  async function locate(thread: AThread): Promise<ThreadRecord | undefined> {
    const host = hostOf(thread);
    const known = registry.get(thread.id);
    const sessions = await sessionPanes(hosts, host, known ? [known] : [], DEADLINE_MS);
    const channel = known?.channel || thread.parentId;
    const session =
      (known && sessions.find((one) => sessionKey(one) === sessionKey(known))) ??
      // One of that name that belongs to another channel is none of this thread's.
      sessions.find(
        (one) => titled(one, config) === (known?.title ?? thread.title) && destinationOf(one.path)?.channel === channel,
      );
    if (session === undefined) return undefined;
    const other = registry.ofSession(host, session);
    if (other !== undefined && other.thread !== thread.id) return undefined;
    const { path, ...pane } = session;
    const record: ThreadRecord = {
      ...(known ?? unknownThread(thread, serverOf(thread.parentId))),
      ...pane,
      ...({ cwd: path, claudeSession: '', transcript: '', closed: false } as const),
      toldUnheard: false,
      ...({ state: 'idle', shell: 'found', at: Date.now() } as const),
    };
    registry.put(record);
    return record;
  }

  const serverOf = (channel: string) =>
    connections.all().find(({ server }) => channelsOf(server).includes(channel))?.server.name ?? '';

  const tmuxOf = ({ host, socket }: ThreadRecord) => tmuxOn(hosts.get(host), socket);

  async function isThere(record: ThreadRecord): Promise<boolean> {
    const seen = await lookAtPane(tmuxOf(record), record);
    return seen.kind === 'pane' && seen.serverPid === record.serverPid && seen.panePid === record.panePid;
  }

  return {
    hostOf,
    async find(thread, again = false) {
      const known = registry.get(thread.id);
      const isKept =
        known !== undefined && !known.closed && (!again || known.shell === 'terminal' || (await isThere(known)));
      const record = isKept ? known : await locate(thread);
      return record && { record, tmux: tmuxOf(record) };
    },
  };
}

/** What a record has beside its session. */
type OfThread = Pick<
  ThreadRecord,
  | 'thread'
  | 'title'
  | 'server'
  | 'channel'
  | 'last'
  | 'posted'
  | 'deliveries'
  | 'archived'
  | 'deleted'
  | 'toldUnheard'
  | 'stoppedAt'
>;

function unknownThread({ id, title, parentId }: AThread, server: string): OfThread {
  return {
    ...{ thread: id, title, server, channel: parentId, last: id, posted: [], deliveries: [] },
    ...({ archived: 'no', deleted: false, toldUnheard: false, stoppedAt: 0 } as const),
  };
}

function titled(session: Parameters<typeof titleOf>[0], config: Config): string | undefined {
  try {
    return titleOf(session, config);
  } catch {
    return undefined;
  }
}
