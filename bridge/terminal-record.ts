// The registry's record of a terminal's pane, so that typing, `!screen` and `!key` work as in any session.

import type { StreamRecord } from '../home/stream-record.ts';
import { type ThreadRecord, threadRecordSchema } from '../threads/registry.ts';

export function terminalPaneRecord(record: StreamRecord, host: string): ThreadRecord | undefined {
  const { pane } = record;
  if (pane === undefined) return undefined;
  return threadRecordSchema.parse({
    ...pane,
    host,
    thread: record.thread,
    server: record.server,
    sessionName: record.name,
    cwd: record.dir,
    command: '',
    claudeSession: '',
    transcript: '',
    state: 'idle',
    shell: 'terminal',
    at: record.startedAt,
    last: record.thread,
    agent: '',
  });
}
