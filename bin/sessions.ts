// threadmux sessions: every session of every host. A host that does not answer is named, and the others are shown.

import { age, type Found, findSessions, state } from '../bridge/command-sessions.ts';
import { errorData } from '../core/exit-codes.ts';
import { isSessionName } from '../core/session-name.ts';
import { listSessions } from '../tmux/sessions.ts';
import { during, printJson, printText, table, tell } from './print.ts';
import { openReach, type Reach } from './reach.ts';

interface SessionsFlags {
  readonly host?: string;
  readonly json?: boolean;
  readonly names?: boolean;
}

export async function sessions(flags: SessionsFlags): Promise<void> {
  const reach = openReach();
  if (flags.names) return printNames(reach, flags.host ?? reach.config.host);
  const asked = flags.host === undefined ? reach.hosts.names() : [flags.host];
  for (const host of asked) reach.hosts.get(host);
  const lists = await during(
    `asking ${asked.join(', ')}`,
    Promise.all(asked.map((host) => ask(host, reach))),
  );
  const failed = lists.flatMap((list) => ('error' in list ? [list] : []));
  if (failed[0] !== undefined && failed.length === asked.length) throw failed[0].error;
  const found = lists.flatMap((list) => ('found' in list ? list.found : []));
  const unreachable = failed.map(({ host, error }) => ({ host, ...errorData(error).error }));
  if (flags.json) return printJson({ sessions: found.map(sessionData), unreachable });
  if (found.length > 0) printText(shownTable(found, reach.config.defaultHost));
  else tell('No sessions. Start one with: threadmux new <name>');
  for (const { host, message } of unreachable) tell(`${host} did not answer: ${message}`);
}

/** One session as other programs read it. */
export function sessionData({ host, session, record }: Found) {
  return {
    host,
    name: session.name,
    id: session.id,
    pane: record?.paneId ?? session.pane.id,
    state: state(session, record),
    command: session.pane.command,
    directory: session.pane.path,
    attached: session.attached,
    createdAt: new Date(session.createdAt).toISOString(),
    thread: record?.thread ?? null,
  };
}

type Answer =
  | { readonly found: readonly Found[] }
  | { readonly host: string; readonly error: unknown };

async function ask(host: string, reach: Reach): Promise<Answer> {
  try {
    return { found: await findSessions(host, reach) };
  } catch (error) {
    return { host, error };
  }
}

function shownTable(found: readonly Found[], defaultHost: string): string {
  const rows = found.map((one) => [
    one.host === defaultHost ? one.session.name : `${one.session.name}@${one.host}`,
    state(one.session, one.record),
    one.session.pane.path,
    age(one.session.createdAt),
    one.session.id,
  ]);
  return table(['SESSION', 'STATE', 'DIRECTORY', 'AGE', 'ID'], rows);
}

/** For completions. A shell may read what it is offered: names that could mean anything to one are left out. */
async function printNames({ hosts }: Reach, host: string): Promise<void> {
  const all = await listSessions(hosts.tmux(host), { timeoutMs: 2_000 });
  printText(
    all
      .map(({ name }) => name)
      .filter(isSessionName)
      .join('\n'),
  );
}
