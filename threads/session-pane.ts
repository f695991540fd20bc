// A session and one of its panes: as a record has it, and the title of its thread. Pure.

import { driverOf } from '../agents/list.ts';
import type { Config } from '../core/config.ts';
import type { Project } from '../core/project.ts';
import { threadTitle } from '../core/thread-title.ts';
import type { ThreadRecord } from './registry.ts';
import type { SessionPane } from './session-threads.ts';

export function titleOf(
  { host, group, sessionName }: Pick<SessionPane, 'host' | 'group' | 'sessionName'>,
  { defaultHost }: Pick<Config, 'defaultHost'>,
): string {
  const session = group ?? sessionName;
  return threadTitle(host === defaultHost ? { session } : { session, host });
}

/** Only the session's fields: the others may change before this is written back. */
export function paneOfRecord(record: ThreadRecord): SessionPane {
  const { host, socket, serverPid, paneId, panePid, sessionId, sessionName, group, command, cwd, started } = record;
  return {
    host,
    socket,
    serverPid,
    paneId,
    panePid,
    sessionId,
    sessionName,
    group,
    command,
    path: cwd,
    started,
  };
}

/** A thread that a user created gets only the session that we started for it, and no other one with its name. */
export function isSessionOf(
  { started = '' }: SessionPane,
  { serverPid, adopted, project }: ThreadRecord,
  { path }: Pick<Project, 'path'>,
): boolean {
  const waitsForItsFirst = adopted !== 'no' && serverPid === 0;
  return !waitsForItsFirst || (started !== '' && project === path);
}

/** The agent that runs there, for people; undefined if none does. */
export function agentTitle(record: Pick<ThreadRecord, 'agent' | 'shell'> | undefined): string | undefined {
  return record?.shell === 'no' ? driverOf(record.agent).title : undefined;
}
