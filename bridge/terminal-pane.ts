// A terminal's pane, as the rest of the bridge knows panes: what is written in its thread is typed there,
// and `!screen` and `!key` work as in any session.

import type { StreamRecord } from '../home/stream-record.ts';
import type { ThreadRecord } from '../threads/record.ts';

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
