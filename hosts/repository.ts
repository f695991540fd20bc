// The git repository and the branch of a directory, on any host. It only reads: no command here runs a hook or a program that the
// repository names.

import { basename } from 'node:path';
import type { Host } from './host.ts';

export interface Repository {
  /** "owner/shop" if it has an origin, otherwise the name of its folder. */
  readonly name: string;
  /** The branch, or the commit if none is checked out. */
  readonly branch: string;
  /** Whether it is a worktree beside the first one. */
  readonly isWorktree: boolean;
}

const WITHIN_MS = 3_000;
const MOST_BYTES = 16_384;

/** Undefined if there is none, git is not installed, or the host does not answer in time. */
export async function repositoryAt(host: Host, directory: string): Promise<Repository | undefined> {
  const doing = 'read the branch';
  try {
    const printed = await host.sh(SCRIPT, [directory], { doing, timeoutMs: WITHIN_MS, maxBytes: MOST_BYTES });
    const [folder = '', branch = '', origin = '', git = ''] = printed.split('\0');
    if (branch === '') return undefined;
    return { name: repositoryName(origin, folder), branch, isWorktree: git.includes('/worktrees/') };
  } catch {
    return undefined; // nobody waits for it
  }
}

/**
 * The folder of a worktree has the name of its session, so the folder of the repository is used. After our own limit, ssh leaves what
 * it has started on the host: a git that waits for a named pipe in place of one of its files would stay there for ever.
 */
const SCRIPT = `unset CDPATH GIT_DIR GIT_WORK_TREE
g() {
  git "$@" 2>/dev/null & pid=$!
  { sleep ${WITHIN_MS / 1000}; kill -9 $pid; } </dev/null >/dev/null 2>&1 & limit=$!
  wait $pid; status=$?; kill $limit; return $status
}
case $1 in '~') d=$HOME ;; '~/'*) d=$HOME/\${1#'~/'} ;; *) d=$1 ;; esac
cd -- "$d" 2>/dev/null || exit 0
git=$(g rev-parse --git-dir) || exit 0
common=$(g rev-parse --git-common-dir) || exit 0
branch=$(g symbolic-ref --quiet --short HEAD) || branch=$(g rev-parse --short HEAD) || exit 0
origin=$(g config --get remote.origin.url)
folder=$(cd -- "$common" && pwd -P)
printf '%s\\0%s\\0%s\\0%s\\0' "$folder" "$branch" "$origin" "$git"`;

/** An address may contain a password, so only the end of its path is shown. */
export function repositoryName(origin: string, folder: string): string {
  const path = URL.canParse(origin) ? new URL(origin).pathname : sshPath(origin);
  const name = path
    .split('/')
    .filter(Boolean)
    .slice(-2)
    .join('/')
    .replace(/\.git$/, '');
  return name || basename(folder.replace(/\/\.git$/, ''));
}

/** The path in an address such as "git@example.com:shop.git"; empty for any other text. */
function sshPath(origin: string): string {
  const colon = origin.indexOf(':');
  return colon > 0 && !origin.slice(0, colon).includes('/') ? origin.slice(colon + 1) : '';
}
