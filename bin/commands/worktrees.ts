// threadmux worktrees: the git worktrees of sessions. Those without a session are left over: they have work that is nowhere else,
// or their end was not noticed.

import { workWords } from '../../bridge/worktree-ends.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { endWorktree, type FoundWorktree, findWorktrees } from '../../hosts/run-worktree.ts';
import { usesWorktree } from '../../threads/known-worktree.ts';
import { listSessions } from '../../tmux/sessions.ts';
import { askHosts } from '../acts/list-sessions.ts';
import { worktreeHostOf } from '../acts/start-place.ts';
import type { SessionFlags } from '../command-line.ts';
import { openSessionFinder, type SessionFinder } from '../find-session.ts';
import { printable, printJson, printNote, printText, table, withProgress } from '../print.ts';

interface ListedWorktree extends FoundWorktree {
  readonly host: string;
  /** Whether a session is in it. */
  readonly inUse: boolean;
}

export async function listAllWorktrees(flags: SessionFlags): Promise<void> {
  const finder = openSessionFinder();
  const { found, unreachable } = await withProgress(
    `connecting to ${flags.host ?? finder.hosts.names().join(', ')}`,
    askHosts(finder, flags.host, (host) => on(host, finder)),
  );
  if (flags.json) return printJson({ worktrees: found.map(worktreeData), unreachable });
  const rows = found.map((one) => [one.host, nameOf(one), one.session, one.branch, stateWord(one), contents(one)]);
  if (rows.length > 0) printText(table(['HOST', 'WORKTREE', 'SESSION', 'BRANCH', 'STATE', 'WORK'], rows));
  else printNote('No worktrees.');
  for (const { host, message } of unreachable) printNote(`${host} did not respond: ${message}`);
}

export async function removeWorktree(name: string, flags: SessionFlags): Promise<void> {
  const finder = openSessionFinder();
  const host = flags.host ?? finder.config.defaultHost;
  const all = await withProgress(`connecting to ${host}`, on(host, finder));
  const one = all.find((found) => nameOf(found) === name);
  if (one === undefined)
    throw new ThreadmuxError('not_found', `no worktree ${printable(JSON.stringify(name))} on ${host}`, {
      hint: 'Run `threadmux worktrees` to list them. Write the project and the name, such as shop/web.',
    });
  if (one.inUse)
    throw new ThreadmuxError('busy', `session ${printable(one.session)} uses ${name}`, {
      hint: `End it first: threadmux kill ${printable(one.session)}`,
    });
  const end = await withProgress(`removing ${name}`, endWorktree(worktreeHostOf(host, finder), one));
  if (end.is === 'busy')
    throw new ThreadmuxError('busy', `${printable(end.program)} still runs in ${printable(one.path)}`, {
      hint: 'End it first.',
    });
  if (end.is === 'kept')
    throw new ThreadmuxError('busy', `${name} was not removed: it has ${workWords(end.work, printable)}`, {
      hint: `Commit or push it, then try again. Its branch is ${printable(end.branch)}${end.path === '' ? '' : `, its folder ${printable(end.path)}`}.`,
    });
  if (flags.json) printJson({ host, name, removed: true });
  else printNote(`Removed ${name} and its branch ${printable(one.branch)} on ${host}.`);
}

async function on(host: string, finder: SessionFinder): Promise<readonly ListedWorktree[]> {
  const found = await findWorktrees(worktreeHostOf(host, finder), true);
  if (found.length === 0) return [];
  const sessions = await listSessions(finder.hosts.tmux(host));
  return found.map((one) => ({ ...one, host, inUse: usesWorktree(sessions, one) }));
}

function nameOf({ project, name }: FoundWorktree): string {
  return `${project}/${name}`;
}

function stateWord({ state, inUse }: ListedWorktree): string {
  if (state === 'gone') return 'folder removed by hand';
  if (inUse) return 'in use';
  return state === 'ready' || state === 'made' ? 'no session' : 'interrupted';
}

function contents({ work }: FoundWorktree): string {
  const isEmpty = work.changed + work.commits + work.dropped + work.stashes === 0 && work.doubts.length === 0;
  return isEmpty ? 'nothing' : workWords(work, printable);
}

function worktreeData(one: ListedWorktree) {
  const { host, session, branch, path, directory, work } = one;
  const { print: _, ...counts } = work;
  return { host, name: nameOf(one), session, branch, path, directory, state: stateWord(one), ...counts };
}
