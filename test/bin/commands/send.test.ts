import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { nextMark } from '../../../bin/acts/type-text.ts';
import { writeJson } from '../../../home/atomic-write.ts';
import { tryLock } from '../../../home/lock.ts';
import { shareAmongTests } from '../../support/at-end.ts';
import { startFakeClaude } from '../../support/fake-claude.ts';
import { type Machine, startMachine } from '../../support/hook-process.ts';
import { startRawPane } from '../../support/tmux-server.ts';
import { startTestWorkspace } from '../../support/workspace.ts';
import { binWith, type Cli, PROGRAM, type RunOptions, startCli, WAIT } from '../cli.ts';

const NOW = ['--wait', '0'];

/** A machine with hooks, and the fake Claude Code in session "web", which is idle at the end of every test. */
const shared = shareAmongTests(async () => {
  const machine = startMachine(await startTestWorkspace(), { host: 'here' });
  const claude = await startFakeClaude(machine, 'web', { replies: false });
  return { machine, claude, ...commandsOn(machine) };
});

function commandsOn(machine: Machine) {
  const cli = startCli();
  const env = { THREADMUX_HOME: machine.home.root, THREADMUX_TMUX_SOCKET: machine.tmux.socket };
  const at = (options: RunOptions = {}) => ({ ...options, env: { ...env, ...options.env } });
  const run: Cli['run'] = (args, options) => cli.run(args, at(options));
  const runHere: Cli['runHere'] = (args, options) => cli.runHere(args, at(options));
  return { run, runHere };
}

describe('send', () => {
  it('submits a text from its arguments or from stdin, several lines as one message', async () => {
    const { run, claude } = shared();
    expect(await run(['send', 'web', 'run', 'the tests'])).toMatchObject({ status: 0, stdout: '' });
    const json = await run(['send', 'web', '--json'], { input: 'two\r\nlines\x1b[201~\n' });
    expect(json.data()).toEqual({ host: 'here', name: 'web', outcome: 'typed', because: null });
    expect((await run(['send', 'web', '--', '--help', 'me'])).status).toBe(0);
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['run the tests', 'two\nlines[201~', '--help me']));
  });

  it('prevents Claude Code from interpreting the text', async () => {
    const { run, claude } = shared();
    const before = claude.prompts().length;
    expect((await run(['send', 'web', '!rm -rf x'])).status).toBe(0);
    await vi.waitFor(() =>
      expect(
        claude
          .prompts()
          .slice(before)
          .map((one) => one.trim()),
      ).toEqual(['!rm -rf x']),
    );
    expect(claude.noted().filter(({ kind }) => kind === 'shell')).toEqual([]);
  });

  it('types nothing into a dialog, and says why', async () => {
    const { run, claude } = shared();
    const before = claude.noted();
    await claude.tell('dialog', 'rm -rf /');
    onTestFinished(async () => void (await claude.tell('close')));
    const result = await run(['send', 'web', 'yes please', '--json', ...NOW]);
    expect(result.status).toBe(1);
    expect(result.data()).toMatchObject({ outcome: 'refused', because: expect.stringContaining('Claude') });
    expect((await run(['send', 'web', 'yes', ...NOW])).stderr).toContain('Nothing was typed into web');
    expect(claude.noted()).toEqual(before);
  });

  it('waits for the dialog to close if it is given a timeout', async () => {
    const { run, claude } = shared();
    const before = claude.noted();
    await claude.tell('dialog', 'rm -rf /');
    const sending = run(['send', 'web', 'later', '--wait', '20']);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(claude.noted()).toEqual(before);
    await claude.tell('close');
    expect((await sending).status).toBe(0);
    await vi.waitFor(() => expect(claude.noted().slice(before.length)).toEqual([{ kind: 'prompt', text: 'later' }]));
  });

  it('waits behind messages that the bridge still has for the session', async () => {
    const { run, claude, machine } = shared();
    const before = claude.prompts();
    const release = tryLock(join(machine.home.folder('state'), 'bridge.lock'));
    const message = {
      id: '1234567890123456789',
      channelId: claude.thread,
      authorId: '1',
      author: 'a',
      text: 'x',
      attachments: [],
    };
    writeJson(join(machine.home.folder('inbox'), `${message.id}.json`), message);
    expect((await run(['send', 'web', 'me first', ...NOW])).stderr).toContain('is being typed into that pane');
    expect(claude.prompts()).toEqual(before);
    release?.();
    expect((await run(['send', 'web', 'nobody there', ...NOW])).status).toBe(0);
  });

  it('marks the pane so that no waiting message counts as typed', () => {
    expect(nextMark({ typed: { text: undefined, enter: undefined } })).toBe('1');
    const typed = { text: '01234567890123456789', enter: '01234567890123456788' };
    expect(nextMark({ typed })).toBe('1234567890123456790');
  });

  it('types a command line into a shell unchanged', async () => {
    const cli = startCli();
    cli.tmux.call('new-session', '-d', '-s', 'sh', '-c', cli.dir, 'sh');
    expect((await cli.runHere(['send', 'sh', 'echo !1 > said'])).status).toBe(0);
    await vi.waitFor(() => expect(readFileSync(join(cli.dir, 'said'), 'utf8')).toBe('!1\n'));
  });

  it('refuses copy mode, a dead pane and its own pane', async () => {
    const cli = startCli();
    const pane = await startRawPane(cli.tmux, 'raw');
    cli.tmux.call('copy-mode', '-t', '=raw:');
    expect((await cli.runHere(['send', 'raw', 'seen'])).status).toBe(0);
    await vi.waitFor(() => expect(pane.received().toString()).toContain('seen'));

    const [TMUX = '', TMUX_PANE = ''] = cli.tmux
      .call('display-message', '-p', '-t', '=raw:', '#{socket_path},#{pid},0 #{pane_id}')
      .split(' ');
    const own = await cli.runHere(['send', '--', 'hello'], { env: { TMUX, TMUX_PANE } });
    expect(own).toMatchObject({ status: 1, stderr: expect.stringContaining('is running in that pane') });

    cli.tmux.call('new-session', '-d', '-s', 'dead', 'true', ';', 'set', '-p', 'remain-on-exit', 'on');
    await vi.waitFor(
      async () =>
        expect(await cli.runHere(['send', 'dead', 'hello', ...NOW])).toMatchObject({
          status: 1,
          stderr: expect.stringContaining('has ended'),
        }),
      WAIT,
    );
    expect(pane.received().toString()).not.toContain('hello');
  });
});

describe('capture', () => {
  it('prints the last lines, 1,000 by default, and says how many it left out', async () => {
    const cli = startCli();
    const script = 'i=1; while [ $i -le 300 ]; do echo line $i; i=$((i + 1)); done; cat';
    cli.tmux.call('new-session', '-d', '-s', 'long', '-x', '80', '-y', '20', script);
    await vi.waitFor(async () => expect((await cli.runHere(['capture', 'long'])).stdout).toContain('line 300'), WAIT);
    const [screen, some, all, json] = await Promise.all([
      cli.runHere(['capture', 'long']),
      cli.runHere(['capture', 'long', '-n', '3']),
      cli.runHere(['capture', 'long', '-n', '999999999']),
      cli.runHere(['capture', 'long', '-n', '25', '--json']),
    ]);
    expect(screen.stdout.split('\n').slice(0, 2)).toEqual(['line 1', 'line 2']);
    expect(some.stdout).toBe('[… 297 earlier lines omitted]\nline 298\nline 299\nline 300\n');
    expect(all.stdout.split('\n').slice(0, 1)).toEqual(['line 1']);
    expect(json.data()).toMatchObject({ lines: 25, truncated: true, omittedLines: 275, dead: false });
  });
});

describe('capture of an agent', () => {
  it('shows its pane, and the other pane of the session when that one is closed', async () => {
    const { runHere, machine } = shared();
    machine.tmux.call('split-window', '-t', '=web:', 'echo beside; cat');
    expect((await runHere(['capture', 'web'])).stdout).not.toContain('beside');
    machine.tmux.call('kill-pane', '-a', '-t', '=web:');
    await vi.waitFor(async () => expect((await runHere(['capture', 'web'])).stdout).toContain('beside'), WAIT);
  });
});

describe('attach', () => {
  it('opens only the named session, in the current terminal', async () => {
    const cli = startCli();
    const terminal = startCli();
    for (const name of ['web', 'web-2']) cli.tmux.call('new-session', '-d', '-s', name, 'cat');
    const { command } = (await cli.runHere(['attach', 'web', '--json'])).data();
    expect(command).toEqual(['tmux', '-u', '-S', cli.tmux.socket, 'attach-session', '-t', '$0']);
    const variables = Object.entries(cli.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    terminal.tmux.call('new-session', '-d', '-s', 't', ...variables, process.execPath, PROGRAM, 'attach', 'web');
    await vi.waitFor(() => {
      const clients = cli.tmux.call('list-clients', '-F', '#{session_name}');
      expect(clients).toBe('web');
    }, WAIT);
    cli.tmux.call('detach-client', '-s', '=web');
    await vi.waitFor(() => expect(() => terminal.tmux.call('list-sessions')).toThrow(), WAIT);
  });

  it('connects to no server whose path another user took after the session was found', async () => {
    const cli = startCli();
    const terminal = startCli();
    const shared = join(cli.dir, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    const socket = join(shared, 's');
    const attached = join(cli.dir, 'attached');
    const real = execFileSync('sh', ['-c', 'command -v tmux'], { encoding: 'utf8' }).trim();
    execFileSync(real, ['-S', socket, 'new-session', '-d', '-s', 'web', 'cat']);
    onTestFinished(() => void spawnSync(real, ['-S', `${socket}.own`, 'kill-server']));
    const swap = `mv '${socket}' '${socket}.own'; ln -s s.own '${socket}'`;
    const script = `case "$*" in
      *attach-session*) touch '${attached}' ;;
      *list-sessions*) '${real}' "$@"; ${swap} ;;
      *) exec '${real}' "$@" ;; esac`;
    const PATH = `${binWith(cli.dir, 'tmux', script)}:${cli.env.PATH}`;
    const env = { ...cli.env, THREADMUX_TMUX_SOCKET: socket };
    const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const shell = `PATH='${PATH}' ${process.execPath} ${PROGRAM} attach web 2> '${cli.dir}/said'`; // tmux sets its own PATH
    terminal.tmux.call('new-session', '-d', '-s', 't', ...variables, shell);
    await vi.waitFor(() => expect(() => terminal.tmux.call('list-sessions')).toThrow(), WAIT);
    expect(existsSync(attached)).toBe(false);
    expect(readFileSync(join(cli.dir, 'said'), 'utf8')).toContain('belongs to another user');
  });

  it('inside tmux, switches the terminal that it was called in', async () => {
    const cli = startCli();
    const terminals = startCli();
    const variables = Object.entries(cli.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    for (const name of ['here', 'other']) cli.tmux.call('new-session', '-d', '-s', name, ...variables, 'sh');
    cli.tmux.call('new-session', '-d', '-s', 'web', 'cat');
    const shown = () => cli.tmux.call('list-clients', '-F', '#{session_name}').split('\n').sort();
    for (const name of ['here', 'other']) {
      terminals.tmux.call('new-session', '-d', '-s', name, `tmux -S '${cli.tmux.socket}' attach-session -t '=${name}'`);
      await vi.waitFor(() => expect(shown()).toContain(name), WAIT);
    }
    // Somebody types in the other terminal meanwhile: without knowing its own, tmux would take that one.
    terminals.tmux.call('send-keys', '-t', '=other:', 'x');
    cli.tmux.call('send-keys', '-t', '=here:', `'${process.execPath}' '${PROGRAM}' attach web`, 'Enter');
    await vi.waitFor(() => expect(shown()).toEqual(['other', 'web']), WAIT);
  });

  it('switches inside the same server instead of nesting, and needs a terminal', async () => {
    const cli = startCli();
    cli.tmux.call('new-session', '-d', '-s', 'web', 'cat');
    const TMUX = cli.tmux.call('display-message', '-p', '#{socket_path},#{pid},0');
    const inside = await cli.runHere(['attach', 'web', '--json'], { env: { TMUX, TMUX_PANE: '%0' } });
    expect(inside.data().command).toContain('switch-client');
    expect(await cli.runHere(['attach', 'web'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('needs a terminal'),
    });
  });
});
