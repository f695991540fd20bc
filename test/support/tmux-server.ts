// A real tmux server on a private socket in its own directory, removed when the test ends.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { type Host, localHost } from '../../hosts/host.ts';
import type { PaneGuard } from '../../tmux/pane.ts';
import { type Tmux, tmuxOn } from '../../tmux/tmux.ts';
import { atEnd } from './at-end.ts';
import { removeFolder } from './temp-home.ts';

const RAW_PROGRAM = fileURLToPath(new URL('./raw-program.mjs', import.meta.url));

export interface TmuxServer {
  /** A temporary directory, also the server's HOME. */
  readonly dir: string;
  readonly socket: string;
  readonly host: Host;
  readonly tmux: Tmux;
  /** Runs the real tmux, like a user; throws if it fails. */
  readonly call: (...args: string[]) => string;
}

export function startTmux(): TmuxServer {
  const dir = mkdtempSync(join(tmpdir(), 'tm-'));
  const socket = join(dir, 's');
  const env = { PATH: process.env.PATH ?? '', HOME: dir, LANG: 'C.UTF-8', SHELL: '/bin/sh' };
  const call = (...args: string[]) => {
    const done = spawnSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], { env, encoding: 'utf8' });
    if (done.error !== undefined) throw new Error('these tests need tmux: install it');
    if (done.status !== 0) throw new Error(`tmux ${args.join(' ')}: ${done.stderr}`);
    return done.stdout.replace(/\n$/, '');
  };
  atEnd(() => {
    if (existsSync(socket)) spawnSync('tmux', ['-S', socket, 'kill-server'], { env, stdio: 'ignore' });
    removeFolder(dir);
  });
  const host = localHost({ name: 'here', env });
  return { dir, socket, host, tmux: tmuxOn(host, socket), call };
}

/** The same server, with a tmux that notes its own command line and that of the shell that runs it. */
export function notedTmux({ dir, socket }: TmuxServer) {
  const [program, file] = [join(dir, 'noted-tmux'), join(dir, 'noted')];
  const note = `{ printf '%s\\n' "$@"; ps -ww -o args= -p "$PPID"; } >> '${file}'`;
  writeFileSync(program, `#!/bin/sh\n${note}\nexec tmux "$@"\n`, { mode: 0o755 });
  const env = { PATH: process.env.PATH ?? '', HOME: dir, LANG: 'C.UTF-8' };
  const tmux = tmuxOn(localHost({ name: 'here', tmux: program, env }), socket);
  return { tmux, commandLines: () => readFileSync(file, 'utf8') };
}

export interface RawPane {
  readonly guard: PaneGuard & { readonly command: string };
  /** Every byte its program received so far. */
  readonly received: () => Buffer;
}

/** A session whose program records its input, and enables bracketed paste. */
export async function startRawPane(
  server: TmuxServer,
  name = 'web',
  options: { readonly shows?: string; readonly stashed?: string; readonly window?: string } = {},
): Promise<RawPane> {
  const file = join(server.dir, `raw-${name.replace(/\W/g, '_')}-${Math.random()}`);
  const program = [process.execPath, RAW_PROGRAM, file, options.shows ?? '', options.stashed ?? ''];
  const where =
    options.window === undefined
      ? ['new-session', '-d', '-s', name, '-x', '120', '-y', '40']
      : ['split-window', '-d', '-t', options.window];
  const [paneId = '', panePid, serverPid] = server
    .call(...where, '-P', '-F', '#{pane_id} #{pane_pid} #{pid}', ...program)
    .split(' ');
  await vi.waitFor(() => {
    if (!existsSync(file)) throw new Error('the program has not started');
  }, 10_000);
  return {
    guard: { pane: { serverPid: Number(serverPid), paneId, panePid: Number(panePid) }, command: 'node' },
    received: () => readFileSync(file),
  };
}

/** The bytes of messages that were pasted in brackets and entered, one after the other. */
export function pasted(...texts: string[]): Buffer {
  return Buffer.from(texts.map((text) => `\x1b[200~${text}\x1b[201~\r`).join(''));
}
