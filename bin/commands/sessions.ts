// threadmux sessions: lists the sessions of all hosts. A host that does not respond is reported, and the others are still listed.

import { type FoundSessions, findSessions, sessionAge } from '../../bridge/commands/sessions.ts';
import { formatDuration } from '../../core/duration.ts';
import { errorData } from '../../core/errors.ts';
import { isSessionName, labelOf } from '../../core/session-name.ts';
import { loadStates, type ShownState, shownStates, stateWords } from '../../threads/known-states.ts';
import type { TimedState } from '../../threads/session-state.ts';
import { listSessions } from '../../tmux/sessions.ts';
import { openSessionFinder, type SessionFinder } from '../find-session.ts';
import { printJson, printNote, printText, table, withProgress } from '../print.ts';
import { bridgePid } from '../running.ts';

interface SessionsFlags {
  readonly host?: string;
  readonly json?: boolean;
  readonly names?: boolean;
}

export async function listAllSessions(flags: SessionsFlags): Promise<void> {
  const reach = openSessionFinder();
  if (flags.names) return printNames(reach, flags.host ?? reach.config.host);
  const asked = flags.host === undefined ? reach.hosts.names() : [flags.host];
  for (const host of asked) reach.hosts.get(host);
  const lists = await withProgress(
    `connecting to ${asked.join(', ')}`,
    Promise.all(asked.map((host) => ask(host, reach))),
  );
  const failed = lists.flatMap((list) => ('error' in list ? [list] : []));
  if (failed[0] !== undefined && failed.length === asked.length) throw failed[0].error;
  const found = lists.flatMap((list) => ('found' in list ? list.found : []));
  const unreachable = failed.map(({ host, error }) => ({ host, ...errorData(error).error }));
  const away = failed.flatMap(({ host }) => sessionsOf(host, reach));
  if (flags.json) return printJson({ sessions: [...found.map(sessionData), ...away], unreachable });
  const rows = [...found.map(shownRow), ...away.map((one) => ({ ...one, age: '' }))];
  if (rows.length > 0) printText(shownTable(rows, reach.config.defaultHost));
  else printNote('No sessions. Start one with: threadmux new <name>');
  for (const { host, message } of unreachable) printNote(`${host} did not respond: ${message}`);
}

/** A session as JSON data. */
export function sessionData({ host, session, record, state }: SessionWithState) {
  return {
    host,
    name: session.name,
    id: session.id,
    pane: record?.paneId ?? session.pane.id,
    state: state.state,
    for: state.for ?? null,
    since: state.since === undefined ? null : new Date(state.since).toISOString(),
    agent: record?.shell === 'no' ? record.agent : null,
    command: session.pane.command,
    directory: session.pane.path,
    attached: session.attached,
    createdAt: new Date(session.createdAt).toISOString(),
    thread: record?.thread ?? null,
  };
}

export type SessionWithState = FoundSessions & { readonly state: ShownState };

/** From the running bridge; otherwise what a look at the panes tells. */
export async function withStates(
  host: string,
  found: readonly FoundSessions[],
  { home, hosts }: Pick<SessionFinder, 'home' | 'hosts'>,
): Promise<readonly SessionWithState[]> {
  const watched = bridgePid(home) === undefined ? new Map() : loadStates(home);
  const states = await shownStates(hosts.tmux(host), found, (thread) => watched.get(thread), TIMEOUT_MS);
  return found.map((one, at) => ({ ...one, state: states[at] ?? { state: 'shell' } }));
}

type Answer = { readonly found: readonly SessionWithState[] } | { readonly host: string; readonly error: unknown };

async function ask(host: string, reach: SessionFinder): Promise<Answer> {
  try {
    return { found: await withStates(host, await findSessions(host, reach), reach) };
  } catch (error) {
    return { host, error };
  }
}

const TIMEOUT_MS = 6_000;

/** What is known of the sessions on a host that does not respond. */
function sessionsOf(host: string, { home, records }: SessionFinder) {
  const watched = bridgePid(home) === undefined ? new Map<string, TimedState>() : loadStates(home);
  return records
    .filter((one) => one.host === host && !one.closed && one.shell !== 'terminal')
    .map(({ thread, sessionName, sessionId, paneId, command, cwd, agent, shell }) => {
      const known = watched.get(thread);
      const since = known?.state === 'unreachable' ? new Date(known.since).toISOString() : null;
      return {
        ...{ host, name: sessionName, id: sessionId, pane: paneId, state: 'unreachable', for: null, since },
        ...{ agent: shell === 'no' ? agent : null, command, directory: cwd, attached: 0, createdAt: null, thread },
      };
    });
}

function shownRow({ host, session, record, state }: SessionWithState) {
  const since = state.since === undefined ? [] : [formatDuration(Date.now() - state.since, 1)];
  const { name, id, createdAt, pane } = session;
  const words = [stateWords(state), ...since].join(' · ');
  const agent = record?.shell === 'no' ? record.agent : null;
  return { name, host, state: words, agent, directory: pane.path, age: sessionAge(createdAt), id };
}

function shownTable(rows: readonly ReturnType<typeof shownRow>[], defaultHost: string): string {
  const cells = rows.map(({ name, host, state, agent, directory, age, id }) => [
    labelOf({ name, host }, { defaultHost }),
    ...[state, agent ?? '', directory, age, id],
  ]);
  return table(['SESSION', 'STATE', 'AGENT', 'DIRECTORY', 'AGE', 'ID'], cells);
}

/** For completions. Names with special characters are left out, because a shell might interpret them. */
async function printNames({ hosts }: SessionFinder, host: string): Promise<void> {
  const all = await listSessions(hosts.tmux(host), { timeoutMs: 2_000 });
  printText(
    all
      .map(({ name }) => name)
      .filter(isSessionName)
      .join('\n'),
  );
}
