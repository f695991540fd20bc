// A terminal's pane, as the rest of the bridge knows panes: what is written in its thread is typed there,
// and `!screen` and `!key` work as in any session.

import type { StreamRecord } from '../home/stream-record.ts';
import type { ThreadRecord } from '../threads/thread-record.ts';
import { isPaneFormat } from '../tmux/pane.ts';
import { killSession, listSessions } from '../tmux/sessions.ts';
import type { Tmux } from '../tmux/tmux.ts';

export function paneRecordOf(record: StreamRecord, host: string): ThreadRecord | undefined {
  const { pane } = record;
  if (pane === undefined) return undefined;
  return {
    ...pane,
    thread: record.thread,
    server: record.server,
    host,
    sessionName: record.name,
    command: '',
    cwd: record.dir,
    claudeSession: '',
    transcript: '',
    state: 'idle',
    shell: 'terminal',
    at: record.startedAt,
    ...{ channel: '', title: '', last: record.thread, posted: [], deliveries: [] },
    ...{ archived: 'no', closed: false, deleted: false, toldUnheard: false, stoppedAt: 0 },
  };
}

/** Only one that we began: its output goes through a pipe. Somebody else may have one of that name by now. */
export async function killLeftOver(tmux: Tmux, name: string): Promise<void> {
  const session = (await listSessions(tmux)).find((one) => one.name === name);
  if (session === undefined) return;
  const { serverPid, pane } = session;
  const same = isPaneFormat({ serverPid, paneId: pane.id, panePid: pane.pid });
  const piped = `#{&&:${same},#{pane_pipe}}`;
  const said = await tmux.run(['display-message', '-p', '-t', pane.id, piped]);
  if (said.trim() === '1') await killSession(tmux, session);
}
