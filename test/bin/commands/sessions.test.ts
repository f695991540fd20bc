import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { binWith, type Cli, PROGRAM, startCli, WAIT } from '../cli.ts';

const IDLE = ['--', 'sleep', '1000'];

function names({ tmux }: Cli): string[] {
  return tmux.call('list-sessions', '-F', '#{session_name}').split('\n');
}

/** The environment of a command that runs in a pane of this session. */
function inside({ tmux }: Cli, session: string) {
  const format = '#{socket_path},#{pid},0 #{pane_id}';
  const [TMUX = '', TMUX_PANE = ''] = tmux.call('display-message', '-p', '-t', `=${session}:`, format).split(' ');
  return { env: { TMUX, TMUX_PANE } };
}

describe('start and stop', () => {
  it('start a session once, and give the same answer the second time', async () => {
    const cli = startCli();
    const first = await cli.run(['start', 'web', '--json', ...IDLE]);
    const again = await cli.run(['start', 'web', '--json', ...IDLE]);
    expect(first.data()).toMatchObject({
      created: true,
      host: 'here',
      name: 'web',
      directory: cli.dir,
      attached: 0,
      thread: null,
    });
    expect(again).toMatchObject({ status: 0 });
    expect(again.data()).toMatchObject({ created: false, id: first.data().id });
    expect(names(cli)).toEqual(['web']);
  });

  it('print only the name for scripts, and use the prefix and the next number', async () => {
    const cli = startCli();
    for (const name of ['job-2', 'job-07', 'jobs-9', 'job-x']) cli.tmux.call('new-session', '-d', '-s', name);
    expect(await cli.runHere(['start', '--prefix', 'job', ...IDLE])).toMatchObject({ stdout: 'job-8\n' });
    expect(await cli.runHere(['start', ...IDLE])).toMatchObject({ stdout: 'agent-1\n', status: 0 });
  });

  it('give two simultaneous callers two names', async () => {
    const cli = startCli();
    cli.tmux.call('new-session', '-d', '-s', 'other');
    const all = await Promise.all([1, 2, 3].map(() => cli.run(['start', '--prefix', 'job', ...IDLE])));
    expect(all.map(({ stdout }) => stdout.trim()).toSorted()).toEqual(['job-1', 'job-2', 'job-3']);
  });

  it('keep the last output of a program that has exited', async () => {
    const cli = startCli();
    const command = ['--', 'sh', '-c', 'echo built; echo but; exit 3'];
    expect(await cli.runHere(['start', 'build', ...command])).toMatchObject({ status: 0 });
    await vi.waitFor(async () => {
      cli.tmux.call('run-shell', 'true'); // tmux 3.3a sometimes learns of an exit only with the next one
      const seen = await cli.runHere(['capture', 'build', '--json']);
      expect(seen.data()).toMatchObject({ dead: true, exitStatus: 3, text: 'built\nbut' });
    }, WAIT);
    expect((await cli.runHere(['start', 'build'])).stderr).toContain('its program has exited');
    const { sessions } = (await cli.runHere(['list', '--json'])).data();
    expect(sessions).toMatchObject([{ name: 'build', state: 'ended', for: null, since: null }]);
  });

  it('succeed when a session is stopped twice', async () => {
    const cli = startCli();
    cli.tmux.call('new-session', '-d', '-s', 'web');
    cli.tmux.call('new-session', '-d', '-s', 'other');
    expect((await cli.runHere(['stop', 'web', '--json'])).data()).toMatchObject({ stopped: true });
    const again = await cli.runHere(['stop', 'web', '--json']);
    expect(again.status).toBe(0);
    expect(again.data()).toEqual({ host: 'here', name: 'web', stopped: false });
    expect(names(cli)).toEqual(['other']);
  });

  it('start in the current folder, or in the given one', async () => {
    const cli = startCli();
    mkdirSync(join(cli.dir, 'a b', 'c'), { recursive: true });
    const cwd = join(cli.dir, 'a b');
    const here = await cli.runHere(['start', 'x', '--json', ...IDLE], { cwd });
    const below = await cli.runHere(['start', 'y', '--json', '--dir', 'c', ...IDLE], { cwd });
    const home = await cli.runHere(['start', 'z', '--json', '--dir', '~/a b', ...IDLE], { cwd: '/' });
    expect([here, below, home].map((one) => one.data().directory)).toEqual([cwd, join(cwd, 'c'), cwd]);
  });
});

describe('start of the agent', () => {
  /** A program that is found only in the PATH of the terminal. */
  function withAgent(script: string) {
    const cli = startCli({ agents: { claude: { command: ['my-claude'] } } });
    const PATH = `${binWith(cli.dir, 'my-claude', script)}:${cli.env.PATH}`;
    return { ...cli, runHere: (args: readonly string[], env = {}) => cli.runHere(args, { env: { PATH, ...env } }) };
  }

  it.each(['start', 'new'])(
    'by %s reports the exit code and the last lines of one that quits at once',
    async (command) => {
      const cli = withAgent('echo "Invalid settings"; exit 5');
      const result = await cli.runHere([command, 'web']);
      expect(result).toMatchObject({ status: 1, stdout: '' });
      expect(result.stderr).toContain('web quit at once (exit code 5). Its last lines:\nInvalid settings');
      expect((await cli.runHere(['list', '--json'])).data().sessions).toEqual([]);
    },
  );

  it('passes the listed variables of the terminal, in no command line', async () => {
    const cli = withAgent('env > "$HOME/env"; exec sleep 1000');
    const result = await cli.runHere(['start', 'web', '--json'], { ANTHROPIC_API_KEY: 'sk-secret', OTHER: 'x' });
    expect(result.status).toBe(0);
    const env = readFileSync(join(cli.dir, 'env'), 'utf8');
    expect(env).toContain('ANTHROPIC_API_KEY=sk-secret\n');
    expect(env).not.toMatch(/^(?:OTHER|tmx_path)=/m);
    expect(cli.tmux.call('list-panes', '-a', '-F', '#{pane_start_command}')).not.toContain('sk-secret');
    const panePid = cli.tmux.call('display-message', '-p', '-t', '=web:', '#{pane_pid}');
    expect(readFileSync(`/proc/${panePid}/cmdline`, 'utf8')).toBe('sleep\u00001000\u0000');
  });

  it('starts a session that ended where it was, unless another directory or command is given', async () => {
    const cli = withAgent('printf "%s\\n" "$@" > "$HOME/args"; pwd > "$HOME/pwd"; exec sleep 1000');
    const shop = join(cli.dir, 'shop');
    mkdirSync(shop);
    const record = {
      thread: '1000000000000000001',
      host: 'here',
      socket: '',
      serverPid: 1,
      paneId: '%1',
      panePid: 1,
      sessionId: '$1',
      sessionName: 'web',
      command: 'claude',
      cwd: '/',
      claudeSession: '',
      transcript: '',
      state: 'ended',
      at: 1,
      closed: true,
      started: JSON.stringify({ directory: shop, command: ['my-claude', '--model', 'opus'] }),
    };
    mkdirSync(join(cli.root, 'threads'), { mode: 0o700 });
    writeFileSync(join(cli.root, 'threads', `${record.thread}.json`), JSON.stringify(record));
    const noted = (name: string) => readFileSync(join(cli.dir, name), 'utf8').trim().split('\n');
    await cli.runHere(['start', 'web']);
    expect([noted('pwd'), noted('args').slice(-2)]).toEqual([[shop], ['--model', 'opus']]);
    await cli.runHere(['kill', 'web']);
    await cli.runHere(['start', 'web', '--dir', '.']);
    expect([noted('pwd'), noted('args').slice(-2)]).toEqual([[cli.dir], ['--model', 'opus']]);
    await cli.runHere(['kill', 'web']);
    const other = await cli.runHere(['start', 'web', '--json', ...IDLE]);
    expect(other.data()).toMatchObject({ directory: shop, command: 'sleep' });
  });
});

describe('new and kill', () => {
  it('refuse a name that is taken, and one that does not exist', async () => {
    const cli = startCli();
    expect((await cli.runHere(['new', 'web', ...IDLE])).status).toBe(0);
    const again = await cli.runHere(['new', 'web', '--json', ...IDLE]);
    expect([again.status, again.error().code]).toEqual([1, 'session_exists']);
    expect((await cli.runHere(['kill', 'web'])).status).toBe(0);
    expect((await cli.runHere(['kill', 'web'])).status).toBe(3);
  });

  it('never end a session whose name only starts the same', async () => {
    const cli = startCli();
    for (const name of ['shop-1', 'shop-2']) cli.tmux.call('new-session', '-d', '-s', name);
    const result = await cli.runHere(['kill', 'shop']);
    expect(result.status).toBe(3);
    expect(result.stderr).toContain('shop-1, shop-2');
    for (const name of ['shop-*', '=shop-1', 'shop-1:', '@0', '%0', ''])
      expect((await cli.runHere(['kill', name])).status, name).not.toBe(0);
    expect(names(cli)).toEqual(['shop-1', 'shop-2']);
  });
});

describe('sessions', () => {
  it('says so when there are none, and prints no data', async () => {
    const cli = startCli();
    expect(await cli.runHere(['sessions'])).toMatchObject({ status: 0, stdout: '' });
    expect((await cli.runHere(['list', '--json'])).data()).toEqual({ sessions: [], unreachable: [] });
  });

  it('lists, reads and ends a session with a hostile name, and runs nothing of it', async () => {
    const cli = startCli();
    const name = `x"; touch pwned; $(touch pwned) #{pane_id} \`touch pwned\` '\u202e`;
    cli.tmux.call('new-session', '-d', '-s', name, '-c', cli.dir, 'cat');
    const told = cli.tmux.call('list-sessions', '-F', '#{session_name}');
    const list = (await cli.runHere(['sessions', '--json'])).data().sessions as { name: string; id: string }[];
    expect(list[0]?.name).toBe(told);
    expect((await cli.runHere(['sessions'])).stdout).toContain('⟨U+202E⟩');
    expect((await cli.runHere(['sessions', '--names'])).stdout).toBe('');
    expect((await cli.runHere(['capture', told, '--json'])).data().name).toBe(told);
    expect((await cli.runHere(['send', told, 'hello'])).status).toBe(0);
    await vi.waitFor(
      async () => expect((await cli.runHere(['capture', list[0]?.id ?? ''])).stdout).toContain('hello'),
      WAIT,
    );
    expect((await cli.runHere(['new', `${told}x`])).stderr).not.toContain('\u202e');
    const killed = await cli.runHere(['kill', list[0]?.id ?? '']);
    expect(killed.status).toBe(0);
    expect(killed.stderr).not.toContain('\u202e');
    expect((await cli.runHere(['list', '--json'])).data().sessions).toEqual([]);
    expect(existsSync(join(cli.dir, 'pwned'))).toBe(false);
  });

  it('finds the session by the pane a command runs in when its name is left out', async () => {
    const cli = startCli();
    cli.tmux.call('new-session', '-d', '-s', 'mine', 'echo I am mine; cat');
    cli.tmux.call('new-session', '-d', '-s', 'other', 'cat');
    const here = inside(cli, 'mine');
    await vi.waitFor(async () => expect((await cli.runHere(['capture'], here)).stdout).toContain('I am mine'), WAIT);
    expect((await cli.runHere(['attach', '--json'], here)).data()).toMatchObject({ name: 'mine' });
    expect((await cli.runHere(['stop'], here)).status).toBe(0);
    expect(names(cli)).toEqual(['other']);
    // The pane is gone with its output, and no other session is shown instead.
    expect((await cli.runHere(['stop'], here)).status).toBe(2);
    expect(names(cli)).toEqual(['other']);
  });

  it('survives a reader that has seen enough', async () => {
    const cli = startCli();
    for (let at = 0; at < 5; at++) cli.tmux.call('new-session', '-d', '-s', `s${at}`);
    const script = '"$0" "$1" sessions --json | true';
    const done = spawnSync('sh', ['-c', script, process.execPath, PROGRAM], { env: cli.env });
    expect([done.stderr.toString(), done.status]).toEqual(['', 0]);
  });
});
