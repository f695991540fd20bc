// The user's own commands, listed by the real script from real files.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { LIST_OWN_COMMANDS, parseOwnCommands } from '../../../../agents/claude/commands/own-commands.ts';
import { localHost } from '../../../../hosts/host.ts';
import { tempFolder } from '../../../support/temp-home.ts';

function files(root: string, all: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

async function listed(home: string, directory: string, transcript = '') {
  const host = localHost({ name: 'here', env: { ...process.env, HOME: home } });
  return parseOwnCommands(await host.sh(LIST_OWN_COMMANDS, [transcript, directory]));
}

it('lists commands and skills of the user, of the project and of plugins, as Claude Code names them', async () => {
  const home = tempFolder();
  files(home, {
    '.claude/commands/greet.md': '---\ndescription: "Greets: somebody"\nargument-hint: [name]\n---\nSay hello',
    '.claude/commands/team/standup.md': '# Standup\nWhat did we do?',
    '.claude/skills/fixit/SKILL.md': '---\nname: fixit\ndescription: Fixes it\n---\n',
    '.claude/skills/hidden/SKILL.md': '---\nname: hidden\nuser-invocable: false\n---\n',
    '.claude/plugins/cache/market/tools/1.0.0/commands/lint.md': 'Lint it',
    'shop/.git/HEAD': '',
    'shop/.claude/commands/front/deep/build.md': 'Build',
    'shop/web/.claude/skills/folder/SKILL.md': '---\nname: page-check\ndescription: Checks\n---\n',
    '.claude.md': 'not a command',
  });
  const found = await listed(home, join(home, 'shop/web'));
  expect(found.map(({ name, about, owner }) => [name, about, owner])).toEqual([
    ['fixit', 'Fixes it', 'your command'],
    ['front:deep:build', 'Build', 'your command'],
    ['greet', 'Greets: somebody', 'your command'],
    ['page-check', 'Checks', 'your command'],
    ['team:standup', 'Standup', 'your command'],
    ['tools:lint', 'Lint it', 'your command'],
  ]);
});

it('tells only the name of a command in a project that is a link to a file elsewhere', async () => {
  const home = tempFolder();
  files(home, {
    'secret.md': 'a secret line',
    'linked/more.md': 'another secret line',
    '.claude/commands/usual.md': 'Usual',
    'dotfiles/own.md': 'Own',
    'shop/.git/HEAD': '',
    'shop/.claude/commands/build.md': 'Build',
  });
  symlinkSync(join(home, 'dotfiles/own.md'), join(home, '.claude/commands/own.md'));
  symlinkSync('../../../secret.md', join(home, 'shop/.claude/commands/look.md'));
  symlinkSync(join(home, 'linked'), join(home, 'shop/.claude/commands/team'));
  expect((await listed(home, join(home, 'shop'))).map(({ name, about }) => [name, about])).toEqual([
    ['build', 'Build'],
    ['look', ''],
    ['own', 'Own'],
    ['team:more', ''],
    ['usual', 'Usual'],
  ]);
});

it('finds the folder of Claude Code by the transcript, if it was moved', async () => {
  const home = tempFolder();
  files(home, { 'elsewhere/commands/moved.md': 'Moved', '.claude/commands/usual.md': 'Usual' });
  const transcript = join(home, 'elsewhere/projects/-x/1.jsonl');
  expect((await listed(home, '/', transcript)).map(({ name }) => name)).toEqual(['moved']);
});

it('drops names that are no names, ends at loops and devices, and shows no control character', async () => {
  const home = tempFolder();
  files(home, {
    '.claude/commands/a b.md': 'space',
    '.claude/commands/$(touch pwned).md': 'shell',
    '.claude/commands/-x.md': 'option',
    '.claude/commands/two\nlines.md': 'newline',
    '.claude/commands/fine.md': `\u001b[31mred\u001e\u001fcommand\u001fforged.md\u001f${'x'.repeat(5_000)}`,
  });
  symlinkSync('..', join(home, '.claude/commands/loop'));
  symlinkSync('/dev/zero', join(home, '.claude/commands/zero.md'));
  const found = await listed(home, 'not absolute');
  expect(found.filter(({ name }) => !name.startsWith('loop:')).map(({ name }) => name)).toEqual(['fine']);
  expect(found[0]?.about).toMatch(/^\[31mredcommandforged\.mdx+$/);
  expect(found[0]?.about.length).toBeLessThanOrEqual(200);
});

it('is empty where there is nothing', async () => {
  expect(await listed(tempFolder(), '/nowhere/at/all')).toEqual([]);
});
