// The sessions of all hosts and their states. A host that does not respond is reported, and the others are still listed.

import { type FoundSessions, findSessions } from '../../bridge/commands/sessions.ts';
import { errorData } from '../../core/errors.ts';
import type { TimedState } from '../../threads/session-state.ts';
import { loadStates, type ShownState, shownStates } from '../../threads/stored-states.ts';
import type { SessionFinder } from '../find-session.ts';
import { bridgePid } from '../running.ts';

/** Asks one host or all of them. Rejects if none responds. */
export async function askHosts<Found>(
  { hosts }: SessionFinder,
  host: string | undefined,
  ask: (host: string) => Promise<readonly Found[]>,
) {
  const asked = host === undefined ? hosts.names() : [host];
  for (const one of asked) hosts.get(one); // throws if the host is unknown
  const answers = await Promise.allSettled(asked.map(ask));
  const failed = answers.flatMap((answer, at) =>
    answer.status === 'rejected' ? [{ host: asked[at] ?? '', error: answer.reason as unknown }] : [],
  );
  if (failed[0] !== undefined && failed.length === asked.length) throw failed[0].error;
  return {
    found: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
    unreachable: failed.map((one) => ({ host: one.host, ...errorData(one.error).error })),
  };
}

export async function listEverywhere(
  finder: SessionFinder,
  { host, prefix = '' }: { readonly host?: string | undefined; readonly prefix?: string | undefined },
) {
  const { found, unreachable } = await askHosts(finder, host, async (one) =>
    withStates(one, await findSessions(one, finder), finder),
  );
  return {
    found: found.filter(({ session }) => session.name.startsWith(prefix)),
    away: unreachable.flatMap((one) => sessionsOf(one.host, finder)).filter(({ name }) => name.startsWith(prefix)),
    unreachable,
  };
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
        host,
        name: sessionName,
        id: sessionId,
        pane: paneId,
        state: 'unreachable',
        for: null,
        since,
        agent: shell === 'no' ? agent : null,
        command,
        directory: cwd,
        attached: 0,
        createdAt: null,
        thread,
      };
    });
}
