import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { tempFolder } from '../support/temp-home.ts';
import { type RepoForWorktrees, startRepo } from '../support/worktree-repo.ts';

const write = (path: string, text = 'work\n') => writeFileSync(path, text);
const end = (on: RepoForWorktrees, name = 'web', anyway = '') => on.run('end', ['shop', name, anyway]) ?? [];
const isGone = (on: RepoForWorktrees) => {
  expect(on.branches()).toEqual(['main']);
  expect(on.worktrees()).toEqual([on.repo]);
  expect(readdirSync(join(on.home, 'worktrees'))).toEqual(['.removing']);
};

describe('a new worktree', () => {
  it('has its own branch from HEAD, and the session starts in the same subfolder', () => {
    const on = startRepo();
    const [is, name, path, start, branch, at, setup] = on.run('make', ['shop', 'web', join(on.repo, 'sub')]) ?? [];
    expect([is, name, path, start, branch, setup]).toEqual([
      ...['made', 'web', join(on.home, 'worktrees/shop/web'), join(on.home, 'worktrees/shop/web/sub')],
      ...['threadmux/web', 'yes'],
    ]);
    expect(at).toBe(on.git(on.repo, 'rev-parse', 'HEAD'));
    expect(readFileSync(join(start ?? '', 'b.txt'), 'utf8')).toBe('two\n');
  });

  it('gets a number if the branch exists, and is used again by its session', () => {
    const on = startRepo();
    on.git(on.repo, 'branch', 'threadmux/web');
    expect(on.make().name).toBe('web-2');
    expect(on.run('make', ['shop', 'web', on.repo])?.slice(0, 2)).toEqual(['again', 'web-2']);
    expect(on.make('web-2').name).toBe('web-2-2');
  });

  it.each([
    ['no-directory', (on: RepoForWorktrees) => join(on.repo, 'nowhere')],
    ['no-repository', (on: RepoForWorktrees) => on.env.HOME ?? ''],
    ['no-repository', (on: RepoForWorktrees) => join(on.repo, '.git')],
    [
      'bare',
      (on: RepoForWorktrees) => {
        on.git(on.repo, 'clone', '-q', '--bare', on.repo, join(on.home, 'bare'));
        return join(on.home, 'bare');
      },
    ],
    [
      'no-commit',
      (on: RepoForWorktrees) => {
        on.git(on.repo, 'init', '-q', join(on.home, 'empty'));
        return join(on.home, 'empty');
      },
    ],
  ])('is refused with %s, and nothing is left', (why, place) => {
    const on = startRepo();
    mkdirSync(on.home, { recursive: true });
    expect(on.run('make', ['shop', 'web', place(on)])?.slice(0, 2)).toEqual(['refused', why]);
    expect(readdirSync(join(on.home, 'worktrees'))).toEqual(['.removing']);
  });
});

describe('a new worktree that git cannot make', () => {
  /** Git makes the branch and the folder first, and then removes the folder only. */
  const start = () => {
    const on = startRepo();
    mkdirSync(join(on.repo, '.git/info'));
    write(join(on.repo, '.git/info/attributes'), '* filter=x\n');
    for (const [key, value] of [
      ['smudge', 'false'],
      ['required', 'true'],
    ] as const)
      on.git(on.repo, 'config', `filter.x.${key}`, value);
    return on;
  };

  it('leaves nothing, and has the same name the next time', () => {
    const on = start();
    for (const _ of [1, 2]) expect(on.run('make', ['shop', 'web', on.repo])?.slice(0, 2)).toEqual(['refused', 'git']);
    isGone(on);
    on.git(on.repo, 'config', 'filter.x.smudge', 'cat');
    expect(on.make().name).toBe('web');
  });

  it('keeps a branch that somebody has used meanwhile, and its record', () => {
    const on = start();
    const late = on.git(on.repo, 'commit-tree', '-p', 'HEAD', '-m', 'late', 'HEAD^{tree}');
    on.git(on.repo, 'config', 'filter.x.smudge', `git update-ref refs/heads/threadmux/web ${late}; false`);
    expect(on.run('make', ['shop', 'web', on.repo])?.[0]).toBe('refused');
    expect(on.git(on.repo, 'rev-parse', 'threadmux/web')).toBe(late);
    expect(readdirSync(join(on.home, 'worktrees/shop'))).toEqual(['web.record']);
  });
});

describe('the end of a session', () => {
  it('removes a worktree without work, with its branch; ignored files do not count', () => {
    const on = startRepo();
    const { path } = on.make();
    write(join(path, 'ignored'));
    expect(end(on)[0]).toBe('removed');
    isGone(on);
    expect(end(on)[0]).toBe('gone');
  });

  it('removes it when its commits are on another branch', () => {
    const on = startRepo();
    const { path } = on.make();
    write(join(path, 'c.txt'));
    on.git(path, 'add', '.');
    on.git(path, 'commit', '-q', '-m', 'work');
    on.git(path, 'commit', '-q', '--amend', '-m', 'better');
    expect(end(on).slice(0, 6)).toEqual(['kept', path, 'threadmux/web', '0', '1', '0']);
    on.git(on.repo, 'merge', '-q', 'threadmux/web');
    expect(end(on)[0]).toBe('removed');
    isGone(on);
  });

  const commit = (on: RepoForWorktrees, path: string) => {
    write(join(path, 'c.txt'), String(Math.random()));
    on.git(path, 'add', '.');
    on.git(path, 'commit', '-q', '-m', 'work');
  };
  it.each<[string, (on: RepoForWorktrees, path: string) => void, RegExp]>([
    ['an untracked file', (_, path) => write(join(path, 'new.txt')), /\?\? new\.txt/],
    ['a changed file', (_, path) => write(join(path, 'a.txt')), / M a\.txt/],
    ['a deleted file', (_, path) => rmSync(join(path, 'a.txt')), / D a\.txt/],
    [
      'a stash',
      (on, path) => {
        write(join(path, 'a.txt'));
        on.git(path, 'stash');
      },
      /threadmux\/web,0,0,0,1,/,
    ],
    ['a commit', commit, /threadmux\/web,0,1,0,0,/],
    [
      'a commit on no branch, left by a checkout',
      (on, path) => {
        on.git(path, 'checkout', '-q', '--detach');
        commit(on, path);
        on.git(path, 'checkout', '-q', 'threadmux/web');
      },
      /threadmux\/web,0,0,1,0,/,
    ],
    ['another branch', (on, path) => on.git(path, 'checkout', '-q', '-b', 'other'), /the branch other is checked out/],
    ['a detached HEAD', (on, path) => on.git(path, 'checkout', '-q', '--detach'), /no branch is checked out/],
    ['a lock', (on, path) => on.git(path, 'worktree', 'lock', path), /git worktree lock protects it/],
    [
      'an unfinished merge',
      (on, path) => {
        on.git(path, 'branch', 'side');
        commit(on, path);
        on.git(path, 'push', '-q', '.', 'HEAD:refs/heads/elsewhere');
        on.git(path, 'merge', '-q', '--no-ff', '--no-commit', '-s', 'ours', 'side');
        on.git(path, 'checkout', '-q', '-b', 'third', 'side');
        on.git(path, 'commit', '-q', '--allow-empty', '-m', 'third');
        on.git(path, 'checkout', '-q', 'threadmux/web');
        on.git(path, 'merge', '-q', '--no-ff', '--no-commit', '-s', 'ours', 'third');
      },
      /a merge, rebase or bisect is not finished/,
    ],
    [
      'another repository in an ignored folder',
      (on, path) => on.git(path, 'worktree', 'add', '-q', '-b', 'inner', join(path, 'ignored', 'inner')),
      /another repository is in ignored\/inner/,
    ],
    [
      'a change that git is told to ignore',
      (on, path) => {
        on.git(path, 'update-index', '--assume-unchanged', 'a.txt');
        write(join(path, 'a.txt'));
      },
      /told to ignore/,
    ],
    [
      'a change that the configuration hides',
      (on, path) => {
        on.git(path, 'config', 'status.showUntrackedFiles', 'no');
        write(join(path, 'new.txt'));
      },
      /new\.txt/,
    ],
  ])('keeps it with %s', (_, work, said) => {
    const on = startRepo();
    const { path } = on.make();
    work(on, path);
    const kept = end(on);
    expect(kept.slice(0, 2)).toEqual(['kept', path]);
    expect(kept.join()).toMatch(said);
    expect(on.branches()).toContain('threadmux/web');
    // A lock of git also holds when a user confirms.
    const anyway = end(on, 'web', kept[7]);
    expect(anyway[0]).toBe(_ === 'a lock' ? 'kept' : 'removed');
  });

  it('does not remove what changed after the user has seen it', () => {
    const on = startRepo();
    const { path } = on.make();
    write(join(path, 'new.txt'));
    const [, , , , , , , print] = end(on);
    write(join(path, 'a.txt'));
    expect(end(on, 'web', print)[0]).toBe('kept');
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('work\n');
  });

  it.each<[string, (on: RepoForWorktrees, path: string) => void]>([
    ['the content of a new file', (_, path) => write(join(path, 'new.txt'), 'rewritten\n')],
    ['a new file, replaced by another one', (_, path) => renameSync(join(path, 'ignored'), join(path, 'new.txt'))],
    ['a file with any name', (_, path) => write(join(path, '-n "x"\n y'), 'rewritten\n')],
    ['a link', (_, path) => [rmSync(join(path, 'link')), symlinkSync('b', join(path, 'link'))]],
    ['a file in another repository', (_, path) => write(join(path, 'inner/c.txt'), 'rewritten\n')],
    ['a file whose changes git ignores', (_, path) => write(join(path, 'a.txt'), 'rewritten\n')],
  ])('does not remove it if this changed after the user has seen it: %s', (what, work) => {
    const on = startRepo();
    const { path } = on.make();
    for (const name of ['new.txt', 'ignored', '-n "x"\n y']) write(join(path, name));
    symlinkSync('a', join(path, 'link'));
    execFileSync('mkfifo', [join(path, 'pipe')]);
    if (what.includes('repository')) {
      on.git(path, 'init', '-q', 'inner');
      write(join(path, 'inner/c.txt'));
    }
    if (what.includes('git ignores')) {
      on.git(path, 'update-index', '--assume-unchanged', 'a.txt');
      write(join(path, 'a.txt'));
    }
    const [, , , , , , , seen] = end(on);
    expect(end(on)[7]).toBe(seen);
    work(on, path);
    const [is, , , , , , , now] = end(on, 'web', seen);
    expect(is).toBe('kept');
    expect(end(on, 'web', now)[0]).toBe('removed');
  });

  it('does not remove it if a new file has other content of the same length', async () => {
    const on = startRepo();
    const { path } = on.make();
    write(join(path, 'new.txt'));
    const [, , , , , , , seen] = end(on);
    const second = () => Math.floor(Date.now() / 1_000);
    const written = second();
    await vi.waitFor(() => expect(second()).toBeGreaterThan(written), 3_000); // some versions of ls show no more
    write(join(path, 'new.txt'), 'late\n');
    expect(end(on, 'web', seen)[0]).toBe('kept');
  });

  it('removes it although an ignored file changed after the user has seen it', () => {
    const on = startRepo();
    const { path } = on.make();
    for (const name of ['new.txt', 'ignored']) write(join(path, name));
    const [, , , , , , , seen] = end(on);
    write(join(path, 'ignored'), 'later\n');
    expect(end(on, 'web', seen)[0]).toBe('removed');
  });

  it('notices a changed file also with an xargs that knows no -0', () => {
    const bin = tempFolder();
    writeFileSync(join(bin, 'xargs'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const on = startRepo(undefined, { first: bin });
    const { path } = on.make();
    write(join(path, 'new.txt'));
    const [, , , , , , , seen] = end(on);
    write(join(path, 'new.txt'), 'rewritten\n');
    const [is, , , , , , , now] = end(on, 'web', seen);
    expect(is).toBe('kept');
    expect(end(on, 'web', now)[0]).toBe('removed');
  });

  it('of two branches with the same commit keeps the last one', () => {
    const on = startRepo();
    const { path } = on.make();
    commit(on, path);
    const second = on.make('api');
    on.git(second.path, 'merge', '-q', 'threadmux/web');
    expect([end(on)[0], end(on, 'api')[0]]).toEqual(['removed', 'kept']);
  });

  it('keeps it while a program runs in it', async () => {
    const on = startRepo();
    const { path } = on.make();
    const child = spawn('sleep', ['60'], { cwd: path });
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(end(on).slice(0, 3)).toEqual(['busy', 'sleep', path]);
    child.kill('SIGKILL');
    await vi.waitFor(() => expect(child.signalCode).toBe('SIGKILL'));
    expect(end(on)[0]).toBe('removed');
  });

  it('keeps it while a program runs in it, on a system without /proc', () => {
    const [bin, home] = [tempFolder(), realpathSync(tempFolder())];
    const on = startRepo(home, { lsof: bin });
    const { path } = on.make();
    const lsof = (...names: string[]) => {
      const lines = ['p11', 'ctmux', 'fcwd', `n${path}`, 'p12', 'cnode', 'f3', ...names.map((name) => `n${name}`)];
      const script = `#!/bin/sh\n[ "$*" = '-n -P -u ${userInfo().uid} -F cn' ] || exit 1\ncat <<'END'\n${lines.join('\n')}\nEND\n`;
      writeFileSync(join(bin, 'lsof'), script, { mode: 0o755 });
    };
    lsof('/elsewhere', `${path}/a file`);
    expect(end(on).slice(0, 3)).toEqual(['busy', 'node', path]);
    lsof('/elsewhere', `${path}-2/file`);
    expect(end(on)[0]).toBe('removed');
  });

  it('notices that it was removed by hand, and removes only its own entry', () => {
    const on = startRepo();
    const { path } = on.make();
    on.git(on.repo, 'worktree', 'add', '-q', '-b', 'mine', join(on.home, 'mine'));
    rmSync(path, { recursive: true });
    rmSync(join(on.home, 'mine'), { recursive: true });
    expect(on.run('list', ['yes'])?.[2]).toBe('gone');
    expect(end(on)[0]).toBe('removed');
    expect(on.worktrees()).toEqual([on.repo, join(on.home, 'mine')]);
  });

  it('keeps the branch with its commits if only the folder was removed by hand', () => {
    const on = startRepo();
    const { path } = on.make();
    commit(on, path);
    rmSync(path, { recursive: true });
    expect(end(on).slice(0, 5)).toEqual(['kept', '', 'threadmux/web', '0', '1']);
    expect(on.branches()).toContain('threadmux/web');
    expect(on.run('list', ['yes'])).toEqual([]);
  });

  it('lists nothing, and makes no folder, where there was never one', () => {
    const on = startRepo();
    expect(on.run('list', ['yes'])).toEqual(['gone']);
    expect(existsSync(on.home)).toBe(false);
  });

  it('waits for no lock of a script that was killed', () => {
    const on = startRepo();
    on.make();
    symlinkSync('999999999.never', join(on.home, 'worktrees', '.lock'));
    expect(end(on)[0]).toBe('removed');
    expect(existsSync(join(on.home, 'worktrees', '.lock'))).toBe(false);
  });

  it.each([
    ['a file is written by a program that still knows the folder', 15, 'echo late > "$hidden/late.txt"'],
    ['a file is written before it is moved', 13, 'echo late > "$path/late.txt"'],
    ['a commit is made', 13, 'git -C "$path" -c user.name=a -c user.email=a@a commit -q --allow-empty -m late'],
  ])('keeps it if %s after the check', (_, step, happens) => {
    const on = startRepo();
    const { path } = on.make();
    expect(on.run('end', ['shop', 'web', ''], step, happens)?.slice(0, 2)).toEqual(['kept', path]);
    expect(on.git(path, 'status', '--porcelain', '-b')).toContain('## threadmux/web');
    if (happens.startsWith('echo')) expect(readFileSync(join(path, 'late.txt'), 'utf8')).toBe('late\n');
  });

  it('keeps it if a program is in it after the check', () => {
    const on = startRepo();
    const { path } = on.make();
    const happens = '(cd "$hidden" && exec sleep 2) > /dev/null 2>&1 & sleep 0.3';
    expect(on.run('end', ['shop', 'web', ''], 15, happens)?.slice(0, 3)).toEqual(['busy', 'sleep', path]);
    expect(on.git(path, 'status', '--porcelain', '-b')).toBe('## threadmux/web');
  });

  it.each([
    ['its branch moves', 'git --git-dir="$r_repo" update-ref refs/heads/threadmux/web "$late"'],
    ['no other branch has its commit any more', 'git --git-dir="$r_repo" update-ref refs/heads/main "$first"'],
    [
      'its branch is checked out elsewhere',
      'git --git-dir="$r_repo" worktree add -q "$all/../elsewhere" threadmux/web',
    ],
  ])('keeps the branch if %s while the folder is deleted', (_, happens) => {
    const on = startRepo();
    const first = on.git(on.repo, 'rev-parse', 'HEAD');
    on.git(on.repo, 'commit', '-q', '--allow-empty', '-m', 'second');
    const late = on.git(on.repo, 'commit-tree', '-p', 'HEAD', '-m', 'late', 'HEAD^{tree}');
    const facts = `first=${first} late=${late}; ${happens}`;
    for (const step of happens.includes('worktree') ? [18] : [18, 20]) {
      on.make();
      expect(on.run('end', ['shop', 'web', ''], step, facts)?.slice(0, 2)).toEqual(['kept', '']);
      expect(on.branches()).toContain('threadmux/web');
      on.git(on.repo, 'update-ref', 'refs/heads/main', `${late}^`);
      if (step === 18) on.git(on.repo, 'update-ref', '-d', 'refs/heads/threadmux/web');
    }
  });
});

describe('an agent that may only write files', () => {
  /** Writes a program that notes that it ran, and a repository whose settings name it. */
  function plant(on: RepoForWorktrees, repository: string, at: string) {
    const noted = join(on.home, 'noted');
    const program = join(on.home, 'program');
    writeFileSync(program, `#!/bin/sh\necho ran >> ${noted}\ncat\n`, { mode: 0o755 });
    on.git(on.repo, 'clone', '-q', '--bare', on.repo, repository);
    for (const name of ['gpg.program', 'filter.evil.clean', 'diff.evil.textconv', 'diff.evil.command'])
      on.git(repository, 'config', name, program);
    on.git(repository, 'config', 'log.showSignature', 'true');
    on.git(repository, 'config', 'core.bare', 'false');
    write(join(at, '.git'), `gitdir: ${repository}\n`);
    on.git(at, 'read-tree', 'HEAD');
    write(join(at, '.gitattributes'), '* filter=evil diff=evil\n');
    write(join(at, 'a.txt'), 'changed\n');
    return () => existsSync(noted);
  }

  it('cannot make git run a hook when a worktree is made or removed', () => {
    const on = startRepo();
    const ran = join(on.home, '..', 'ran');
    for (const name of ['post-checkout', 'reference-transaction', 'post-index-change'])
      writeFileSync(join(on.repo, '.git/hooks', name), `#!/bin/sh\necho ${name} >> '${ran}'\n`, { mode: 0o755 });
    on.make();
    expect(end(on)[0]).toBe('removed');
    expect(existsSync(ran)).toBe(false);
  });

  it('cannot make git fetch with a program that the repository names', () => {
    const on = startRepo();
    const ran = join(on.home, '..', 'ran');
    const inner = join(on.repo, 'inner');
    on.git(on.repo, 'init', '-q', inner);
    const settings = `[core]\nrepositoryformatversion = 1\nsshCommand = "touch '${ran}'; false"
[extensions]\npartialClone = origin\n[remote "origin"]\nurl = ssh://a@127.0.0.1/b\npromisor = true\n`;
    writeFileSync(join(inner, '.git/config'), settings);
    writeFileSync(join(inner, '.git/HEAD'), `${'12'.repeat(20)}\n`);
    expect(on.run('make', ['shop', 'web', inner])?.slice(0, 2)).toEqual(['refused', 'no-commit']);
    expect(existsSync(ran)).toBe(false);
  });

  it('gets no worktree of a repository that is inside another one; a person does', () => {
    const on = startRepo();
    const inner = join(on.repo, 'inner');
    on.git(on.repo, 'init', '-q', inner);
    on.git(inner, 'commit', '-q', '--allow-empty', '-m', 'first');
    expect(on.run('make', ['shop', 'web', inner, 'agent'])).toEqual(['refused', 'nested']);
    expect(on.run('make', ['shop', 'web', on.repo, 'agent'])?.[0]).toBe('made');
    expect(on.run('make', ['shop', 'api', join(on.repo, 'sub'), 'agent'])?.[0]).toBe('made');
    expect(on.run('make', ['inner', 'own', inner, ''])?.[0]).toBe('made');
  });

  it('gets a worktree of a repository in a home that is one itself, and of that one', () => {
    const on = startRepo();
    const user = on.env.HOME ?? '';
    on.git(user, 'init', '-q');
    on.git(user, 'commit', '-q', '--allow-empty', '-m', 'first');
    mkdirSync(join(user, 'plain'));
    expect(on.run('make', ['shop', 'web', on.repo, 'agent'])?.[0]).toBe('made');
    expect(on.run('make', ['plain', 'web', join(user, 'plain'), 'agent'])?.[0]).toBe('made');
  });

  it('cannot make git run a program when its changes are shown', () => {
    const on = startRepo();
    const { path } = on.make();
    const hasRun = plant(on, join(path, 'evil'), path);
    const shown = (on.run('diff', ['shop', 'web']) ?? []).join('\n');
    expect(hasRun()).toBe(false);
    expect(shown).toContain('+changed');
  });

  it('nor when its session ends, in the place of a submodule', () => {
    const on = startRepo();
    on.git(on.repo, 'update-index', '--add', '--cacheinfo', `160000,${on.git(on.repo, 'rev-parse', 'HEAD')},module`);
    on.git(on.repo, 'commit', '-q', '-m', 'a submodule');
    const { path } = on.make();
    mkdirSync(join(path, 'module'), { recursive: true });
    const hasRun = plant(on, join(on.home, 'evil'), join(path, 'module'));
    expect(end(on)[0]).toBe('kept');
    expect(hasRun()).toBe(false);
    expect((on.run('diff', ['shop', 'web']) ?? [])[0]).toBe('diff');
    expect(hasRun()).toBe(false);
  });

  it('nor when it replaces .git right after it was checked', () => {
    const on = startRepo();
    const { path } = on.make();
    const own = readFileSync(join(path, '.git'), 'utf8');
    const hasRun = plant(on, join(on.home, 'evil'), path);
    rmSync(join(on.home, 'noted'), { force: true });
    write(join(path, '.git'), own);
    const replaces = `git() { command git "$@"; is=$?; case "$*" in *rev-parse*-git-dir*) echo 'gitdir: ${on.home}/evil' > '${path}/.git' ;; esac; return $is; }`;
    expect(on.run('end', ['shop', 'web', ''], 11, replaces)?.[0]).toBe('kept');
    expect(readFileSync(join(path, '.git'), 'utf8')).toContain('evil');
    expect(hasRun()).toBe(false);
  });

  function withModule(folder = 'module') {
    const on = startRepo();
    on.git(on.repo, 'update-index', '--add', '--cacheinfo', `160000,${on.git(on.repo, 'rev-parse', 'HEAD')},${folder}`);
    on.git(on.repo, 'commit', '-q', '-m', 'a submodule');
    const module = join(on.make().path, folder);
    mkdirSync(module, { recursive: true });
    const hasRun = plant(on, join(on.home, 'evil'), module);
    rmSync(join(on.home, 'noted'), { force: true });
    return { on, module, hasRun };
  }

  it('nor when it puts a repository into a submodule right after threadmux has looked for one', () => {
    const { on, module, hasRun } = withModule();
    renameSync(join(module, '.git'), join(on.home, 'git'));
    const puts = `find() { command find "$@"; case "$*" in *' .git '*) mv '${on.home}/git' '${module}/.git' ;; esac; }`;
    expect(on.run('end', ['shop', 'web', ''], 11, puts)?.[0]).toBe('kept');
    expect(existsSync(join(module, '.git'))).toBe(true);
    expect(hasRun()).toBe(false);
  });

  it('nor with a user whose git shows the changes inside of submodules', () => {
    const { on, hasRun } = withModule();
    on.git(on.repo, 'config', 'diff.submodule', 'diff');
    expect((on.run('diff', ['shop', 'web']) ?? [])[0]).toBe('diff');
    expect(end(on)[0]).toBe('kept');
    expect(hasRun()).toBe(false);
  });

  it.each([
    ['a link', (git: string, file: string) => symlinkSync(file, git)],
    ['a named pipe', (git: string) => execFileSync('mkfifo', [git])],
  ])('cannot make threadmux write through %s in the place of .git', (_, put) => {
    const on = startRepo();
    const { path } = on.make();
    const file = join(on.home, 'file');
    write(file, 'of the user\n');
    put(join(on.home, 'git'), file);
    const replaced = `mv '${on.home}/git' '${path}/.git'`;
    const reader = spawn('sh', ['-c', `sleep 15; cat ${on.home}/worktrees/.removing/shop.web/.git`]); // so that a failure ends
    onTestFinished(() => void reader.kill());
    const began = Date.now();
    expect(on.run('end', ['shop', 'web', ''], 13, replaced)?.[0]).toBe('removed');
    expect(Date.now() - began).toBeLessThan(14_000);
    expect(readFileSync(file, 'utf8')).toBe('of the user\n');
  });

  const PIPES = [
    ...['.git/worktrees/web/locked', '.git/packed-refs', '.git/refs/heads/x'],
    ...['.gitattributes', 'sub/.gitignore'],
  ];
  it.each(PIPES.flatMap((name) => [[name, 'itself'] as const, [name, 'through a link'] as const]))(
    'cannot make git wait for ever by a named pipe: %s, %s',
    (name, how) => {
      const on = startRepo();
      const { path } = on.make();
      const pipe = join(name.startsWith('.git/') ? on.repo : path, name);
      const target = how === 'itself' ? pipe : join(on.home, 'pipe');
      rmSync(pipe, { force: true });
      execFileSync('mkfifo', [target]);
      if (how !== 'itself') symlinkSync(target, pipe);
      expect(end(on).at(-2)).toMatch(/a named pipe/);
      expect(on.run('list', ['yes'])?.join()).toMatch(/a named pipe/);
      expect(on.run('diff', ['shop', 'web'])?.join()).toMatch(/a named pipe/);
      if (name.startsWith('.git/')) expect(on.run('make', ['shop', 'api', on.repo])).toEqual(['refused', 'pipe']);
      rmSync(pipe);
      on.git(path, 'checkout', '-q', '.');
      expect(end(on)[0]).toBe('removed');
    },
  );

  it.each(['HEAD', 'config', 'commondir'])(
    'cannot make the start of another session wait by a named pipe in place of .git/%s',
    (name) => {
      const on = startRepo();
      const pipe = join(on.repo, '.git', name);
      rmSync(pipe, { force: true });
      execFileSync('mkfifo', [pipe]);
      const began = Date.now();
      expect(on.run('make', ['shop', 'web', on.repo])).toEqual(['refused', 'late']);
      expect(Date.now() - began).toBeLessThan(45_000);
    },
  );

  it('nor by one in a repository around its own', () => {
    const on = startRepo();
    const inner = join(on.repo, 'inner');
    on.git(on.repo, 'init', '-q', inner);
    on.git(inner, 'commit', '-q', '--allow-empty', '-m', 'x');
    rmSync(join(on.repo, '.git/config'));
    execFileSync('mkfifo', [join(on.repo, '.git/config')]);
    expect(on.run('make', ['shop', 'web', inner, 'agent'])).toEqual(['refused', 'nested']);
  });

  it('cannot make the diff wait by a named pipe in place of a file that git reads for the names of people', () => {
    const on = startRepo();
    const { path } = on.make();
    execFileSync('mkfifo', [join(path, '.mailmap')]);
    on.git(path, 'commit', '-q', '--allow-empty', '-m', 'second');
    expect(on.run('diff', ['shop', 'web'])?.join()).toContain('second');
  });

  it('that makes a script hang holds up the others for 20 minutes, not for ever', () => {
    const on = startRepo();
    const lock = join(on.home, 'worktrees', '.lock');
    on.make();
    const hung = spawn('sh', ['-c', 'sleep 600; :'], { env: on.env });
    onTestFinished(() => void hung.kill('SIGKILL'));
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(hung.pid)], {
      encoding: 'utf8',
      env: { ...on.env, LC_ALL: 'C' },
    });
    symlinkSync(`${hung.pid}.${started.replace(/\s+/g, '_')}`, lock);
    execFileSync('touch', ['-h', '-d', '21 minutes ago', lock]);
    expect(on.run('make', ['shop', 'api', on.repo])?.[0]).toBe('made');
  });

  it('cannot stop the end of a session with a named pipe that the settings of a repository include', () => {
    const on = startRepo();
    const { path } = on.make();
    const pipe = join(on.home, 'pipe');
    plant(on, join(on.home, 'evil'), path);
    on.git(join(on.home, 'evil'), 'config', 'include.path', pipe);
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', `for n in 1 2 3 4 5 6; do sleep 15; : > ${pipe}; done`]); // so that a failure ends
    onTestFinished(() => void writer.kill());
    const began = Date.now();
    expect(end(on).join()).toContain('it is not the worktree that threadmux made');
    expect(Date.now() - began).toBeLessThan(14_000);
  });
});
