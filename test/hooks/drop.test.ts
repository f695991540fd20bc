import { execFileSync, spawn } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { agentContext } from '../../agents/claude/hook-commands.ts';
import { readLetter } from '../../hooks/letter.ts';
import { filesForHosts } from '../../install/program-files.ts';
import { smallDisk } from '../support/disk.ts';
import {
  DROP,
  fixture,
  type PaneEnv,
  readIfThere,
  saidIn,
  soon,
  startMachine,
  stopInput,
  untilSaid,
} from '../support/hook-process.ts';
import { SHELLS } from '../support/shells.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTestWorkspace } from '../support/workspace.ts';
import { makeRepo } from '../support/worktree-repo.ts';

const SILENT = { status: 0, printed: '' };
const TOLD = { tmux: '/run/tmux/default,4242,0', pane: '%7' };
const PANE: PaneEnv = { TMUX: TOLD.tmux, TMUX_PANE: TOLD.pane };

describe('drop', () => {
  it('does nothing outside tmux, and prints nothing', () => {
    const machine = startMachine();
    expect(machine.drop(undefined, fixture('Stop'))).toEqual(SILENT);
    expect(machine.drop({ TMUX: '', TMUX_PANE: '%1' }, fixture('Stop'))).toEqual(SILENT);
    expect(machine.drop({ TMUX: '/s,1,0', TMUX_PANE: '' }, fixture('Stop'))).toEqual(SILENT);
    expect(readdirSync(machine.home.root)).toEqual([]);
  });

  it('writes the input of the hook into a private file', () => {
    const machine = startMachine();
    const input = { ...fixture('Stop'), last_assistant_message: "it's `$(date)` \\n %s\n\tünïcode 🧵" };
    machine.write(PANE, input, { CLAUDE_CODE_ENTRYPOINT: 'cli', CLAUDE_PROJECT_DIR: '/home/me/my shop' });
    const [letter = ''] = machine.letters();
    expect(letter).toMatch(/\/outbox\/4242\.7\/\d{9}\.\d+$/);
    expect(statSync(letter).mode & 0o777).toBe(0o600);
    const lines = readFileSync(letter, 'utf8').split('\n');
    expect(lines.slice(0, 6)).toEqual([
      'threadmux 2',
      `tmux ${PANE.TMUX}`,
      `pane ${PANE.TMUX_PANE}`,
      'entrypoint cli',
      'project /home/me/my shop',
      '',
    ]);
    expect(JSON.parse(lines.slice(6).join('\n'))).toEqual(input);
    expect(readdirSync(join(letter, '..'))).toHaveLength(1);
  });

  it.each(SHELLS)('prints one line, and only when an interactive session starts, under %s', (_, ...shell) => {
    const machine = startMachine();
    const options = { shell, withoutNode: true };
    const start = fixture('SessionStart');
    expect(machine.drop(PANE, start, options)).toEqual(SILENT);
    writeFileSync(machine.home.path('agent-context'), agentContext(true));
    const told = { status: 0, printed: agentContext(true) };
    expect(machine.drop(PANE, start, options)).toEqual(told);
    expect(machine.drop(PANE, start, { ...options, env: { CLAUDE_CODE_ENTRYPOINT: 'cli' } })).toEqual(told);
    expect(machine.drop(PANE, start, { ...options, env: { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' } })).toEqual(SILENT);
    expect(machine.drop(undefined, start, options)).toEqual(SILENT);
    const quoted = '{"hook_event_name":"SessionStart"}';
    expect(machine.drop(PANE, { ...fixture('UserPromptSubmit'), prompt: quoted }, options)).toEqual(SILENT);
    expect(machine.drop(PANE, fixture('Stop'), options)).toEqual(SILENT);
    writeFileSync(machine.home.path('agent-context'), agentContext(false));
    expect(machine.drop(PANE, start, options)).toEqual(SILENT);
    expect(machine.letters()).toHaveLength(7);
  });

  it('is told by the courier what to print, unless the user does not want it', async () => {
    const workspace = await startTestWorkspace();
    for (const tellAgent of [true, false]) {
      const machine = startMachine(workspace, { config: { tellAgent } });
      machine.courier();
      await soon(() => expect(readIfThere(machine.home.path('agent-context'))).toBe(agentContext(tellAgent)));
      const { printed } = machine.drop(PANE, fixture('SessionStart'), { withoutNode: true });
      expect(printed).toEqual(tellAgent ? expect.stringContaining('[ATTACH: path]') : '');
      expect(filesForHosts('laptop', tellAgent)['agent-context']).toBe(agentContext(tellAgent));
    }
  });

  it.each(SHELLS)('keeps every byte of a letter of 1 MB under %s', (_, ...shell) => {
    const machine = startMachine();
    const input = JSON.stringify(stopInput('ä\\n"x" %d '.repeat(70_000)));
    expect(machine.drop(PANE, input, { shell, withoutNode: true })).toEqual(SILENT);
    const [letter = ''] = machine.letters();
    const text = readFileSync(letter, 'utf8');
    expect(text.slice(text.indexOf('\n\n') + 2)).toBe(`${input}\n`);
  });

  it.each(SHELLS)('keeps a header on one line under %s, whatever it contains', (_, ...shell) => {
    const machine = startMachine();
    const env = { CLAUDE_PROJECT_DIR: '/a\nask x\n\n{"b": \\n %s', CLAUDE_CODE_ENTRYPOINT: '', ask: 'x' };
    expect(machine.drop(PANE, stopInput('x'), { shell, withoutNode: true, env })).toEqual(SILENT);
    const [letter = ''] = machine.letters();
    expect(readLetter(letter)).toMatchObject({
      kind: 'letter',
      letter: { ...TOLD, project: '/aask x{"b": \\n %s', entrypoint: '', event: { event: 'idle', text: 'x' } },
    });
    expect(readFileSync(letter, 'utf8')).not.toContain('entrypoint');
  });

  it('finds the server of a socket whose path contains commas', () => {
    const machine = startMachine();
    machine.write({ TMUX: '/tmp/a,b/s,99,3', TMUX_PANE: '%2' }, fixture('Stop'));
    expect(machine.letters()).toEqual([expect.stringContaining('/outbox/99.2/')]);
  });

  it('does not touch the outbox if TMUX is malformed', () => {
    const machine = startMachine();
    expect(machine.drop({ TMUX: 'nonsense', TMUX_PANE: '%1' }, fixture('Stop'))).toEqual(SILENT);
    expect(machine.drop({ TMUX: '/s,1,0', TMUX_PANE: '%../x' }, fixture('Stop'))).toEqual(SILENT);
    expect(readdirSync(machine.home.root)).toEqual([]);
  });

  it('keeps the order of writing when the clock goes backwards', () => {
    const machine = startMachine();
    for (let n = 0; n < 12; n++) {
      machine.write(PANE, stopInput(`reply ${n}`));
      const newest = machine.letters().at(-1) ?? '';
      utimesSync(newest, 2_000_000_000 - n * 86_400, 2_000_000_000 - n * 86_400);
    }
    // Ordered by number, because pids are reused.
    const numbers = machine.letters().map((path) => Number(path.match(/(\d+)\.\d+$/)?.[1]));
    expect(numbers).toEqual(numbers.map((_, n) => (numbers[0] ?? 0) + n));
    const texts = machine.letters().map((path) => readFileSync(path, 'utf8'));
    expect(texts.map((text) => text.match(/reply \d+/)?.[0])).toEqual(
      Array.from({ length: 12 }, (_, n) => `reply ${n}`),
    );
  });

  it('loses none of many simultaneous letters, and later ones stay behind them', async () => {
    const machine = startMachine();
    const env = { ...machine.env, ...PANE, PATH: machine.pathWithoutNode };
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => {
        const child = spawn(DROP, { env, stdio: ['pipe', 'ignore', 'ignore'] });
        child.stdin.end(JSON.stringify(stopInput(`early ${n}.`)));
        return new Promise((resolve) => child.once('exit', resolve));
      }),
    );
    machine.write(PANE, stopInput('late'));
    const texts = machine.letters().map((path) => readFileSync(path, 'utf8'));
    expect(new Set(texts.map((text) => text.match(/early \d+|late/)?.[0])).size).toBe(41);
    expect(texts.at(-1)).toContain('"late"');
  });

  it('prints nothing when there is no home to write to', () => {
    const machine = startMachine();
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    for (const home of [file, join(file, 'below')])
      expect(machine.drop(PANE, fixture('Stop'), { env: { THREADMUX_HOME: home }, withoutNode: true })).toEqual(SILENT);
  });

  it('closes its pipes at once, while the courier continues', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    const child = spawn(DROP, { env: { ...machine.env, ...pane }, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.end(JSON.stringify(stopInput('hello')));
    const printed: Buffer[] = [];
    child.stdout.on('data', (data) => printed.push(data));
    child.stderr.on('data', (data) => printed.push(data));
    await new Promise((resolve) => child.once('close', resolve));
    // Nothing can have been delivered yet, so the pipes did not wait for it.
    expect(await saidIn(workspace, '[agent] web')).toEqual([]);
    expect(Buffer.concat(printed).toString()).toBe('');
    await untilSaid(workspace, '[agent] web', ['hello']);
    expect(machine.courierPid()).toBeGreaterThan(0);
  });

  it('keeps the letter while Node.js is missing, and the next courier delivers it first', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    expect(machine.drop(pane, stopInput('first'), { withoutNode: true })).toEqual(SILENT);
    expect(machine.courierPid()).toBeUndefined();
    // The path that `install` recorded may be gone too.
    writeFileSync(join(machine.home.folder('state'), 'node'), '/gone/bin/node\n');
    expect(machine.drop(pane, stopInput('second'), { withoutNode: true })).toEqual(SILENT);
    machine.drop(pane, stopInput('third'));
    await untilSaid(workspace, '[agent] web', ['first', 'second', 'third']);
    await soon(() => expect(machine.letters()).toEqual([]));
  });

  it('uses the recorded Node.js when PATH has none', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    writeFileSync(join(machine.home.folder('state'), 'node'), `${process.execPath}\n`);
    machine.drop(pane, stopInput('hello'), { withoutNode: true });
    await vi.waitFor(() => expect(machine.courierPid()).toBeGreaterThan(0), 20_000);
  });

  it('does not mistake a process with the pid of a dead courier for a courier', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const path = join(machine.home.folder('state'), 'courier.pid');
    writeFileSync(path, `${process.pid}\n`);
    utimesSync(path, 1_000_000_000, 1_000_000_000);
    machine.drop(machine.session('web'), stopInput('after the reboot'));
    await untilSaid(workspace, '[agent] web', ['after the reboot']);
  });

  it('passes the letter to the courier when the outbox is not writable, and it is posted once', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    writeFileSync(machine.home.path('outbox'), 'in the way');
    expect(machine.drop(pane, stopInput('by hand'))).toEqual(SILENT);
    await untilSaid(workspace, '[agent] web', ['by hand'], 20_000);
  });

  it('delivers a reply once even if the disk is full', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    for (const folder of ['outbox', 'log', 'threads', 'status'] as const) machine.home.folder(folder);
    // No file may grow, so every write of the hook and of its courier fails like on a full disk.
    const full = ['sh', '-c', 'trap "" XFSZ; ulimit -f 0; exec "$0"'];
    expect(machine.drop(pane, stopInput('no room'), { shell: full })).toEqual(SILENT);
    await untilSaid(workspace, '[agent] web', ['no room'], 20_000);
    expect(machine.letters()).toEqual([]);
  });
});

describe('drop in a home with a bell, on a host that is collected over ssh,', () => {
  /** A machine with Node.js in PATH, so that a courier would start, and a reader of the bell. */
  function startHost(root?: string) {
    const machine = startMachine();
    const home = root ?? machine.home.root;
    execFileSync('mkfifo', [join(home, 'bell')]);
    const env = { THREADMUX_HOME: home };
    return { machine, home, env };
  }

  it.each(SHELLS)('rings the bell under %s, with or without a listener, and starts no courier', async (_, ...shell) => {
    const { machine, home, env } = startHost();
    expect(machine.drop(PANE, stopInput('nobody listens'), { shell, env })).toEqual(SILENT);
    const waiter = spawn('sh', [
      '-c',
      'exec 3<> "$1"; echo up; read -r ring <&3 && echo rung',
      'sh',
      join(home, 'bell'),
    ]);
    let said = '';
    waiter.stdout.on('data', (data) => {
      said += data;
    });
    await soon(() => expect(said).toBe('up\n'));
    expect(machine.drop(PANE, stopInput('heard'), { shell, env })).toEqual(SILENT);
    await soon(() => expect(said).toBe('up\nrung\n'));
    expect(machine.letters().length).toBe(2);
    expect(readdirSync(home).sort()).toEqual(['bell', 'outbox']); // a courier would have created its state
    expect(machine.courierPid()).toBeUndefined();
  });

  it.each(SHELLS)(
    'keeps a letter in memory under %s while the disk is full, with every stream closed',
    async (_, ...shell) => {
      const disk = smallDisk();
      const { machine, home, env } = startHost(disk.dir);
      disk.fill();
      expect(machine.drop(PANE, stopInput('waits for room'), { shell, env })).toEqual(SILENT);
      const box = join(home, 'outbox', '4242.7');
      const letters = () =>
        readdirSync(box)
          .filter((name) => /^\d/.test(name))
          .map((name) => readFileSync(join(box, name), 'utf8'));
      expect(letters()).toEqual(['']); // its place before later ones
      disk.free();
      await soon(() => expect(letters()).toEqual([expect.stringContaining('waits for room')]));
      expect(machine.courierPid()).toBeUndefined();
    },
  );

  it.each(SHELLS)('adds the status line and the end of the transcript to a reply under %s', (_, ...shell) => {
    const { machine, env } = startHost();
    const input = { ...stopInput('ü "x"'), session_id: 's-1' };
    const path = join(tempFolder(), "my transcript's *");
    const data = Buffer.alloc(200_001, 'ä\0\nthreadmux-transcript 1 2 3\n');
    writeFileSync(path, data);
    writeFileSync(join(machine.home.folder('status'), 's-1.json'), '{"model":\n "ü"}\n');
    machine.drop(PANE, { ...input, transcript_path: path }, { shell, env });
    const [first = ''] = machine.letters();
    const from = 2 * 32_768;
    const { ino: id } = statSync(path, { bigint: true });
    expect(readLetter(first)).toMatchObject({
      letter: {
        ...TOLD,
        status: '{"model": "ü"}',
        transcript: { id: String(id), size: data.length, from, bytes: data.subarray(from) },
      },
    });
    // Letters stay small while they pile up because nobody collects them.
    machine.drop(PANE, { ...input, transcript_path: path }, { shell, env });
    expect(statSync(machine.letters()[1] ?? '').size).toBeLessThan(1_000);
  });

  it.each(SHELLS)('adds the branch to a reply under %s, in a repository, a worktree and without one', (_, ...shell) => {
    const { machine, env } = startHost();
    const repo = makeRepo(join(realpathSync(tempFolder()), "it's *mine*"));
    const told = (cwd: string) => {
      for (const letter of machine.letters()) rmSync(letter);
      machine.drop(PANE, { ...stopInput('done'), cwd }, { shell, env });
      const reading = readLetter(machine.letters()[0] ?? '');
      return reading.kind === 'letter' ? reading.letter.branch : reading;
    };
    expect(told(join(repo.path, 'sub'))).toBe('main');
    const tree = join(tempFolder(), 'tree');
    repo.git('worktree', 'add', '-q', '-b', 'feature/ünder-$(id)', tree);
    expect(told(tree)).toBe('feature/ünder-$(id)');
    repo.git('checkout', '-q', '--detach');
    expect(told(repo.path)).toBe(repo.git('rev-parse', 'HEAD').slice(0, 7));
    expect([told(tempFolder()), told('/'), told('relative'), told('/a\\b')]).toEqual(Array(4).fill(undefined));
  });

  it.each(SHELLS)('reads only the beginning of a huge HEAD or .git under %s, and the reply arrives', (_, ...shell) => {
    const { machine, env } = startHost();
    const [cwd, other] = [tempFolder(), tempFolder()];
    mkdirSync(join(cwd, '.git'));
    writeFileSync(join(cwd, '.git', 'HEAD'), `ref: refs/heads/${'b'.repeat(3_000_000)}\n`);
    writeFileSync(join(other, '.git'), `gitdir: /${'g'.repeat(3_000_000)}\n`);
    const began = Date.now();
    for (const one of [cwd, other]) machine.drop(PANE, { ...stopInput('done'), cwd: one }, { shell, env });
    expect(Date.now() - began).toBeLessThan(5_000); // each took as long as ten seconds
    const [first, second] = machine.letters().map((letter) => readLetter(letter));
    expect(first).toMatchObject({ letter: { branch: 'b'.repeat(250) } });
    expect(second).toMatchObject({ kind: 'letter' });
  });

  it.each([
    ['the transcript is missing', { transcript_path: '/nowhere/at/all' }],
    ['its path is none', { transcript_path: 'relative' }],
    ['its path has an escape', { transcript_path: '/a\\b' }],
    ['it is a folder', { transcript_path: '/' }],
    ['nothing names it', { transcript_path: undefined }],
  ])('sends only the reply if %s', (_, more) => {
    const { machine, env } = startHost();
    machine.drop(PANE, { ...stopInput('alone'), ...more }, { env });
    const [letter = ''] = machine.letters();
    expect(readFileSync(letter, 'utf8')).toMatch(/^status none$/m);
    expect(readFileSync(letter, 'utf8')).not.toContain('threadmux-transcript');
  });

  it('sends only the reply if the disk has no space for the transcript', () => {
    const disk = smallDisk();
    const { machine, home, env } = startHost(disk.dir);
    const path = join(tempFolder(), 'transcript');
    writeFileSync(path, Buffer.alloc(200_000, 'x'));
    mkdirSync(join(home, 'outbox', '4242.7'), { recursive: true });
    disk.fill();
    truncateSync(join(disk.dir, 'ballast'), statSync(join(disk.dir, 'ballast')).size - 65_536);
    machine.drop(PANE, { ...stopInput('alone'), transcript_path: path }, { env });
    const [name = ''] = readdirSync(join(home, 'outbox', '4242.7'));
    const text = readFileSync(join(home, 'outbox', '4242.7', name), 'utf8');
    expect([name[0], text.includes('alone'), text.length < 1_000]).toEqual(['1', true, true]);
  });

  it('adds nothing to anything but a reply', () => {
    const { machine, env } = startHost();
    machine.drop(PANE, fixture('UserPromptSubmit'), { env });
    expect(readFileSync(machine.letters()[0] ?? '', 'utf8')).not.toMatch(/^status /m);
  });

  it.each(SHELLS)('does not fail under %s where it cannot even reserve its place', (_, ...shell) => {
    const { machine, home, env } = startHost();
    writeFileSync(join(home, 'outbox'), 'in the way');
    expect(machine.drop(PANE, stopInput('no room'), { shell, env })).toEqual(SILENT);
  });
});
