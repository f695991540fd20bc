// threadmux sessions: lists the sessions of all hosts. A host that does not respond is reported, and the others are still listed.

import { sessionAge } from '../../bridge/commands/sessions.ts';
import { formatDuration } from '../../core/duration.ts';
import { isSessionName, labelOf } from '../../core/session-name.ts';
import { stateWords } from '../../threads/session-state.ts';
import { listSessions } from '../../tmux/sessions.ts';
import { listEverywhere, type SessionWithState, sessionData } from '../acts/list-sessions.ts';
import type { SessionFlags } from '../command-line.ts';
import { openSessionFinder, type SessionFinder } from '../find-session.ts';
import { printable, printJson, printNote, printText, table, withProgress } from '../print.ts';

interface SessionsFlags extends SessionFlags {
  readonly names?: boolean;
  /** Only names that begin like this. */
  readonly prefix?: string;
}

export async function listAllSessions(flags: SessionsFlags): Promise<void> {
  const finder = openSessionFinder();
  if (flags.names) return printNames(finder, flags.host ?? finder.config.host, flags.prefix ?? '');
  const places = flags.host ?? finder.hosts.names().join(', ');
  const { found, away, unreachable } = await withProgress(`connecting to ${places}`, listEverywhere(finder, flags));
  if (flags.json) return printJson({ sessions: [...found.map(sessionData), ...away], unreachable });
  const rows = [...found.map(shownRow), ...away.map((one) => ({ ...one, age: '' }))];
  if (rows.length > 0) printText(shownTable(rows, finder.config.defaultHost));
  else if (flags.prefix) printNote(`No session begins with ${printable(flags.prefix)}.`);
  else printNote('No sessions. Start one with: threadmux new <name>');
  for (const { host, message } of unreachable) printNote(`${host} did not respond: ${message}`);
}

function shownRow({ host, session, record, state }: SessionWithState) {
  const since = state.since === undefined ? [] : [formatDuration(Date.now() - state.since, 1)];
  const { name, id, createdAt, pane } = session;
  const words = [stateWords(state), ...since].join(' · ');
  const agent = record?.shell === 'no' && state.state !== 'shell' ? record.agent : null;
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
async function printNames({ hosts }: SessionFinder, host: string, prefix: string): Promise<void> {
  const all = await listSessions(hosts.tmux(host), { timeoutMs: 2_000 });
  printText(
    all
      .map(({ name }) => name)
      .filter((name) => isSessionName(name) && name.startsWith(prefix))
      .join('\n'),
  );
}
