// A session and one of its panes: as a record has it, and the title of its thread. Pure.

import { driverOf } from '../agents/list.ts';
import type { Config } from '../core/config.ts';
import type { Project } from '../core/project.ts';
import { threadTitle } from '../core/thread-title.ts';
import type { ThreadRecord } from './registry.ts';
import { likelyAgent } from './remembered-session.ts';
import type { SessionPane } from './session-threads.ts';

export function titleOf(
  { host, group, sessionName }: Pick<SessionPane, 'host' | 'group' | 'sessionName'>,
  { defaultHost }: Pick<Config, 'defaultHost'>,
): string {
  const session = group ?? sessionName;
  return threadTitle(host === defaultHost ? { session } : { session, host });
}

/** Undefined if its name does not fit into a title. */
export function titleOrNone(...of: Parameters<typeof titleOf>): string | undefined {
  try {
    return titleOf(...of);
  } catch {
    return undefined;
  }
}

/** The fields of a record about a session that was found and has not reported. */
export function unreportedSession({ path, ...pane }: SessionPane) {
  return {
    ...pane,
    cwd: path,
    project: '',
    claudeSession: '',
    transcript: '',
    state: 'idle',
    shell: 'found',
    toldUnheard: false,
    agent: likelyAgent(pane),
    at: Date.now(),
  } as const;
}

/** Only the session's fields: the others may change before this is written back. */
export function paneOfRecord(record: ThreadRecord): SessionPane {
  const { host, socket, serverPid, paneId, panePid, sessionId, sessionName, group, command, started } = record;
  const pane = { host, socket, serverPid, paneId, panePid, sessionId, sessionName, group, command, started };
  return { ...pane, path: record.cwd };
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
