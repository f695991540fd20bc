import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Letter, readLetter } from '../../hooks/letter.ts';
import { ASK, fixture, type Machine, startMachine } from '../support/hook-process.ts';
import { SHELLS } from '../support/shells.ts';
import { tempFolder } from '../support/temp-home.ts';

const PANE = { TMUX: '/run/tmux/default,4242,0', TMUX_PANE: '%7', CLAUDE_CODE_ENTRYPOINT: 'cli' };
const HEADLESS = { THREADMUX_THREAD: '1234567890', CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' };
const NOTHING = { status: 0, stdout: '', stderr: '' };
const input = fixture('PermissionRequest.Bash');
const event = { event: 'asked', tool: 'Bash', input: input.tool_input };
const soon = <T>(look: () => T) => vi.waitFor(look, 15_000);

interface Asking {
  readonly child: ChildProcess;
  readonly done: Promise<{ status: number | null; stdout: string; stderr: string }>;
  letter(): Promise<Letter>;
}

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly told?: unknown;
  /** The parent process of `ask`. */
  readonly parent?: readonly string[];
}

function ask(machine: Machine, shell: readonly string[], options: Options = {}): Asking {
  const { env = PANE, told = input, parent = [] } = options;
  const words = [...parent, ...shell, ASK];
  const known = new Set(machine.letters());
  const child = spawn(words[0] ?? '', words.slice(1), {
    env: { ...machine.env, PATH: machine.pathWithoutNode, ...env },
    stdio: 'pipe',
    detached: true,
  });
  onTestFinished(() => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL');
    } catch {
      // All have exited, as they should.
    }
  });
  child.stdin.end(JSON.stringify(told));
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (data) => {
      printed[name] += data;
    });
  return {
    child,
    done: new Promise((resolve) => child.once('close', (status) => resolve({ status, ...printed }))),
    letter: () =>
      soon(() => {
        const path = machine.letters().find((one) => !known.has(one)) ?? '';
        const reading = readLetter(path);
        if (reading.kind !== 'letter') throw new Error(reading.kind);
        return reading.letter;
      }),
  };
}

const answers = (machine: Machine, ...name: readonly string[]) => machine.home.path('answers', ...name);

/** Rings like the bridge; false if nobody waits. */
function ring(machine: Machine, id = ''): boolean {
  try {
    const bell = openSync(answers(machine, `${id}.bell`), constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(bell, '\n');
    closeSync(bell);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENXIO') return false;
    throw error;
  }
}

function answer(machine: Machine, id = '', text = ''): void {
  writeFileSync(answers(machine, '.new'), text);
  renameSync(answers(machine, '.new'), answers(machine, id));
  expect(ring(machine, id)).toBe(true);
}

/** `ask` and its children, which are all in its process group. */
function running({ child }: Asking): readonly string[] {
  const all = execFileSync('ps', ['-A', '-o', 'pgid=,stat=,args='], { encoding: 'utf8' });
  const [group, lines] = [`${child.pid}`, all.split('\n').map((line) => line.trim())];
  return lines.filter((line) => line.split(/\s+/)[0] === group && !/^\d+\s+Z/.test(line));
}

const untilRunning = (asking: Asking, count: number) => soon(() => expect(running(asking)).toHaveLength(count));

/** The usual tools, with another `sleep`. */
function withSleep(machine: Machine, script: string): string {
  const path = tempFolder();
  for (const tool of readdirSync(machine.pathWithoutNode))
    if (tool !== 'sleep') symlinkSync(join(machine.pathWithoutNode, tool), join(path, tool));
  writeFileSync(join(path, 'sleep'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

/** A `sleep` that returns at once and counts. */
function countedSleep(machine: Machine): { path: string; naps(): number } {
  const log = join(tempFolder(), 'naps');
  const path = withSleep(machine, `echo "$1" >> ${log}`);
  return { path, naps: () => readFileSync(log, 'utf8').split('5\n').length - 1 };
}

/** Polls ten times as often as normal. */
const hurried = (machine: Machine) => ({ ...PANE, PATH: withSleep(machine, `exec ${realpathSync('/bin/sleep')} 0.5`) });

/** Replaces Node.js with this script, so no courier starts. */
function fakeNode(machine: Machine, script: string): void {
  const path = join(tempFolder(), 'node');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  writeFileSync(join(machine.home.folder('state'), 'node'), `${path}\n`);
}

describe.each(SHELLS)('ask under %s', (_, ...shell) => {
  it('writes the prompt as a letter that contains what it waits for', async () => {
    const machine = startMachine();
    const asking = ask(machine, shell);
    const letter = await asking.letter();
    expect(letter).toMatchObject({
      tmux: PANE.TMUX,
      pane: '%7',
      entrypoint: 'cli',
      asker: asking.child.pid,
      event,
    });
    expect(letter.thread).toBeUndefined();
    expect(letter.ask).toMatch(/^[0-9a-f]{32}$/);
    expect(machine.letters()).toEqual([expect.stringMatching(/\/outbox\/4242\.7\/\d{9}\.\d+$/)]);
    expect(statSync(answers(machine)).mode & 0o777).toBe(0o700);
    expect(readdirSync(answers(machine))).toEqual([`${letter.ask}.bell`]);
    answer(machine, letter.ask, 'yes');
    expect(await asking.done).toEqual({ ...NOTHING, stdout: 'yes' });
  });

  it.each([
    ['quotes and backslashes', `{"a": "it's \\"so\\" \\\\n %s $(x) \`y\`"}\n`],
    ['several lines, the last without an end', '\n\na\n\tb\nc'],
    ['200 kB', '{"text": "ä\\n"}'.repeat(12_000)],
  ])('prints an answer with %s unchanged, once', async (__, text) => {
    const machine = startMachine();
    const asking = ask(machine, shell);
    const { ask: id } = await asking.letter();
    expect(ring(machine, id)).toBe(true); // without an answer
    answer(machine, id, text);
    expect(await asking.done).toEqual({ ...NOTHING, stdout: text });
    expect(readdirSync(answers(machine))).toEqual([`${id}.taken`]);
    await untilRunning(asking, 0);
  });

  it('exits silently when the answer is empty', async () => {
    const machine = startMachine();
    const asking = ask(machine, shell);
    const { ask: id } = await asking.letter();
    answer(machine, id);
    expect(await asking.done).toEqual(NOTHING);
    expect(readdirSync(answers(machine))).toEqual([`${id}.taken`]);
  });

  it.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)('exits on %s, with nothing left behind', async (signal) => {
    const machine = startMachine();
    const asking = ask(machine, shell);
    await asking.letter();
    await untilRunning(asking, 3); // `ask`, its watcher, and the watcher's `sleep`
    asking.child.kill(signal);
    expect(await asking.done).toEqual(NOTHING);
    expect(readdirSync(answers(machine))).toEqual([]);
    await untilRunning(asking, 0);
  });

  it('exits when its parent was killed', async () => {
    const machine = startMachine();
    const parent = ['dash', '-c', '"$@"; exit 9', 'claude'];
    const asking = ask(machine, shell, { parent, env: hurried(machine) });
    const { ask: id } = await asking.letter();
    asking.child.kill('SIGKILL');
    expect(ring(machine, id)).toBe(true);
    expect(await asking.done).toMatchObject({ stdout: '', stderr: '' });
    await untilRunning(asking, 0);
    expect(readdirSync(answers(machine))).toEqual([]);
  });

  it('is seen to be gone when it was killed, even while its courier works', async () => {
    const machine = startMachine();
    fakeNode(machine, 'exec /bin/sleep 600');
    const asking = ask(machine, shell, { env: hurried(machine) });
    const { ask: id } = await asking.letter();
    // The courier, and the watcher of `ask` with its `sleep`.
    await untilRunning(asking, 4);
    expect(ring(machine, id)).toBe(true);
    asking.child.kill('SIGKILL');
    await asking.done; // no other process holds its pipes
    expect(existsSync(answers(machine, `${id}.bell`))).toBe(true);
    expect(ring(machine, id)).toBe(false);
    await untilRunning(asking, 1);
  });

  it('never takes the answer of another prompt', async () => {
    const machine = startMachine();
    const asking = [];
    for (let n = 0; n < 4; n++) {
      const one = ask(machine, shell);
      asking.push({ ...one, id: (await one.letter()).ask });
    }
    for (const { id } of asking.toReversed()) {
      writeFileSync(answers(machine, '.new'), `for ${id}`);
      renameSync(answers(machine, '.new'), answers(machine, id ?? ''));
      for (const other of asking) if (existsSync(answers(machine, `${other.id}.bell`))) ring(machine, other.id);
    }
    for (const { id, done } of asking) expect(await done).toEqual({ ...NOTHING, stdout: `for ${id}` });
  });

  it('takes no answer that was withdrawn before', async () => {
    const machine = startMachine();
    const asking = ask(machine, shell);
    const { ask: id = '' } = await asking.letter();
    writeFileSync(answers(machine, id), 'no');
    renameSync(answers(machine, id), answers(machine, `${id}.back`));
    expect(ring(machine, id)).toBe(true);
    answer(machine, id, 'yes');
    expect(await asking.done).toEqual({ ...NOTHING, stdout: 'yes' });
  });

  it('gets its answer even if the disk is full', async () => {
    const machine = startMachine();
    for (const folder of ['outbox', 'answers'] as const) machine.home.folder(folder);
    const letter = join(tempFolder(), 'letter');
    fakeNode(machine, `[ "$2" = --unsaved ] || exit; ulimit -S -f unlimited; cat > ${letter}`);
    // No file may grow, so every write of the hook fails like on a full disk.
    const full = ['dash', '-c', 'trap "" XFSZ; ulimit -S -f 0; exec "$@"', 'sh'];
    const asking = ask(machine, shell, { parent: full });
    const reading = await soon(() => {
      const read = readLetter(letter);
      if (read.kind !== 'letter') throw new Error(read.kind);
      return read.letter;
    });
    expect(machine.letters()).toEqual([]);
    answer(machine, reading.ask, 'yes');
    expect(await asking.done).toEqual({ ...NOTHING, stdout: 'yes' });
  });

  it('asks for an agent without a terminal', async () => {
    const machine = startMachine();
    const asking = ask(machine, shell, { env: { ...HEADLESS, TMUX_PANE: '%3' } });
    const letter = await asking.letter();
    expect(letter).toMatchObject({ tmux: '', pane: '', thread: '1234567890', event });
    expect(machine.letters()).toEqual([expect.stringContaining('/outbox/0.1234567890/')]);
    answer(machine, letter.ask, 'yes');
    expect(await asking.done).toEqual({ ...NOTHING, stdout: 'yes' });
  });

  it.each([
    ['outside of tmux', {}],
    ['without a pane', { TMUX: PANE.TMUX }],
    ['with a TMUX that tmux did not set', { ...PANE, TMUX: 'nonsense' }],
    ['in a Claude inside of another one', { ...PANE, CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' }],
    ['with an invalid thread id', { ...HEADLESS, THREADMUX_THREAD: '../1' }],
    ['in a pane inside of a headless agent', { ...HEADLESS, ...PANE, CLAUDE_CODE_ENTRYPOINT: 'sdk' }],
  ])('does nothing %s, and prints nothing', async (__, env) => {
    const machine = startMachine();
    expect(await ask(machine, shell, { env }).done).toEqual(NOTHING);
    expect(readdirSync(machine.home.root)).toEqual([]);
  });

  it('prints nothing when there is no home to write to', async () => {
    const machine = startMachine();
    writeFileSync(answers(machine), 'in the way');
    expect(await ask(machine, shell).done).toEqual(NOTHING);
    expect(machine.letters()).toEqual([]);
  });
});

// busybox has a built-in `sleep`, which cannot be counted.
describe.each(SHELLS.slice(0, 2))('the time that ask waits under %s', (_, ...shell) => {
  it('is one minute for a subagent, because Claude Code waits for it', async () => {
    const machine = startMachine();
    const { path, naps } = countedSleep(machine);
    const env = { ...PANE, PATH: path };
    const asking = ask(machine, shell, { env, told: { agent_id: 'a1', ...input } });
    expect(await asking.done).toEqual(NOTHING);
    expect(naps()).toBe(12);
  });

  it.each([
    ['a prompt', PANE, input],
    ['a tool whose input contains agent_id', PANE, { ...input, tool_input: { agent_id: 'x' } }],
    ['a text that contains agent_id', PANE, { cwd: '{"agent_id":"x"}', ...input }],
    ['a subagent of a headless agent', HEADLESS, { agent_id: 'a1', ...input }],
  ])('is longer for %s', async (__, env, told) => {
    const machine = startMachine();
    const { path, naps } = countedSleep(machine);
    const asking = ask(machine, shell, { env: { ...env, PATH: path }, told });
    const { ask: id } = await asking.letter();
    await soon(() => expect(naps()).toBeGreaterThan(30));
    answer(machine, id, 'yes');
    expect(await asking.done).toEqual({ ...NOTHING, stdout: 'yes' });
  });
});
