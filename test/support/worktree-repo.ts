// A git repository, and the scripts that make and remove its worktrees, run as on any host: by sh, with nothing but git.

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  END_WORKTREE,
  LIST_WORKTREES,
  MAKE_WORKTREE,
  WORKTREE_DIFF,
  WORKTREE_READY,
} from '../../hosts/worktree-scripts.ts';
import { tempFolder } from './temp-home.ts';

const SCRIPTS = {
  make: MAKE_WORKTREE,
  end: END_WORKTREE,
  list: LIST_WORKTREES,
  ready: WORKTREE_READY,
  diff: `${WORKTREE_DIFF}; printf '\\0'`,
};

export interface RepoForWorktrees {
  readonly home: string;
  readonly repo: string;
  readonly env: Readonly<Record<string, string>>;
  git(at: string, ...args: readonly string[]): string;
  /** Runs a script; `killAt` is the step where it is killed, or where something else happens. Undefined if it was killed. */
  run(
    script: keyof typeof SCRIPTS,
    args: readonly string[],
    killAt?: number,
    happens?: string,
  ): readonly string[] | undefined;
  make(session?: string): { readonly name: string; readonly path: string };
  branches(): readonly string[];
  worktrees(): readonly string[];
}

function gitEnvironment(folder: string): Readonly<Record<string, string>> {
  const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@a' };
  return {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    ...who,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
}

/** `lsof`: as on a system without /proc, with the lsof in this folder. `first`: a folder whose programs are found first. */
export function startRepo(
  folder = realpathSync(tempFolder()),
  options: { readonly lsof?: string; readonly first?: string } = {},
): RepoForWorktrees {
  const env = gitEnvironment(folder);
  const home = join(folder, 'home');
  const repo = join(folder, 'shop');
  const git = (at: string, ...args: readonly string[]) =>
    execFileSync('git', ['-C', at, ...args], { env, encoding: 'utf8', stdio: 'pipe' }).trim();
  const lines = (text: string) => text.split('\n').filter(Boolean);
  copyFirstCommit(repo, { '.gitignore': 'ignored\n' });
  const run: RepoForWorktrees['run'] = (script, args, killAt, happens = 'kill -9 $$') => {
    const text = SCRIPTS[script];
    const step = `# step ${killAt}\n`;
    if (killAt !== undefined) expect(text).toContain(step);
    const cut = killAt === undefined ? text : text.replace(step, () => `${happens}\n`);
    const lsof = options.lsof;
    const shell = lsof === undefined ? cut : cut.replaceAll('/proc/self/fd', '/nonexistent');
    const first = lsof ?? options.first;
    const path = first === undefined ? env : { ...env, PATH: `${first}:${env.PATH}` };
    const ran = spawnSync('sh', ['-c', shell, 'sh', home, 'laptop', ...args], {
      env: path,
      encoding: 'utf8',
      timeout: 60_000,
    });
    if (ran.signal === 'SIGKILL') return undefined;
    expect(ran.stderr).toBe('');
    expect(ran.status).toBe(0);
    return ran.stdout.split('\0').slice(0, -1);
  };
  return {
    home,
    repo,
    env,
    git,
    run,
    make(session = 'web') {
      const [is, name = '', path = '', ...rest] = run('make', ['shop', session, repo]) ?? [];
      expect(is, rest.join()).toMatch(/made|again/);
      return { name, path };
    },
    branches: () => lines(git(repo, 'for-each-ref', '--format=%(refname:short)', 'refs/heads')),
    worktrees: () =>
      lines(git(repo, 'worktree', 'list', '--porcelain'))
        .filter((line) => line.startsWith('worktree '))
        .map((line) => line.slice(9)),
  };
}

const templates = new Map<string, string>();

/** Git makes each such repository once per process; it is copied after that. */
function copyFirstCommit(at: string, more: Readonly<Record<string, string>> = {}): void {
  const files = { ...more, 'a.txt': 'one\n', 'sub/b.txt': 'two\n' };
  const key = JSON.stringify(files);
  let template = templates.get(key);
  if (template === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'tmx-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    template = folder;
    templates.set(key, folder);
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-C', folder, ...args], { env: gitEnvironment(folder), stdio: 'pipe' });
    git('init', '-q', '-b', 'main', '--template=');
    mkdirSync(join(folder, '.git/hooks'));
    mkdirSync(join(folder, 'sub'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    git('add', '.');
    git('commit', '-q', '-m', 'first');
  }
  cpSync(template, at, { recursive: true, preserveTimestamps: true });
}

/** A repository with one commit on main, and a subfolder. */
export function makeRepo(at = realpathSync(tempFolder())) {
  const env = gitEnvironment(at);
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', at, ...args], { env, encoding: 'utf8', stdio: 'pipe' }).trim();
  copyFirstCommit(at);
  const branches = () => git('for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');
  return { path: at, git, branches };
}
