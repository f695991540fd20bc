// A user with a home folder, Claude Code settings in it, and a default tmux server.

import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { localHost } from '../../hosts/host.ts';
import { type InstallOptions, install, uninstall } from '../../install/install.ts';
import { tmuxOn } from '../../tmux/tmux.ts';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

export type InstallSetup = ReturnType<typeof installSetup>;

export function installSetup() {
  const folder = mkdtempSync(join(tmpdir(), 'tmx-'));
  const home = join(folder, 'home');
  mkdirSync(home);
  mkdirSync(join(folder, 'sockets'));
  const env = {
    HOME: home,
    PATH: process.env.PATH ?? '',
    TMUX_TMPDIR: join(folder, 'sockets'),
    LANG: 'C.UTF-8',
    SHELL: '/bin/sh',
  };
  onTestFinished(() => {
    spawnSync('tmux', ['kill-server'], { env, stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const settings = join(home, '.claude', 'settings.json');
  const paths = { node: process.execPath, dist: DIST };
  const options: InstallOptions = {
    root: join(home, '.threadmux'),
    env,
    tmux: tmuxOn(localHost({ name: 'here', env })),
  };
  return {
    home,
    env,
    settings,
    paths,
    install: (more: Partial<Parameters<typeof install>[0]> = {}) => install({ ...options, paths, ...more }),
    uninstall: (more: Partial<Parameters<typeof uninstall>[0]> = {}) => uninstall({ ...options, ...more }),
    read: () => readFileSync(settings, 'utf8'),
    write(data: string | Uint8Array, mode = 0o644) {
      mkdirSync(dirname(settings), { recursive: true });
      writeFileSync(settings, data);
      chmodSync(settings, mode);
    },
    tmux: (...args: string[]) => execFileSync('tmux', args, { env, encoding: 'utf8', stdio: 'pipe' }),
    /** Runs a module with the path of home/user-owned-file.js and of the settings, without root rights. */
    asOrdinaryUser(code: string): string {
      const args = ['--input-type=module', '-e', code, join(DIST, 'home', 'user-owned-file.js'), settings];
      const uid = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
      chmodSync(folder, 0o755);
      return execFileSync(process.execPath, args, { env, encoding: 'utf8', ...uid });
    },
  };
}
