import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseSessionName } from '../../core/session-name.ts';
import { localHost } from '../../hosts/host.ts';
import { listSessions, newSession } from '../../tmux/sessions.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTmux } from '../support/tmux-server.ts';

/** Where every user of the machine may create files, like /tmp. */
function sharedFolder(): string {
  const folder = join(tempFolder(), 'shared');
  mkdirSync(folder);
  chmodSync(folder, 0o1777);
  return folder;
}

/** A tmux that only notes how it was called. */
function notedTmux(socket: string) {
  const folder = tempFolder();
  const program = join(folder, 'tmux');
  writeFileSync(program, `#!/bin/sh\necho "$*" >> '${folder}/calls'\n`, { mode: 0o755 });
  const host = localHost({ name: 'here', env: { PATH: process.env.PATH ?? '', HOME: folder }, tmux: program });
  const calls = () => (existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8') : '');
  return { tmux: tmuxOn(host, socket), calls };
}

async function listen(path: string): Promise<void> {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
}

describe('no tmux connects to a server that may be of another user:', () => {
  it('a link in a shared folder', async () => {
    const server = startTmux();
    server.call('new-session', '-d', '-s', 'web', 'cat');
    const link = join(sharedFolder(), 's');
    symlinkSync(server.socket, link);
    expect(await listSessions(tmuxOn(server.host, link))).toEqual([]);
    await expect(tmuxOn(server.host, link).run(['list-sessions'])).rejects.toMatchObject({
      code: 'session_not_found',
      message: expect.stringContaining('belongs to another user'),
    });
  });

  it('a missing socket in a shared folder, which may appear at any moment; but one can be created', async () => {
    const { tmux, calls } = notedTmux(join(sharedFolder(), 's'));
    expect(await listSessions(tmux)).toEqual([]);
    expect(calls()).toBe('');
    await newSession(tmux, { name: parseSessionName('web'), directory: '/' }).catch(() => {}); // this tmux starts nothing
    expect(calls()).toMatch(/^-u -S \S+ new-session -dE -s web [^\n]*\n$/);
  });

  it('a folder of somebody else', async () => {
    if (process.getuid?.() === 0) return void expect(await asNobody()).toEqual([]);
    const { tmux, calls } = notedTmux('/s'); // root owns this folder
    expect(await listSessions(tmux)).toEqual([]);
    expect(calls()).toBe('');
  });

  /** Only root can give a file to another user. */
  async function asNobody(): Promise<readonly string[]> {
    const folder = sharedFolder();
    const socket = join(folder, 's');
    await listen(socket);
    chownSync(socket, 65_534, 65_534);
    const { tmux, calls } = notedTmux(socket);
    expect(await listSessions(tmux)).toEqual([]);
    return calls().split('\n').filter(Boolean);
  }
});

it('the user’s own server is found in a shared folder, and in a private one', async () => {
  const folder = sharedFolder();
  for (const socket of [join(folder, 's'), join(tempFolder(), 's')]) {
    await listen(socket);
    const { tmux, calls } = notedTmux(socket);
    await listSessions(tmux);
    expect(calls()).toContain(`-S ${socket} list-sessions`);
  }
});
