import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { folderListing } from './folder-listing.ts';
import { installSetup } from './install-setup.ts';

/** The result of `npm install -g`: the packed files with their modes, in their own prefix. */
function installPackage(prefix: string): string {
  mkdirSync(prefix);
  const npm = (...args: string[]) =>
    execFileSync('npm', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, npm_config_update_notifier: 'false' },
    });
  const [packed] = JSON.parse(npm('pack', '--json', '--ignore-scripts', '--pack-destination', prefix));
  npm('install', '-g', '--prefix', prefix, '--no-audit', '--no-fund', join(prefix, packed.filename));
  return join(prefix, 'lib', 'node_modules', 'threadmux');
}

describe('the packed npm package', () => {
  it('installs, works and uninstalls, and leaves the home folder as it was', async () => {
    const me = installSetup();
    me.write('{\n  "statusLine": {"type": "command", "command": "echo mine"}\n}');
    writeFileSync(join(me.home, '.tmux.conf'), 'set -g mouse on');
    const before = folderListing(me.home);
    const root = installPackage(join(me.home, '..', 'pre fix'));
    const run = (code: string, module = 'bin/commands/install.js') =>
      execFileSync(
        process.execPath,
        ['--input-type=module', '-e', `const it = await import(process.argv[1]); ${code}`, join(root, 'dist', module)],
        { env: me.env, encoding: 'utf8' },
      );

    expect(run('await it.runInstall({});')).toContain('added the hooks and the status line');
    const { hooks, statusLine } = JSON.parse(me.read());
    const letter = { env: { ...me.env, TMUX: '/nowhere,1,0', TMUX_PANE: '%1' }, input: '{}' };
    execFileSync('/bin/sh', ['-c', hooks.Stop[0].hooks[0].command], letter);
    expect(folderListing(join(me.home, '.threadmux', 'outbox')).join()).toMatch(/1\.1\/\d+/);
    const shown = execFileSync('/bin/sh', ['-c', statusLine.command], {
      env: me.env,
      input: readFileSync('test/fixtures/claude/statusline.json'),
      encoding: 'utf8',
    });
    expect(shown).toBe('mine\n');
    const opening = { do: 'open', size: { width: 80, height: 24 }, limitMs: 60_000 };
    const answer = execFileSync(process.execPath, [join(root, 'dist/bin/terminal-emulator.js')], {
      env: {},
      input: `${JSON.stringify(opening)}\n`,
      encoding: 'utf8',
    });
    expect(JSON.parse(answer)).toEqual({ left: '', live: '' });
    const draw = "console.log((await it.renderPicture('hello', { width: 80, height: 24 }))?.length);";
    expect(Number(run(draw, 'streams/picture/picture.js'))).toBeGreaterThan(0);

    const courier = join(me.home, '.threadmux', 'state', 'courier.pid');
    await vi.waitFor(() => expect(existsSync(courier)).toBe(true), 20_000);
    expect(run('await it.runUninstall({ purge: true });')).toContain('removed the hooks');
    expect(folderListing(me.home)).toEqual(before);
  }, 120_000);
});
