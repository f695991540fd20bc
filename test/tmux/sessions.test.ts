import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { parseSessionName } from '../../core/session-name.ts';
import { killSession, LIVING_PROGRAMS, listSessions, newSession } from '../../tmux/sessions.ts';
import { startTmux, type TmuxServer } from '../support/tmux-server.ts';

const WEB = parseSessionName('web');

describe('listSessions', () => {
  it('is empty where no server runs', async () => {
    expect(await listSessions(startTmux().tmux)).toEqual([]);
  });

  it('tells names apart, whatever they contain', async () => {
    const server = startTmux();
    const names = [
      'plain',
      'two words',
      '$(touch x)',
      '`id`',
      '"q" \'q\'',
      '-dash',
      '👩‍👧 ünï',
      '$1',
      '=web',
      '#x',
      'a;',
      'tab\tbed',
      '%3',
      '\\',
      '{a,b}',
    ];
    const shown = names.map((name) => {
      server.call('new-session', '-d', '-s', name.replace(/;$/, '\\;'), 'cat');
      return name.replace('\t', '\\t').replace(/^\\$/, '\\\\');
    });
    const listed = await listSessions(server.tmux);
    expect(listed.map((session) => session.name).sort()).toEqual(shown.sort());
  });

  it('keeps its rows apart, whatever a directory contains', async () => {
    const server = startTmux();
    const directory = join(realpathSync(server.dir), "a\tb\nc $(x) 'q' é");
    mkdirSync(directory);
    server.call('new-session', '-d', '-s', 'web', '-c', directory, 'cat');
    await vi.waitFor(async () =>
      expect(await listSessions(server.tmux)).toMatchObject([
        {
          name: 'web',
          attached: 0,
          group: undefined,
          pane: { id: '%0', dead: false, path: directory.replace(/[\t\n]/g, '?') },
        },
      ]),
    );
    const [session] = await listSessions(server.tmux);
    expect(Math.abs((session?.createdAt ?? 0) - Date.now())).toBeLessThan(10_000);
  });
});

describe('newSession', () => {
  it('starts a command in a directory, through the login shell, with its arguments unchanged', async () => {
    const server = startTmux();
    const directory = join(realpathSync(server.dir), 'it #(touch pwned) #{pid} $(touch pwned)');
    mkdirSync(directory);
    const out = join(server.dir, 'out');
    const words = ['a b', '$(touch pwned)', "it's", '\\', ';', '', '#{pid}', '👍'];
    const print = 'printf "<%s>" "$@" > "$0"; pwd >> "$0"; exec cat';
    const { session, created } = await newSession(server.tmux, {
      name: WEB,
      directory,
      command: ['sh', '-c', print, out, ...words],
    });
    expect(created).toBe(true);
    await vi.waitFor(() =>
      expect(readFileSync(out, 'utf8')).toBe(`${words.map((word) => `<${word}>`).join('')}${directory}\n`),
    );
    await vi.waitFor(async () => expect((await found(server, 'web')).pane.command).toBe('cat'));
    expect(session).toMatchObject({ name: 'web', pane: { path: directory } });
    expect(existsSync(join(directory, 'pwned'))).toBe(false);
  });

  it('returns the same session when it is called twice, even at once', async () => {
    const server = startTmux();
    server.call('new-session', '-d', '-s', 'other', 'cat');
    const wanted = { name: WEB, directory: '/', command: ['cat'] };
    const both = await Promise.all([newSession(server.tmux, wanted), newSession(server.tmux, wanted)]);
    expect(both.map(({ created }) => created).sort()).toEqual([false, true]);
    expect((await newSession(server.tmux, wanted)).created).toBe(false);
    expect(both[0].session.id).toBe(both[1].session.id);
    expect(await listSessions(server.tmux)).toHaveLength(2);
  });

  it('starts a session whose name is the start of another name', async () => {
    const server = startTmux();
    server.call('new-session', '-d', '-s', 'web-2', 'cat');
    expect((await newSession(server.tmux, { name: WEB, directory: '/' })).created).toBe(true);
  });

  it('keeps a pane whose program has ended, on request', async () => {
    const server = startTmux();
    server.call('new-session', '-d', '-s', 'other', 'cat');
    await newSession(server.tmux, { name: WEB, directory: '~', command: ['false'], remainOnExit: true });
    await vi.waitFor(async () => expect((await found(server, 'web')).pane.dead).toBe(true));
    expect(server.call('show-options', '-p', '-t', '=other:')).toBe('');
  });

  it.each(['relative', '-', '', '~someone', 'a\0b'])('refuses the directory %j', async (directory) => {
    const server = startTmux();
    await expect(newSession(server.tmux, { name: WEB, directory })).rejects.toMatchObject({ code: 'bad_usage' });
  });

  it('says that a directory does not exist', async () => {
    const server = startTmux();
    await expect(newSession(server.tmux, { name: WEB, directory: '/no/such' })).rejects.toMatchObject({
      code: 'tmux_failed',
      message: expect.stringContaining('/no/such'),
    });
    expect(await listSessions(server.tmux)).toEqual([]);
  });

  it('does not take the user’s agent from the session', async () => {
    const server = startTmux();
    server.call('new-session', '-d', '-s', 'other', 'cat');
    server.call('set-environment', '-g', 'SSH_AUTH_SOCK', '/agent');
    const out = join(server.dir, 'out');
    await newSession(server.tmux, {
      name: WEB,
      directory: '/',
      command: ['sh', '-c', `echo "$SSH_AUTH_SOCK" > ${out}; exec cat`],
    });
    await vi.waitFor(() => expect(readFileSync(out, 'utf8')).toBe('/agent\n'));
  });

  it('reads variables from a private file in the given folder: nobody else can take the name of the removed file', async () => {
    const server = startTmux();
    const folder = join(server.dir, 'state');
    mkdirSync(folder, { mode: 0o700 });
    const shell = join(server.dir, 'shell');
    writeFileSync(shell, `#!/bin/sh\nls -l "$tmx_file" > '${server.dir}/listed'; exec /bin/sh -c "$4"\n`, {
      mode: 0o755,
    });
    server.call('new-session', '-d', '-s', 'other', 'cat');
    server.call('set-option', '-g', 'default-shell', shell);
    const out = join(server.dir, 'out');
    await newSession(server.tmux, {
      name: WEB,
      directory: '/',
      command: ['sh', '-c', `echo "$ANTHROPIC_MODEL" > ${out}; exec cat`],
      environment: { variables: { ANTHROPIC_MODEL: 'opus' }, folder },
    });
    await vi.waitFor(() => expect(readFileSync(out, 'utf8')).toBe('opus\n'));
    expect(readFileSync(join(server.dir, 'listed'), 'utf8')).toMatch(
      new RegExp(`^-rw------- .* ${folder}/\\.[\\w-]{12}\\.tmp\\n$`),
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('killSession', () => {
  it('ends exactly the named session', async () => {
    const server = startTmux();
    for (const name of ['web', 'web-2', 'web 3']) server.call('new-session', '-d', '-s', name, 'cat');
    await killSession(server.tmux, await found(server, 'web'));
    expect((await listSessions(server.tmux)).map(({ name }) => name)).toEqual(['web 3', 'web-2']);
  });

  it('ends a program that goes on without its terminal, but none that another session of its group shows', async () => {
    const server = startTmux();
    const file = join(server.dir, 'hangups');
    const count = `trap 'echo >> ${file}; [ $(wc -l < ${file}) -lt 2 ] || exit' HUP; while :; do sleep 0.05; done`;
    server.call('new-session', '-d', '-s', 'stubborn', `exec sh -c '${count.replaceAll("'", "'\\''")}'`);
    server.call('new-session', '-d', '-s', 'shown', 'exec cat');
    server.call('new-session', '-d', '-s', 'beside', '-t', 'shown');
    const stubborn = await found(server, 'stubborn');
    const shown = await found(server, 'shown');
    await killSession(server.tmux, shown);
    await killSession(server.tmux, stubborn);
    const isAlive = (pid: number) => spawnSync('kill', ['-0', String(pid)]).status === 0;
    await vi.waitFor(() => expect(isAlive(stubborn.pane.pid)).toBe(false));
    expect(isAlive(shown.pane.pid)).toBe(true);
  });

  it('tells nothing to the number of a program that has exited', async () => {
    const server = startTmux();
    server.call('new-session', '-d', '-s', 'web', 'exec cat');
    server.call('set-option', '-g', 'remain-on-exit', 'on');
    const { pane } = await found(server, 'web');
    server.call('split-window', '-t', 'web', 'exit');
    const dead = () => server.call('list-panes', '-s', '-t', 'web', '-F', '#{pane_dead}');
    await vi.waitFor(() => expect(dead()).toBe('0\n1'));
    expect(server.call('display-message', '-p', '-t', 'web', LIVING_PROGRAMS).trim()).toBe(String(pane.pid));
  });

  it('ends the last session too', async () => {
    const server = startTmux();
    server.call('new-session', '-d', '-s', 'web', 'cat');
    await killSession(server.tmux, await found(server, 'web'));
    await vi.waitFor(async () => expect(await listSessions(server.tmux)).toEqual([]));
  });

  it('never touches the session that has the same id after a restart of the server', async () => {
    const server = startTmux();
    server.call('new-session', '-d', '-s', 'web', 'cat');
    const old = await found(server, 'web');
    server.call('kill-server');
    await vi.waitFor(() => server.call('new-session', '-d', '-s', 'new', 'cat'));
    expect((await found(server, 'new')).id).toBe(old.id);
    const gone = { code: 'session_not_found' };
    await expect(killSession(server.tmux, old)).rejects.toMatchObject(gone);
    expect(await found(server, 'new')).toBeDefined();
  });
});

describe('tmuxOn', () => {
  it('keeps each argument intact, even one that ends in a semicolon', async () => {
    const server = startTmux();
    server.call('new-session', '-d', '-s', 'web', 'cat');
    for (const value of ['x;', ';', 'x\\;', '; kill-server', '#(touch x)', '-g', "'"]) {
      await server.tmux.run(['set-option', '-g', '--', '@value', value]);
      expect(server.call('show-options', '-gv', '@value')).toBe(value);
    }
  });

  it('passes only a few of our variables to its processes', async () => {
    const { host } = startTmux();
    const names = (await host.sh('env', [])).split('\n').map((line) => line.split('=')[0]);
    expect(names.filter((name) => !/^(PATH|HOME|LANG|SHELL|PWD|OLDPWD|SHLVL|_|)$/.test(name ?? ''))).toEqual([]);
  });

  it('ends a script that takes too long, with all its processes', async () => {
    const { host } = startTmux();
    // A process that is left would keep the call waiting, far beyond the limit of the test.
    await expect(host.sh('sleep 1000; echo late', [], { timeoutMs: 200, doing: 'wait' })).rejects.toMatchObject({
      code: 'tmux_failed',
      message: 'threadmux could not wait on here: no answer in time',
    });
  });
});

async function found(server: TmuxServer, name: string) {
  const session = (await listSessions(server.tmux)).find((one) => one.name === name);
  if (session === undefined) throw new Error(`no session ${name}`);
  return session;
}
