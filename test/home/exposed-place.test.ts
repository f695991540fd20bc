// A home is refused where another user could put another one in its place. Real folders, modes, links and owners.

import { chmodSync, chownSync, lchownSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { exposedWords, findExposed, trustedOwners } from '../../home/exposed-place.ts';
import { openHome } from '../../home/home.ts';
import { tempFolder } from '../support/temp-home.ts';

const NOBODY = 65_534;
const uid = process.getuid?.() ?? 0;

function folders(...names: readonly string[]) {
  const folder = tempFolder();
  const path = (...parts: readonly string[]) => join(folder, ...parts);
  for (const name of names) {
    mkdirSync(path(name), { recursive: true });
    chmodSync(path(name), 0o755);
  }
  return path;
}

/** Only root can give a file away; for everybody else, the user is another one from now on, and the first folder that is not root's is theirs. */
function giveAway(path: string, give: (path: string, uid: number, gid: number) => void): void {
  if (uid === 0) return give(path, NOBODY, NOBODY);
  const me = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1);
  onTestFinished(() => me.mockRestore());
}

function refuses(root: string, at: string): void {
  const found = findExposed(root);
  expect(found).toBeDefined();
  if (uid === 0 || process.getuid?.() === uid) expect(found?.at).toBe(at);
  expect(() => openHome(root)).toThrow(found && exposedWords(found, root));
}

describe('a home', () => {
  it.each([
    ['a group', 0o775, 'g-w'],
    ['a group, whose files stay in it,', 0o2770, 'g-w'],
    ['everybody else', 0o757, 'o-w'],
    ['everybody', 0o777, 'go-w'],
  ])('is refused below a folder that %s can change, and the hint has the command', (_, mode, who) => {
    const path = folders('above/mine');
    chmodSync(path('above'), mode);
    const root = path('above', 'mine', 'home');
    refuses(root, path('above'));
    expect(findExposed(root)?.hint).toContain(`\`chmod ${who} ${path('above')}\`, or set THREADMUX_HOME`);
    chmodSync(path('above'), 0o755);
    openHome(root);
  });

  it('may be below a folder where others can create files, but not exchange ours', () => {
    const path = folders('above/mine');
    chmodSync(path('above'), 0o1777);
    openHome(path('above', 'mine', 'home'));
  });

  it('is refused below a folder of another user, also of nobody', () => {
    const path = folders('above/mine');
    giveAway(path('above'), chownSync);
    refuses(path('above', 'mine', 'home'), path('above'));
  });

  it('is refused if a link on the way leads through a folder that others can change', () => {
    const path = folders('open/mine', 'inner');
    symlinkSync('../open/./mine', path('inner', 'link'));
    symlinkSync(path('inner', 'link'), path('first'));
    openHome(path('first', 'home'));
    chmodSync(path('open'), 0o777);
    refuses(path('first', 'home'), path('open'));
  });

  it('is refused if another user has made a link on the way', () => {
    const path = folders('shared', 'mine');
    chmodSync(path('shared'), 0o1777);
    symlinkSync(path('mine'), path('shared', 'link'));
    openHome(path('shared', 'link', 'home'));
    giveAway(path('shared', 'link'), lchownSync);
    refuses(path('shared', 'link', 'home'), path('shared', 'link'));
  });

  it('is not looked for along links that have no end', () => {
    const path = folders();
    symlinkSync('loop', path('loop'));
    expect(findExposed(path('loop', 'home'))).toBeUndefined();
  });
});

/** What nobody owns is the system's only where its owners cannot be shown. */
it.each([
  ['outside of a user namespace', '         0          0 4294967295\n', [0, 7]],
  ['in a user namespace', '         0       1000          1\n', [0, 7, NOBODY]],
  ['in a user namespace with many users', '0 1000 1\n1 100000 65536\n', [0, 7, NOBODY]],
  ['on macOS', undefined, [0, 7]],
])('%s, these owners are trusted', (_, map, owners) => {
  expect(trustedOwners(7, map)).toEqual(owners);
});
