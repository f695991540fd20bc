// A script that makes or removes a worktree is killed at each of its steps: no work is lost, and the next script completes it.

import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { removeFolder } from '../support/temp-home.ts';
import { type RepoForWorktrees, startRepo } from '../support/worktree-repo.ts';

const MAKING = [1, 2, 3, 4, 5];
const REMOVING = [11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21];

function oncePerFile<T>(start: () => T): () => T {
  let started: { readonly it: T } | undefined;
  return () => {
    started ??= { it: start() };
    return started.it;
  };
}

const make = (on: RepoForWorktrees, killAt?: number) => on.run('make', ['shop', 'web', on.repo], killAt);
const end = (on: RepoForWorktrees, killAt?: number, name = 'web') => on.run('end', ['shop', name, ''], killAt);

describe('killed at step', () => {
  const on = oncePerFile(() => startRepo(realpathSync(mkdtempSync(join(tmpdir(), 'tmx-')))));
  afterAll(() => removeFolder(join(on().home, '..')));
  const isGone = () => {
    expect([on().branches(), on().worktrees()]).toEqual([['main'], [on().repo]]);
    expect(readdirSync(join(on().home, 'worktrees'))).toEqual(['.removing']);
  };

  it.each(MAKING)('%i of making, the worktree is complete at the next start', (step) => {
    expect(make(on(), step)).toBeUndefined();
    const [, name, path = ''] = make(on()) ?? [];
    expect(name).toBe('web');
    expect(on().git(path, 'status', '--porcelain', '-b')).toBe('## threadmux/web');
    expect(end(on())?.[0]).toBe('removed');
    // Before it has the lock, it writes into a file of its own, which the others leave alone for an hour.
    for (const left of readdirSync(join(on().home, 'worktrees')).filter((one) => /^\.out\.\d+$/.test(one)))
      rmSync(join(on().home, 'worktrees', left));
    isGone();
  });

  it.each(REMOVING)('%i of removing, the next start has a complete worktree, or the next end removes it', (step) => {
    make(on());
    expect(end(on(), step)).toBeUndefined();
    // If only its branch was left, the next one has another name.
    const [, name = '', path = ''] = make(on()) ?? [];
    expect(on().git(path, 'status', '--porcelain')).toBe('');
    expect(end(on(), step, name)).toBeUndefined();
    for (const one of new Set(['web', name])) expect(end(on(), undefined, one)?.[0]).toBe('removed');
    isGone();
  });
});

describe('git was killed', () => {
  it('while it made the worktree: it is completed', () => {
    const on = startRepo();
    make(on, 4);
    const path = join(on.home, 'worktrees/shop/web');
    const admin = join(on.repo, '.git/worktrees/web');
    writeFileSync(join(admin, 'locked'), 'initializing');
    writeFileSync(join(admin, 'index.lock'), '');
    rmSync(join(admin, 'index'));
    rmSync(join(path, 'sub'), { recursive: true });
    expect(make(on)?.slice(0, 2)).toEqual(['again', 'web']);
    expect(on.git(path, 'status', '--porcelain')).toBe('');
    expect(end(on)?.[0]).toBe('removed');
  });

  it('while it made the worktree, and somebody wrote into it since: it is left alone', () => {
    const on = startRepo();
    make(on, 4);
    const path = join(on.home, 'worktrees/shop/web');
    writeFileSync(join(path, 'a.txt'), 'on');
    expect(make(on)?.slice(0, 2)).toEqual(['made', 'web-2']);
    expect(end(on)?.slice(0, 2)).toEqual(['kept', path]);
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('on');
  });

  it.each(['.git', '.gitignore'])('while it deleted the worktree, after %s: the rest is deleted', (first) => {
    const on = startRepo();
    make(on);
    writeFileSync(join(on.home, 'worktrees/shop/web/ignored'), '');
    end(on, 17);
    rmSync(join(on.home, 'worktrees/.removing/shop.web', first));
    expect(end(on)?.[0]).toBe('removed');
    expect(on.branches()).toEqual(['main']);
  });
});

type Act =
  | { readonly do: 'make' | 'end'; readonly killAt: number | undefined }
  | { readonly do: 'edit' | 'commit' | 'stash' | 'branch' | 'back' | 'detach' | 'merge' };

const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('make' as const), killAt: fc.constantFrom(undefined, ...MAKING) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('end' as const), killAt: fc.constantFrom(undefined, ...REMOVING) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom(
        ...(['edit', 'edit', 'commit', 'commit', 'stash', 'branch', 'back', 'detach', 'merge'] as const),
      ),
    }),
  },
);

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

it('loses no work, whatever is done and wherever it is killed', () => {
  fc.assert(
    fc.property(fc.array(acts, { minLength: 6, maxLength: 14 }), (plan) => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tmx-')));
      try {
        follow(startRepo(folder), plan);
      } finally {
        removeFolder(folder);
      }
    }),
    { numRuns: 10, endOnFailure: true },
  );
});

function follow(on: RepoForWorktrees, plan: readonly Act[]): void {
  let path = '';
  let count = 0;
  const commits = new Set<string>();
  /** What was written and neither committed nor stashed, by file. */
  const written = new Map<string, string>();
  const tried = (...args: readonly string[]) => {
    try {
      return on.git(path, ...args);
    } catch {
      return undefined; // such as a checkout that would overwrite a file
    }
  };
  const isThere = () => existsSync(join(path, '.git'));
  for (const act of [{ do: 'make', killAt: undefined } as const, ...plan]) {
    if (act.do === 'make') path = make(on, act.killAt)?.[2] ?? path;
    else if (act.do === 'end') end(on, act.killAt);
    else if (isThere()) work(act.do);
    check();
  }

  function work(what: Exclude<Act['do'], 'make' | 'end'>): void {
    count += 1;
    if (what === 'edit') {
      const name = ['a.txt', 'new.txt', 'sub/b.txt'][count % 3] ?? '';
      writeFileSync(join(path, name), `token ${count}.\n`);
      written.set(name, `token ${count}.`);
    }
    if (what === 'commit') {
      tried('add', '-A');
      if (tried('commit', '-q', '-m', `commit ${count}`) !== undefined) written.clear();
      commits.add(on.git(path, 'rev-parse', 'HEAD'));
    }
    if (what === 'stash' && tried('stash', '-u') !== undefined && written.size > 0) {
      written.clear();
      commits.add(on.git(path, 'rev-parse', 'refs/stash'));
    }
    if (what === 'branch') tried('checkout', '-q', '-b', `side-${count}`);
    if (what === 'back') tried('checkout', '-q', 'threadmux/web');
    if (what === 'detach') tried('checkout', '-q', '--detach');
    if (what === 'merge')
      on.git(on.repo, 'merge', '-q', '-X', 'theirs', '-m', 'merge', on.git(path, 'rev-parse', 'HEAD'));
  }

  function check(): void {
    if (commits.size > 0) {
      const reachable = new Set(on.git(on.repo, 'rev-list', '--all', '--reflog').split('\n'));
      for (const one of commits) expect(reachable, `commit ${one}`).toContain(one);
    }
    if (written.size === 0) return;
    const texts = filesIn(join(on.home, 'worktrees')).map((file) => readFileSync(file, 'utf8'));
    for (const token of written.values())
      expect(
        texts.some((text) => text.includes(token)),
        token,
      ).toBe(true);
  }
}
