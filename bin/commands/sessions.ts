// threadmux sessions: lists the sessions of all hosts. A host that does not respond is reported, and the others are still listed.

import { type FoundSessions, findSessions, sessionAge, sessionState } from '../../bridge/commands/sessions.ts';
import { errorData } from '../../core/errors.ts';
import { isSessionName } from '../../core/session-name.ts';
import { listSessions } from '../../tmux/sessions.ts';
import { openSessionFinder, type SessionFinder } from '../find-session.ts';
import { printJson, printNote, printText, table, withProgress } from '../print.ts';

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
  if (flags.json) return printJson({ sessions: found.map(sessionData), unreachable });
  if (found.length > 0) printText(shownTable(found, reach.config.defaultHost));
  else printNote('No sessions. Start one with: threadmux new <name>');
  for (const { host, message } of unreachable) printNote(`${host} did not respond: ${message}`);
}

/** A session as JSON data. */
export function sessionData({ host, session, record }: FoundSessions) {
  return {
    host,
    name: session.name,
    id: session.id,
    pane: record?.paneId ?? session.pane.id,
    state: sessionState(session, record),
    command: session.pane.command,
    directory: session.pane.path,
    attached: session.attached,
    createdAt: new Date(session.createdAt).toISOString(),
    thread: record?.thread ?? null,
  };
}

type Answer = { readonly found: readonly FoundSessions[] } | { readonly host: string; readonly error: unknown };

async function ask(host: string, reach: SessionFinder): Promise<Answer> {
  try {
    return { found: await findSessions(host, reach) };
  } catch (error) {
    return { host, error };
  }
}

function shownTable(found: readonly FoundSessions[], defaultHost: string): string {
  const rows = found.map((one) => [
    one.host === defaultHost ? one.session.name : `${one.session.name}@${one.host}`,
    sessionState(one.session, one.record),
    one.session.pane.path,
    sessionAge(one.session.createdAt),
    one.session.id,
  ]);
  return table(['SESSION', 'STATE', 'DIRECTORY', 'AGE', 'ID'], rows);
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
