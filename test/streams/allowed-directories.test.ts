import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { directoriesIn, openAllowedDirectories } from '../../streams/allowed-directories.ts';
import { tempFolder } from '../support/temp-home.ts';

function tree() {
  const home = tempFolder();
  for (const path of ['code/api/src', 'code/web', 'code/.git', 'work/api', 'shop/packages/cart'])
    mkdirSync(join(home, path), { recursive: true });
  mkdirSync(join(home, 'secret'));
  writeFileSync(join(home, 'code/file'), '');
  symlinkSync(join(home, 'secret'), join(home, 'code/out'));
  symlinkSync('../..', join(home, 'code/web/up'));
  symlinkSync(join(home, 'code/api'), join(home, 'code/alias'));
  const directories = openAllowedDirectories({
    projects: ['~/shop', join(home, 'missing')],
    roots: ['~/code/', '~/work'],
    homedir: home,
  });
  return { home, ...directories };
}

describe('the directory of a terminal or a headless agent', () => {
  it('is a project, a root, or a folder below one, by its name', async () => {
    const { home, resolve } = tree();
    expect(await resolve('shop')).toBe(join(home, 'shop'));
    expect(await resolve('shop/packages/cart')).toBe(join(home, 'shop/packages/cart'));
    expect(await resolve('web')).toBe(join(home, 'code/web'));
    expect(await resolve('code')).toBe(join(home, 'code'));
    expect(await resolve('code/api/src/')).toBe(join(home, 'code/api/src'));
    expect(await resolve('./web')).toBe(join(home, 'code/web'));
  });

  it('may be a link that stays inside, and is resolved', async () => {
    const { home, resolve } = tree();
    expect(await resolve('alias')).toBe(join(home, 'code/api'));
  });

  it.each([
    ['/etc', 'absolute path'],
    ['~/secret', 'absolute path'],
    ['..', '".."'],
    ['web/../../secret', '".."'],
    ['shop/..', '".."'],
    ['out', 'leads out'],
    ['web/up/secret', 'leads out'],
    ['secret', 'there is no directory'],
    ['file', 'there is no directory'],
    ['missing', 'there is no directory'],
    ['we\u0000b', 'control characters'],
    ['', 'a directory is missing'],
    ['.', 'names nothing'],
    ['api', 'means several directories'],
  ])('is never %j, which is refused with a sentence', async (name, why) => {
    const { resolve } = tree();
    await expect(resolve(name)).rejects.toThrow(why);
  });

  it('that is ambiguous is distinguished by its parent', async () => {
    const { home, resolve } = tree();
    await expect(resolve('api')).rejects.toMatchObject({ hint: 'Name it with its parent: `code/api` or `work/api`' });
    expect(await resolve('work/api')).toBe(join(home, 'work/api'));
  });

  it('completes from the projects and the roots, and further below', async () => {
    const { names } = tree();
    expect(await names('')).toEqual(['shop', 'missing', 'code', 'work', 'api', 'web']);
    expect(await names('we')).toEqual(['web']);
    expect(await names('shop/')).toEqual(['shop/packages']);
    expect(await names('shop/packages/c')).toEqual(['shop/packages/cart']);
    expect(await names('../')).toEqual([]);
    expect(await names('/et')).toEqual([]);
  });

  it('does not exist if nothing is configured, and the answer says what to configure', async () => {
    const { resolve, names } = openAllowedDirectories({ projects: [], roots: [], homedir: '/' });
    await expect(resolve('shop')).rejects.toMatchObject({ hint: expect.stringContaining('"roots": ["~/code"]') });
    expect(await names('')).toEqual([]);
  });

  it('is compared by its real path, not by its spelling', async () => {
    const { home, isWithin } = tree();
    const cart = join(home, 'shop/packages/cart');
    expect(await isWithin(cart, ['~/shop'])).toBe(true);
    expect(await isWithin(join(home, 'shopping'), ['~/shop'])).toBe(false);
    expect(await isWithin(join(home, 'code/api'), ['~/code/alias'])).toBe(true);
    expect(await isWithin(cart, [])).toBe(false);
  });
});

it('is suggested from so many entries of a folder, and no more', async () => {
  const folder = tempFolder();
  for (let at = 0; at < 30; at++) mkdirSync(join(folder, `d${at}`));
  expect(await directoriesIn(folder, 10)).toHaveLength(10);
  expect(await directoriesIn(folder)).toHaveLength(30);
  expect(await directoriesIn(join(folder, 'missing'))).toEqual([]);
});
