import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hookSettings } from '../../agents/claude/settings.ts';
import { namedAgents } from '../../bin/commands/install-agents.ts';
import { packageAt } from '../bin/doctor/doctor-setup.ts';
import { tempFolder } from '../support/temp-home.ts';
import { folderListing } from './folder-listing.ts';
import { type InstallSetup, installSetup } from './install-setup.ts';

const THEIRS = '{\n  "model": "opus",\n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say"}]}]}\n}\n';
const theirs = (command: string) => ({ hooks: [{ type: 'command', command }] });

describe('install and uninstall', () => {
  it('leave a home unchanged that has none of the files', async () => {
    const me = installSetup();
    const before = folderListing(me.home);
    const said = await me.install();
    expect(said).toEqual([
      `${me.settings}: added the hooks and the status line.`,
      `${me.home}/.tmux.conf: added the line that loads ${me.home}/.threadmux/tmux.conf.`,
      'tmux: no server is running; the next one loads the hooks when it starts.',
    ]);
    expect(JSON.parse(me.read()).hooks).toEqual(hookSettings(me.paths).hooks);
    expect(readFileSync(`${me.home}/.threadmux/state/node`, 'utf8')).toBe(`${me.paths.node}\n`);
    expect(await me.uninstall()).toEqual([
      `${me.settings}: deleted, because install created it.`,
      `${me.home}/.tmux.conf: deleted, because install created it.`,
    ]);
    expect(folderListing(me.home)).toEqual(before);
  });

  it('add the extension of another agent when it is asked for, keep it up to date, and remove exactly that', async () => {
    const me = installSetup();
    mkdirSync(join(me.home, '.gemini/extensions/other'), { recursive: true });
    const before = folderListing(me.home);
    const folder = join(me.home, '.gemini/extensions/threadmux');
    expect((await me.install()).join()).not.toContain('.gemini');
    expect((await me.install({ agents: ['gemini', 'codex'] })).filter((line) => line.includes('.gemini'))).toEqual([
      `${folder}/gemini-extension.json: added the extension of threadmux.`,
      `${folder}/hooks/hooks.json: added the extension of threadmux.`,
    ]);
    const command = `'${me.paths.dist}/hooks/drop' gemini`;
    expect(readFileSync(join(folder, 'hooks/hooks.json'), 'utf8')).toContain(command);
    writeFileSync(join(folder, 'hooks/hooks.json'), '{"hooks": {"of": "an older version"}}');
    await me.install();
    expect(readFileSync(join(folder, 'hooks/hooks.json'), 'utf8')).toContain(command);
    expect((await me.install({ dryRun: true })).join('\n')).toContain(`${folder}/hooks/hooks.json: no changes.`);
    await me.uninstall();
    expect(folderListing(me.home)).toEqual(before);
  });

  it.each([
    ['opencode', '.config/opencode/plugins', 'threadmux.js'],
    ['pi', '.pi/agent/extensions', 'threadmux/index.js'],
    ['gemini', '.gemini/extensions', 'threadmux/hooks/hooks.json'],
    ['all', '.pi/agent/extensions', 'threadmux/index.js'],
  ])('add the files of %s beside what is there, and remove exactly them', async (agent, folder, file) => {
    const me = installSetup();
    mkdirSync(join(me.home, folder, 'theirs'), { recursive: true });
    writeFileSync(join(me.home, folder, 'theirs.js'), '// of the user\n');
    const before = folderListing(me.home);
    await me.install({ agents: namedAgents(agent) });
    expect(existsSync(join(me.home, folder, file))).toBe(true);
    await me.uninstall();
    expect(folderListing(me.home)).toEqual(before);
  });

  it.each([
    ['an ordinary file', THEIRS, 0o644],
    ['CRLF', THEIRS.replaceAll('\n', '\r\n'), 0o644],
    ['no final newline', THEIRS.trimEnd(), 0o600],
    ['a byte order mark', `\ufeff${THEIRS}`, 0o644],
    ['one line', JSON.stringify(JSON.parse(THEIRS)), 0o664],
    ['odd spaces', '\n\n{ "hooks" : { "Stop" : [ ]\t} ,\n "a":1 }  \n\n', 0o644],
    ['a status line', '{"statusLine":{"command":"\\u0065cho hi","type":"command"}}', 0o640],
    ['nothing in it', '', 0o644],
    ['an empty object', '{ }', 0o644],
  ])('restore a settings.json with %s, byte for byte', async (_, text, mode) => {
    const me = installSetup();
    me.write(text, mode);
    const before = folderListing(me.home);
    await me.install();
    expect(folderListing(me.home)).not.toEqual(before);
    expect(statSync(me.settings).mode & 0o777).toBe(mode);
    JSON.parse(me.read().replace(/^\ufeff/, ''));
    await me.uninstall();
    expect(folderListing(me.home)).toEqual(before);
  });

  it.each([
    ['directly above', 0o1777, 'home/.threadmux'],
    ['directly above, as a group', 0o1775, 'home/.threadmux'],
    ['further up, where they can exchange folders', 0o777, 'home/mine/.threadmux'],
    ['further up, where a group can exchange folders', 0o775, 'home/mine/.threadmux'],
    ['behind a link', 0o777, 'link/.threadmux'],
  ])('refuse a home that others could make, %s', async (_, mode, root) => {
    const me = installSetup();
    const shared = join(me.home, 'shared');
    mkdirSync(join(shared, 'home', 'mine'), { recursive: true });
    chmodSync(join(shared, 'home'), mode);
    symlinkSync(join(shared, 'home', 'mine'), join(shared, 'link'));
    const before = folderListing(me.home);
    for (const dryRun of [true, false])
      await expect(me.install({ root: join(shared, root), dryRun })).rejects.toThrow(
        /^other users can (?:change|create files in) .*shared\/home, /,
      );
    expect(folderListing(me.home)).toEqual(before);
    chmodSync(join(shared, 'home'), 0o755);
    await me.install({ root: join(shared, root) });
  });

  it('change nothing the second time', async () => {
    const me = installSetup();
    me.write(THEIRS);
    await me.install();
    const once = folderListing(me.home);
    expect((await me.install())[0]).toBe(`${me.settings}: already up to date.`);
    expect(folderListing(me.home)).toEqual(once);
    await me.uninstall();
    expect(await me.uninstall()).toEqual([`${me.settings}: nothing to remove.`]);
    expect(me.read()).toBe(THEIRS);
  });

  it('follow an installation that has moved, and can still be undone', async () => {
    const me = installSetup();
    me.write(THEIRS);
    const before = folderListing(me.home);
    const old = packageAt(join(tempFolder(), 'old', 'dist'));
    await me.install({ paths: { node: me.paths.node, dist: old } });
    expect(me.read()).toContain(old);
    await me.install();
    expect(me.read()).not.toContain(old);
    expect(JSON.parse(me.read()).hooks.Stop).toHaveLength(2);
    await me.uninstall();
    expect(folderListing(me.home)).toEqual(before);
  });

  it('keep what others have added, before, between and after ours, in any format', async () => {
    const me = installSetup();
    me.write(THEIRS);
    await me.install();
    const settings = JSON.parse(me.read());
    settings.hooks.Stop.unshift(theirs('before'));
    settings.hooks.Stop.push(theirs('after'));
    settings.hooks.PreToolUse.push(theirs('check'));
    settings.theme = 'dark';
    me.write(JSON.stringify(settings, null, '\t'));
    await me.install();
    expect(me.read()).toBe(JSON.stringify(settings, null, '\t'));
    await me.uninstall();
    expect(JSON.parse(me.read())).toEqual({
      model: 'opus',
      hooks: { Stop: [theirs('before'), theirs('say'), theirs('after')], PreToolUse: [theirs('check')] },
      theme: 'dark',
    });
    expect(me.read()).toContain('\n\t"theme"');
  });

  it('keep a file that we created if others have used it since', async () => {
    const me = installSetup();
    await me.install();
    me.write(me.read().replace('{', '{\n  "theme": "dark",'));
    writeFileSync(`${me.home}/.tmux.conf`, `set -g mouse on\n${readFileSync(`${me.home}/.tmux.conf`)}`);
    await me.uninstall();
    expect(JSON.parse(me.read())).toEqual({ theme: 'dark' });
    expect(readFileSync(`${me.home}/.tmux.conf`, 'utf8')).toBe('set -g mouse on\n');
    expect(existsSync(`${me.home}/.threadmux`)).toBe(false);
  });

  it('work without the installation record', async () => {
    const me = installSetup();
    me.write(THEIRS);
    await me.install();
    spawnSync('rm', ['-r', `${me.home}/.threadmux`]);
    await me.uninstall();
    expect(me.read()).toBe(THEIRS);
    expect(readFileSync(`${me.home}/.tmux.conf`, 'utf8')).toBe('');
  });

  it('keep a link to the settings, and edit its target', async () => {
    const me = installSetup();
    mkdirSync(`${me.home}/dotfiles`);
    writeFileSync(`${me.home}/dotfiles/claude.json`, THEIRS, { mode: 0o640 });
    mkdirSync(`${me.home}/.claude`);
    symlinkSync('../dotfiles/claude.json', me.settings);
    const before = folderListing(me.home);
    await me.install();
    expect(lstatSync(me.settings).isSymbolicLink()).toBe(true);
    expect(readFileSync(`${me.home}/dotfiles/claude.json`, 'utf8')).toContain('threadmux');
    await me.uninstall();
    expect(folderListing(me.home)).toEqual(before);
  });

  it.each([
    [
      'invalid JSON',
      (me: InstallSetup) => me.write('{"a": }'),
      /settings.json was not changed: it is not valid JSON: line 1/,
    ],
    ['comments', (me: InstallSetup) => me.write('{\n/* mine */}'), /line 2 contains a comment/],
    ['bytes that are not text', (me: InstallSetup) => me.write(Buffer.from([0x7b, 0xff, 0x7d])), /is not UTF-8 text/],
    ['a read-only file', (me: InstallSetup) => me.write(THEIRS, 0o444), /settings.json is read-only/],
    ['a folder in its place', (me: InstallSetup) => mkdirSync(me.settings, { recursive: true }), /is not a file/],
    [
      'a file in its folder’s place',
      (me: InstallSetup) => writeFileSync(`${me.home}/.claude`, ''),
      /part of the path is not a folder/,
    ],
    [
      'a broken link',
      (me: InstallSetup) => {
        mkdirSync(`${me.home}/.claude`);
        symlinkSync('nowhere', me.settings);
      },
      /is a link to a file that does not exist/,
    ],
    [
      'a read-only tmux configuration',
      (me: InstallSetup) => writeFileSync(`${me.home}/.tmux.conf`, 'set -g mouse on\n', { mode: 0o444 }),
      /tmux.conf is read-only/,
    ],
  ])('refuse %s with a sentence, and touch nothing', async (_, spoil, sentence) => {
    const me = installSetup();
    spoil(me);
    const before = folderListing(me.home);
    await expect(me.install()).rejects.toThrow(sentence);
    expect(folderListing(me.home)).toEqual(before);
  });

  it('refuse a temporary installation path', async () => {
    const me = installSetup();
    const paths = { node: '/usr/bin/node', dist: '/home/me/.npm/_npx/1/node_modules/threadmux/dist' };
    await expect(me.install({ paths })).rejects.toThrow(/npm cache/);
  });

  it('show what would change, and change nothing, with --dry-run', async () => {
    const me = installSetup();
    me.write(THEIRS);
    const before = folderListing(me.home);
    const shown = (await me.install({ dryRun: true })).join('\n');
    expect(shown).toContain(`${me.settings} would be changed:`);
    expect(shown).toMatch(/^\+ .*hooks\/drop/m);
    expect(shown).toContain(`${me.home}/.tmux.conf would be created:`);
    expect(folderListing(me.home)).toEqual(before);
    await me.install();
    const installed = folderListing(me.home);
    expect((await me.uninstall({ dryRun: true })).join('\n')).toMatch(/^- .*hooks\/drop/m);
    expect(folderListing(me.home)).toEqual(installed);
  });

  it('use CLAUDE_CONFIG_DIR and XDG_CONFIG_HOME', async () => {
    const me = installSetup();
    mkdirSync(`${me.home}/xdg/tmux`, { recursive: true });
    writeFileSync(`${me.home}/xdg/tmux/tmux.conf`, 'set -g mouse on\n');
    const before = folderListing(me.home);
    const env = { ...me.env, CLAUDE_CONFIG_DIR: `${me.home}/elsewhere`, XDG_CONFIG_HOME: `${me.home}/xdg` };
    await me.install({ env });
    expect(existsSync(me.settings)).toBe(false);
    expect(readFileSync(`${me.home}/elsewhere/settings.json`, 'utf8')).toContain('hooks/drop');
    expect(readFileSync(`${me.home}/xdg/tmux/tmux.conf`, 'utf8')).toContain('source-file');
    await me.uninstall({ env });
    expect(folderListing(me.home)).toEqual(before);
  });

  it('are limited to one project on request, and keep the status line of the user', async () => {
    const me = installSetup();
    me.write('{"statusLine":{"type":"command","command":"mine"}}');
    const project = `${me.home}/shop`;
    mkdirSync(project);
    const before = folderListing(me.home);
    await me.install({ project });
    const local = JSON.parse(readFileSync(`${project}/.claude/settings.local.json`, 'utf8'));
    expect(local.statusLine.command).toContain('--borrowed -- mine');
    expect(me.read()).not.toContain('hooks');
    await me.install();
    await me.uninstall({ project });
    expect(existsSync(`${project}/.claude`)).toBe(false);
    expect(me.read()).toContain('hooks/drop');
    expect(existsSync(`${me.home}/.tmux.conf`)).toBe(true);
    await me.install({ project });
    await me.uninstall();
    expect(folderListing(me.home)).toEqual(before);
  });

  it('do not make a project that is not there', async () => {
    const me = installSetup();
    await expect(me.install({ project: `${me.home}/typo` })).rejects.toThrow(/does not exist/);
    expect(folderListing(me.home)).toEqual([]);
  });

  it('may run several times at once: one does the work, the others find it done', async () => {
    const me = installSetup();
    me.write(THEIRS);
    const before = folderListing(me.home);
    const code = `const { install } = await import(process.argv[1]);
      const { localHost } = await import(process.argv[2] + '/hosts/host.js');
      const { tmuxOn } = await import(process.argv[2] + '/tmux/tmux.js');
      const tmux = tmuxOn(localHost({ name: 'here', env: process.env }));
      const paths = { node: process.execPath, dist: process.argv[2] };
      console.log((await install({ root: process.env.HOME + '/.threadmux', env: process.env, paths, tmux }))[0]);`;
    const runs = Array.from({ length: 5 }, async () => {
      const args = ['--input-type=module', '-e', code, `${me.paths.dist}/install/install.js`, me.paths.dist];
      const child = spawn(process.execPath, args, { env: me.env, stdio: ['ignore', 'pipe', 'inherit'] });
      let said = '';
      child.stdout.on('data', (chunk) => {
        said += chunk;
      });
      const [status] = await once(child, 'close');
      return `${status} ${said.trim()}`;
    });
    const said = await Promise.all(runs);
    expect(said.filter((line) => line.startsWith('0 ') && line.includes('added'))).toHaveLength(1);
    expect(said.filter((line) => line.startsWith('0 ') && line.includes('up to date'))).toHaveLength(4);
    expect(JSON.parse(me.read()).hooks.Stop).toHaveLength(2);
    await me.uninstall();
    expect(folderListing(me.home)).toEqual(before);
  });

  it('affect the running tmux server at once and a new one when it starts, until uninstall', async () => {
    const me = installSetup();
    me.tmux('new-session', '-d', '-s', 'first');
    const clean = me.tmux('show-hooks', '-g');
    expect((await me.install()).at(-1)).toBe('tmux: loaded the hooks into the running server.');
    const events = `${me.home}/.threadmux/state/tmux-events`;
    me.tmux('new-session', '-d', '-s', 'live');
    await vi.waitFor(() => expect(existsSync(events)).toBe(true), 20_000);
    me.tmux('kill-server');
    await vi.waitFor(() => expect(() => me.tmux('list-sessions')).toThrow(), 20_000);
    me.tmux('new-session', '-d', '-s', 'again');
    expect(me.tmux('show-hooks', '-g')).toContain('session-created[8410]');
    expect((await me.uninstall()).at(-1)).toBe('tmux: removed the hooks from the running server.');
    expect(me.tmux('show-hooks', '-g')).toBe(clean);
  });

  it('do not delete the user’s files in our home, unless told to', async () => {
    const me = installSetup();
    await me.install();
    writeFileSync(`${me.home}/.threadmux/config.json`, '{}', { mode: 0o600 });
    expect((await me.uninstall()).at(-1)).toMatch(/\.threadmux: kept, .*--purge/);
    expect(existsSync(`${me.home}/.threadmux/config.json`)).toBe(true);
    expect(existsSync(`${me.home}/.threadmux/tmux-event`)).toBe(false);
    await me.uninstall({ purge: true });
    expect(existsSync(`${me.home}/.threadmux`)).toBe(false);
  });

  it('never delete worktrees, which may have work of the user', async () => {
    const me = installSetup();
    await me.install();
    const work = `${me.home}/.threadmux/worktrees/shop/web/new.txt`;
    mkdirSync(dirname(work), { recursive: true });
    writeFileSync(work, 'work');
    await expect(me.uninstall({ purge: true })).rejects.toThrow(/has worktrees of sessions/);
    expect(existsSync(work)).toBe(true);
    rmSync(`${me.home}/.threadmux/worktrees/shop`, { recursive: true });
    await me.uninstall({ purge: true });
    expect(existsSync(`${me.home}/.threadmux`)).toBe(false);
  });

  it('say so when the folder is not writable', () => {
    const me = installSetup();
    me.write(THEIRS);
    chmodSync(`${me.home}/.claude`, 0o555);
    onTestFinished(() => chmodSync(`${me.home}/.claude`, 0o755));
    const before = folderListing(me.home);
    const done = me.asOrdinaryUser(`const { checkWritable, readUserFile } = await import(process.argv[1]);
      try { checkWritable(readUserFile(process.argv[2])); } catch (error) { console.log(error.message); }`);
    expect(done).toBe(`changing ${me.settings}: permission denied\n`);
    expect(folderListing(me.home)).toEqual(before);
  });
});
