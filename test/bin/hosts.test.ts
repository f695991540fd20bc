import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type SshServer, startSshServer } from '../support/ssh-server.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTmux } from '../support/tmux-server.ts';
import { binWith, type Cli, PROGRAM, startCli, WAIT } from './cli.ts';

/** This machine, and "far", which is reached over ssh and has its own home and tmux server. */
async function startTwo(there: object = {}): Promise<{ cli: Cli; far: SshServer; run: Cli['run'] }> {
  const far = await startSshServer();
  const other = startTmux();
  const cli = startCli({ hosts: { far: { ssh: 'far', socket: other.socket, ...there } } });
  const ssh = `exec ${spawnSync('sh', ['-c', 'command -v ssh']).stdout.toString().trim()} -F ${far.configFile} "$@"`;
  const PATH = `${binWith(cli.dir, 'ssh', ssh)}:${cli.env.PATH}`;
  const run: Cli['run'] = (args, options = {}) => cli.run(args, { ...options, env: { PATH, ...options.env } });
  onTestFinished(() => {
    // The connection is kept for the next command; it must not outlive the test.
    const script = 'for s in "$1"/ssh/*; do ssh -O exit -o ControlPath="$s" far; done';
    spawnSync('sh', ['-c', script, 'sh', cli.root], { env: { PATH }, stdio: 'ignore' });
  });
  return { cli, far, run };
}

describe('sessions on another host', () => {
  it('are started, listed, typed into and read by name@host', async () => {
    const { cli, run } = await startTwo();
    cli.tmux.call('new-session', '-d', '-s', 'web', 'cat');
    const started = await run(['start', 'web', '--host', 'far', '--json', '--', 'cat']);
    expect(started.data()).toMatchObject({ created: true, host: 'far', name: 'web' });
    const { sessions, unreachable } = (await run(['list', '--json'])).data();
    expect(sessions).toMatchObject([
      { host: 'here', name: 'web' },
      { host: 'far', name: 'web' },
    ]);
    expect(unreachable).toEqual([]);
    expect((await run(['sessions'])).stdout).toMatch(/^web@far +shell/m);
    expect((await run(['send', 'web@far', 'over there'])).status).toBe(0);
    await vi.waitFor(
      async () => expect((await run(['capture', 'web', '--host', 'far'])).stdout).toContain('over there'),
      WAIT,
    );
    expect((await run(['capture', 'web'])).stdout).not.toContain('over there');
  });

  it('cannot act on this terminal, whatever their host answers', async () => {
    const tmux = join(tempFolder(), 'tmux');
    const evil = `s/evil/$(printf '\\033]52;c;QQ==\\007\\302\\233evil')/`;
    const script = `#!/bin/sh\ncase "$*" in *capture-pane*) tmux "$@" | sed "${evil}" ;; *) exec tmux "$@" ;; esac\n`;
    writeFileSync(tmux, script, { mode: 0o755 });
    const { run } = await startTwo({ tmux });
    await run(['start', 'web', '--host', 'far', '--', 'sh', '-c', 'echo evil; exec cat']);
    const shown = await vi.waitFor(async () => {
      const { stdout } = await run(['capture', 'web@far']);
      expect(stdout).toContain('evil');
      return stdout;
    }, WAIT);
    expect(shown).toContain('⟨U+001B⟩]52;c;QQ==⟨U+0007⟩⟨U+009B⟩evil');
    const json = await run(['capture', 'web@far', '--json']);
    expect(json.stdout).not.toMatch(/[^\P{Cc}\n]/u);
    expect(json.data().text).toContain('\u001b]52;c;QQ==\u0007\u009bevil');
  });

  it('cannot act on it with what they tell doctor', async () => {
    const tmux = join(tempFolder(), 'tmux');
    const version = "printf 'tmux 3.4\\033]52;c;QQ==\\007\\302\\233evil\\n'";
    writeFileSync(tmux, `#!/bin/sh\ncase $1 in -V) ${version} ;; *) exec tmux "$@" ;; esac\n`, { mode: 0o755 });
    const { run } = await startTwo({ tmux });
    const { stdout } = await run(['doctor', '--host', 'far']);
    expect(stdout).toContain('tmux 3.4⟨U+001B⟩]52;c;QQ==⟨U+0007⟩⟨U+009B⟩evil on far');
    expect((await run(['doctor', '--host', 'far', '--json'])).stdout).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it('are attached to through ssh, and killed, by name@host', async () => {
    const { cli, run } = await startTwo();
    cli.tmux.call('new-session', '-d', '-s', 'web', 'cat');
    expect((await run(['start', 'web@far', '--', 'cat'])).status).toBe(0);
    const { command } = (await run(['attach', 'web@far', '--json'])).data() as { command: string[] };
    expect(command.slice(0, 4)).toEqual(['ssh', '-t', '--', 'far']);
    expect(command[4]).toContain(`'attach-session' '-t' '$0'`);
    expect((await run(['kill', 'web@far'])).status).toBe(0);
    expect(cli.tmux.call('list-sessions', '-F', '#{session_name}')).toBe('web');
  });

  it('are reported as unreachable, with exit code 69, while the others are still listed', async () => {
    const { cli, far, run } = await startTwo();
    cli.tmux.call('new-session', '-d', '-s', 'web', 'cat');
    await far.stop();
    const list = await run(['list', '--json']);
    expect(list.status).toBe(0);
    expect(list.data()).toMatchObject({
      sessions: [{ host: 'here', name: 'web' }],
      unreachable: [{ host: 'far', code: 'host_unreachable', hint: expect.any(String) }],
    });
    const only = await run(['list', '--host', 'far', '--json']);
    expect([only.status, only.error().code]).toEqual([69, 'host_unreachable']);
    expect((await run(['kill', 'web@far'])).status).toBe(69);
    const { hosts } = (await run(['status', '--json'])).data();
    expect(hosts).toMatchObject([
      { host: 'here', answers: true, sessions: 1 },
      { host: 'far', answers: false, error: { code: 'host_unreachable' } },
    ]);
  });

  it('need tmux on the host, and report its absence with an error code', async () => {
    const { cli, run } = await startTwo({ tmux: join('/nonexistent', 'tmux') });
    const result = await run(['start', 'web', '--host', 'far', '--json', '--', 'cat']);
    expect([result.status, result.error().code]).toEqual([1, 'tmux_not_installed']);
    expect(cli.root).not.toBe('');
  });

  it('show progress on a terminal while ssh connects, and clear it afterwards', async () => {
    const { cli, far, run } = await startTwo();
    expect((await run(['list', '--host', 'far'])).status).toBe(0);
    far.faults.latencyMs = 700;
    const { tmux, dir, env } = cli;
    const variables = { ...env, PATH: `${join(dir, 'bin')}:${env.PATH}` };
    const set = Object.entries(variables).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    tmux.call(
      'new-session',
      '-d',
      '-s',
      't',
      ...set,
      `'${process.execPath}' '${PROGRAM}' list --host far; echo done; cat`,
    );
    const shows = () => tmux.call('capture-pane', '-p', '-t', '=t:').trim();
    await vi.waitFor(() => expect(shows()).toBe('connecting to far …'), WAIT);
    await vi.waitFor(() => expect(shows()).toMatch(/^No sessions.*\ndone$/), WAIT);
  });
});
