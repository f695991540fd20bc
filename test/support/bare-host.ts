// A host with sshd, sh and tmux, and its own home. Its `node` fails and records that it was called.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type SshServer, startSshServer } from './ssh-server.ts';
import { tempFolder } from './temp-home.ts';

interface BareHost extends SshServer {
  /** The socket of its tmux server. */
  readonly socket: string;
  tmux(...args: string[]): string;
  /** Puts a program before the real one in PATH, also for login shells. */
  program(name: string, body: string): void;
}

export async function startBareHost(): Promise<BareHost> {
  const bin = tempFolder();
  const path = `${bin}:/usr/local/bin:/usr/bin:/bin`;
  const server = await startSshServer({ path });
  writeFileSync(join(server.home, '.profile'), `echo welcome; PATH=${path}; export PATH\n`);
  const socket = join(bin, 'tmux');
  const env = { HOME: server.home, PATH: path, SHELL: '/bin/sh', LANG: 'C.UTF-8' };
  const program = (name: string, body: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  program('node', `: > ${join(bin, 'node-was-run')}; exit 127`);
  onTestFinished(() => {
    if (existsSync(socket)) spawnSync('tmux', ['-S', socket, 'kill-server'], { env, stdio: 'ignore' });
    expect(existsSync(join(bin, 'node-was-run')), 'Node.js was started there').toBe(false);
  });
  return {
    ...server,
    socket,
    program,
    tmux: (...args) => execFileSync('tmux', ['-S', socket, ...args], { env, encoding: 'utf8', stdio: 'pipe' }),
  };
}
