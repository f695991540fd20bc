// Which pane a thread speaks to: the one its hooks last reported, on this machine or, read over
// ssh, on its own. There is no second choice.

import type { Config } from '../core/config.ts';
import { isThreadmuxError } from '../core/errors.ts';
import { placeOfTitle } from '../core/session-name.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { Home } from '../home/home.ts';
import {
  loadPaneRecord,
  loadPaneRecords,
  type PaneRecord,
  paneRecordSchema,
  savePaneRecord,
} from '../home/pane-record.ts';
import { loadStreamRecord } from '../home/stream-record.ts';
import type { Session } from '../tmux/sessions.ts';
import { type Tmux, tmuxOn } from '../tmux/tmux.ts';
import type { Hosts } from './hosts.ts';

export interface PaneOf {
  readonly tmux: Tmux;
  readonly record: PaneRecord;
  /** Not read anew: it may be old. */
  readonly remembered: boolean;
}

export interface Panes {
  /** Undefined: nothing has reported from there yet. `again` after what we knew turned out to be old. */
  find(thread: ThreadRef, again?: boolean): Promise<PaneOf | undefined>;
  hostOf(thread: ThreadRef): string;
  save(record: PaneRecord): Promise<void>;
  /** Of the server that new sessions are started on; undefined while none runs. */
  socket(host: string): Promise<string | undefined>;
  /** The record of a session that does not report by itself. */
  found(
    host: string,
    thread: string,
    session: Session,
    shell: 'no' | 'ours' | 'found',
  ): Promise<PaneRecord>;
  /** Everything the hooks of a host have reported. */
  records(host: string, timeoutMs: number): Promise<readonly PaneRecord[]>;
}

const HOME = `"\${THREADMUX_HOME:-$HOME/.threadmux}"`;
const READ = `cat ${HOME}/panes/"$1".json 2>/dev/null || :`;
const READ_ALL = `cat ${HOME}/panes/*.json 2>/dev/null || :`;
const WRITE = `umask 077; d=${HOME}/panes; mkdir -p "$d" && cat > "$d/.$1.$$" && mv "$d/.$1.$$" "$d/$1".json`;

export function createPanes(config: Config, home: Home, hosts: Hosts, serverName: string): Panes {
  // One look and one exec to type is all a message may cost: what was read stays until it is wrong.
  const remote = new Map<string, PaneRecord>();

  const hostOf = (thread: ThreadRef): string =>
    loadPaneRecord(home, thread.id)?.host ??
    (loadStreamRecord(home, thread.id) === undefined ? undefined : config.host) ??
    placeOfTitle(thread.title)?.host ??
    config.defaultHost;

  async function read(
    name: string,
    thread: string,
    again: boolean,
  ): Promise<PaneRecord | undefined> {
    if (hosts.isLocal(name)) return loadPaneRecord(home, thread);
    const known = again ? undefined : remote.get(thread);
    if (known !== undefined) return known;
    const text = await hosts
      .get(name)
      .sh(READ, [thread], { doing: 'read which pane a thread belongs to' });
    const record = paneRecordSchema.safeParse(parsed(text)).data;
    if (record !== undefined) remote.set(thread, record);
    return record;
  }

  const socket = (host: string) =>
    hosts
      .tmux(host)
      .run(['display-message', '-p', '#{socket_path}'])
      .then((path) => path.trim())
      .catch((error: unknown) => {
        if (isThreadmuxError(error, 'session_not_found')) return undefined;
        throw error;
      });

  return {
    hostOf,
    async find(thread, again = false) {
      const name = hostOf(thread);
      const remembered = !again && remote.has(thread.id);
      const record = await read(name, thread.id, again);
      return record === undefined
        ? undefined
        : { record, remembered, tmux: tmuxOn(hosts.get(name), record.socket) };
    },
    async records(name, timeoutMs) {
      if (hosts.isLocal(name)) return loadPaneRecords(home);
      const call = { doing: 'read what the hooks reported', timeoutMs };
      const text = await hosts.get(name).sh(READ_ALL, [], call);
      return text
        .split('\n')
        .flatMap((line) => paneRecordSchema.safeParse(parsed(line)).data ?? []);
    },
    socket,
    async found(host, thread, session, shell) {
      return {
        thread,
        server: serverName,
        host,
        socket: (await socket(host)) ?? '',
        serverPid: session.serverPid,
        paneId: session.pane.id,
        panePid: session.pane.pid,
        sessionId: session.id,
        sessionName: session.name,
        command: session.pane.command,
        cwd: session.pane.path,
        claudeSession: '',
        transcript: '',
        state: 'idle',
        shell,
        at: Date.now(),
      };
    },
    async save(record) {
      if (hosts.isLocal(record.host)) return savePaneRecord(home, record);
      remote.set(record.thread, record);
      const input = JSON.stringify(record);
      await hosts
        .get(record.host)
        .sh(WRITE, [record.thread], { input, doing: 'note which pane a thread belongs to' });
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
