// Runs the worktree scripts on a host, and reads their answers. What a host answers is checked: it may be hostile.

import { ThreadmuxError } from '../core/errors.ts';
import { isSessionName } from '../core/session-name.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { Host } from './host.ts';
import { END_WORKTREE, LIST_WORKTREES, MAKE_WORKTREE, WORKTREE_DIFF, WORKTREE_READY } from './worktree-scripts.ts';

export interface WorktreeHost {
  readonly host: Host;
  /** Our home there; empty for ~/.threadmux. */
  readonly root: string;
  /** The name of this machine: other bridges may have worktrees there, too. */
  readonly bridge: string;
}

/** Names a worktree on its host. */
interface WorktreeName {
  readonly project: string;
  readonly name: string;
}

export interface MadeWorktree extends WorktreeName {
  readonly isNew: boolean;
  readonly path: string;
  /** Where the session starts: the same subfolder as in the repository. */
  readonly start: string;
  readonly branch: string;
  readonly needsSetup: boolean;
}

/** What is in a worktree and nowhere else. */
export interface WorktreeWork {
  /** Files that are changed, new or deleted. */
  readonly changed: number;
  /** Commits that are on no other branch. */
  readonly commits: number;
  /** Commits that are on no branch at all. */
  readonly dropped: number;
  readonly stashes: number;
  /** Why it is not certain that nothing would be lost. */
  readonly doubts: readonly string[];
  /** Changes with the content. */
  readonly print: string;
}

export type WorktreeEnd =
  /** `tip` is the last commit of its branch. */
  | { readonly is: 'removed'; readonly tip: string }
  | { readonly is: 'gone' }
  | { readonly is: 'busy'; readonly program: string }
  /** `path` is empty if only its branch is left. */
  | {
      readonly is: 'kept';
      readonly path: string;
      readonly branch: string;
      readonly work: WorktreeWork;
      readonly files: string;
    };

type WorktreeState = 'new' | 'made' | 'ready' | 'removing' | 'deleting' | 'gone';

export interface FoundWorktree extends WorktreeName {
  readonly state: WorktreeState;
  readonly session: string;
  /** The directory from which it was made. */
  readonly directory: string;
  readonly branch: string;
  readonly path: string;
  readonly work: WorktreeWork;
}

/** Large repositories take a while. */
const TIMEOUT_MS = 600_000;
const LIST_TIMEOUT_MS = 60_000;
const FIELDS = 13;
/** A hostile host could name tens of thousands, and each is compared with all others. */
export const MOST_WORKTREES = 500;
/** Of a name or a branch. */
const LONGEST_FIELD = 4_096;

export async function makeWorktree(
  on: WorktreeHost,
  wanted: {
    readonly project: string;
    readonly session: string;
    readonly directory: string;
    /** An agent asks for it: a repository inside another one is refused. */
    readonly byAgent?: boolean;
  },
): Promise<MadeWorktree> {
  const { project, session, directory, byAgent } = wanted;
  if (![project, session].every(isSessionName)) throw new RangeError(`not names: ${project}, ${session}`);
  const [is = '', ...fields] = await run(
    on,
    MAKE_WORKTREE,
    [project, session, directory, byAgent ? 'agent' : ''],
    'make a worktree',
  );
  if (is === 'refused') throw refused(on.host.name, directory, fields);
  const [name = '', path = '', start = '', branch = '', , setup] = fields;
  if (!/^(made|again)$/.test(is) || !isSessionName(name) || !isPath(path) || !isPath(start))
    throw new ThreadmuxError('host_refused', `${on.host.name} gave no usable answer about the worktree`);
  return { project, name, path, start, branch, isNew: is === 'made', needsSetup: setup === 'yes' };
}

/** `anyway` is the print of the work that may get lost. */
export async function endWorktree(
  on: WorktreeHost,
  { project, name }: WorktreeName,
  anyway = '',
): Promise<WorktreeEnd> {
  const [is, ...fields] = await run(on, END_WORKTREE, [project, name, anyway], 'remove a worktree');
  const [first = '', branch = '', changed, commits, dropped, stashes, print, doubts, files = ''] = fields;
  switch (is) {
    case 'removed':
      return { is, tip: first };
    case 'gone':
      return { is };
    case 'busy':
      return { is, program: first };
    case 'kept':
      return { is, path: first, branch, files, work: workOf([changed, commits, dropped, stashes, print, doubts]) };
    default:
      throw new ThreadmuxError('host_refused', `${on.host.name} gave no usable answer about the worktree`);
  }
}

/** All worktrees of this bridge there. Without `look`, what is in them is not known. */
export async function findWorktrees(on: WorktreeHost, look: boolean): Promise<readonly FoundWorktree[]> {
  const fields = await run(on, LIST_WORKTREES, [look ? 'yes' : 'no'], 'list the worktrees', LIST_TIMEOUT_MS);
  if (fields[0] === 'refused') return []; // a host without git has none
  const found: FoundWorktree[] = [];
  for (let at = 0; at + FIELDS <= fields.length && found.length < MOST_WORKTREES; at += FIELDS) {
    const [project = '', name = '', state, session = '', directory = '', branch = '', path = '', ...work] =
      fields.slice(at, at + FIELDS);
    if (!isSessionName(project) || !isSessionName(name) || !isPath(path)) continue;
    if ([session, directory, branch].some((field) => field.length > LONGEST_FIELD)) continue;
    found.push({ project, name, session, directory, branch, path, state: stateOf(state), work: workOf(work) });
  }
  return found;
}

/** Everything that differs from the commit where it began; undefined if it is gone. */
export async function worktreeDiff(on: WorktreeHost, { project, name }: WorktreeName): Promise<string | undefined> {
  const [is, diff] = await run(on, WORKTREE_DIFF, [project, name], 'read the changes', LIST_TIMEOUT_MS, false);
  return is === 'diff' ? diff : undefined;
}

/** Its set-up has run: a session that waits for it starts. */
export async function worktreeReady(on: WorktreeHost, { project, name }: WorktreeName): Promise<void> {
  await run(on, WORKTREE_READY, [project, name], 'finish the worktree', LIST_TIMEOUT_MS);
}

async function run(
  { host, root, bridge }: WorktreeHost,
  script: string,
  args: readonly string[],
  doing: string,
  timeoutMs = TIMEOUT_MS,
  endsWithNul = true,
): Promise<readonly string[]> {
  const fields = (await host.sh(script, [root, bridge, ...args], { doing, timeoutMs })).split('\0');
  return endsWithNul ? fields.slice(0, -1) : fields;
}

function isPath(text: string): boolean {
  return text.startsWith('/') && text.length < 4_096 && !/\p{Cc}/u.test(text);
}

function stateOf(text: string | undefined): WorktreeState {
  const states: readonly WorktreeState[] = ['new', 'made', 'ready', 'removing', 'deleting', 'gone'];
  return states.find((state) => state === text) ?? 'new';
}

function workOf([changed, commits, dropped, stashes, print, doubts = '']: readonly (
  | string
  | undefined
)[]): WorktreeWork {
  const number = (text: string | undefined) => (/^\d{1,9}$/.test(text ?? '') ? Number(text) : 0);
  return {
    changed: number(changed),
    commits: number(commits),
    dropped: number(dropped),
    stashes: number(stashes),
    doubts: doubts.split('\n').filter(Boolean),
    print: /^\d{1,30}$/.test(print ?? '') ? (print ?? '') : '',
  };
}

const WITHOUT = 'Start it without a worktree, or choose the directory of a repository.';

function refused(host: string, directory: string, [why = '', words = '']: readonly string[]): ThreadmuxError {
  const place = `${untrustedCode(directory)} on ${untrustedCode(host)}`;
  const because = (what: string, hint: string) =>
    new ThreadmuxError('bad_usage', `${what}, so there is no worktree and nothing was started.`, { hint });
  switch (why) {
    case 'no-git':
      return because(
        `git was not found on ${untrustedCode(host)}`,
        'Install git there, or start it without a worktree.',
      );
    case 'no-directory':
      return because(`${place} does not exist`, 'Give a directory that exists.');
    case 'no-repository':
      return because(`${place} is not in a git repository`, WITHOUT);
    case 'bare':
      return because(`${place} is a bare repository`, WITHOUT);
    case 'no-commit':
      return because(
        `The repository of ${place} has no commit yet`,
        'Make the first commit, or start it without a worktree.',
      );
    case 'nested':
      return because(`${place} is in a repository inside another one`, 'An agent cannot start it there. A person can.');
    case 'bad-path':
      return because(`The path of ${place} has characters that worktrees cannot use`, WITHOUT);
    case 'pipe':
      return because(
        `The repository of ${place} has a named pipe in place of a file`,
        'git would wait for it. `find .git -type p` names it. Remove it, then try again.',
      );
    case 'late':
      return because(
        `git did not answer in ${place}`,
        'A file of the repository may be a named pipe: `find .git -type p` names it. Remove it, then try again.',
      );
    case 'busy':
      return new ThreadmuxError('busy', `Another worktree is being made on ${untrustedCode(host)}.`, {
        hint: 'Try again in a moment.',
      });
    case 'too-many':
      return because('There are already 99 worktrees with this name', 'See `threadmux worktrees`, and remove some.');
    default:
      return because(`git could not make a worktree: ${untrustedCode(words || why)}`, 'Correct that, then try again.');
  }
}
