// threadmux worktrees: the git worktrees of sessions. Those without a session are left over: they have work that is nowhere else,
// or their end was not noticed.

import { workWords } from '../../bridge/worktree-ends.ts';
import { errorData, ThreadmuxError } from '../../core/errors.ts';
import { endWorktree, type FoundWorktree, findWorktrees } from '../../hosts/run-worktree.ts';
import { usesWorktree } from '../../threads/known-worktree.ts';
import { listSessions } from '../../tmux/sessions.ts';
import { worktreeHostOf } from '../acts/start-place.ts';
import { openSessionFinder, type SessionFinder } from '../find-session.ts';
import { printable, printJson, printNote, printText, table, withProgress } from '../print.ts';

interface WorktreeFlags {
  readonly host?: string;
  readonly json?: boolean;
}

interface ListedWorktree extends FoundWorktree {
  readonly host: string;
  /** Whether a session is in it. */
  readonly inUse: boolean;
}

export async function listAllWorktrees(flags: WorktreeFlags): Promise<void> {
  const reach = openSessionFinder();
  const asked = flags.host === undefined ? reach.hosts.names() : [flags.host];
  for (const host of asked) reach.hosts.get(host); // throws if the host is unknown
  const lists = await withProgress(
    `connecting to ${asked.join(', ')}`,
    Promise.all(
      asked.map((host) =>
        on(host, reach).then(
          (found) => ({ found }),
          (error: unknown) => ({ host, error }),
        ),
      ),
    ),
  );
  const failed = lists.flatMap((list) => ('error' in list ? [list] : []));
  if (failed[0] !== undefined && failed.length === asked.length) throw failed[0].error;
  const found = lists.flatMap((list) => ('found' in list ? list.found : []));
  const unreachable = failed.map(({ host, error }) => ({ host, ...errorData(error).error }));
  if (flags.json) return printJson({ worktrees: found.map(worktreeData), unreachable });
  const rows = found.map((one) => [one.host, nameOf(one), one.session, one.branch, stateWord(one), contents(one)]);
  if (rows.length > 0) printText(table(['HOST', 'WORKTREE', 'SESSION', 'BRANCH', 'STATE', 'WORK'], rows));
  else printNote('No worktrees.');
  for (const { host, message } of unreachable) printNote(`${host} did not respond: ${message}`);
}

export async function removeWorktree(name: string, flags: WorktreeFlags): Promise<void> {
  const reach = openSessionFinder();
  const host = flags.host ?? reach.config.defaultHost;
  const all = await withProgress(`connecting to ${host}`, on(host, reach));
  const one = all.find((found) => nameOf(found) === name);
  if (one === undefined)
    throw new ThreadmuxError('not_found', `no worktree ${printable(JSON.stringify(name))} on ${host}`, {
      hint: 'Run `threadmux worktrees` to list them. Write the project and the name, such as shop/web.',
    });
  if (one.inUse)
    throw new ThreadmuxError('busy', `session ${printable(one.session)} uses ${name}`, {
      hint: `End it first: threadmux kill ${printable(one.session)}`,
    });
  const end = await withProgress(`removing ${name}`, endWorktree(worktreeHostOf(host, reach), one));
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

async function on(host: string, reach: SessionFinder): Promise<readonly ListedWorktree[]> {
  const found = await findWorktrees(worktreeHostOf(host, reach), true);
  if (found.length === 0) return [];
  const sessions = await listSessions(reach.hosts.tmux(host));
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
