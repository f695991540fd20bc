// The agent as a process: none of its processes is left, whichever process is killed.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentEnvironment, createLineReader, startAgentProcess } from '../../../streams/agent/process.ts';
import { processesWith } from '../../support/processes.ts';
import { tempFolder } from '../../support/temp-home.ts';

const SHELLS = ['/bin/sh', '/bin/bash', '/usr/bin/zsh', '/usr/bin/fish'].filter(existsSync);
const MODULE = fileURLToPath(new URL('../../../dist/streams/agent/process.js', import.meta.url));

const sleeping = (name: string) => processesWith(name).filter((line) => /^\s*\d+\s+\S+\s+sleep /.test(line)).length;

/** A unique number of seconds to sleep, to find the process by. */
function sleepName(): string {
  const name = `sleep ${10_000 + Math.floor(Math.random() * 1e6)}`;
  onTestFinished(() => {
    for (const line of processesWith(name)) process.kill(Number.parseInt(line, 10), 'SIGKILL');
  });
  return name;
}

interface Starting {
  readonly dir?: string;
  readonly home?: string;
  readonly shell?: string;
  readonly path?: string;
  readonly onLine?: () => void;
}

function start(command: readonly string[], more: Starting = {}) {
  const lines: string[] = [];
  const dir = more.dir ?? tempFolder();
  const home = more.home ?? tempFolder();
  const agent = startAgentProcess({
    command,
    dir,
    env: agentEnvironment({ ...process.env, HOME: home, PATH: more.path ?? process.env.PATH }, [], {
      THREADMUX_THREAD: '1',
    }),
    shell: more.shell ?? '/bin/sh',
    onLine: (line) => {
      lines.push(line);
      more.onLine?.();
    },
  });
  onTestFinished(() => agent.end());
  return { agent, lines, dir, home };
}

/** A tree like that of Claude Code: tools in their own sessions, one that ignores signals, one whose parent is gone. */
function tree(name: string): readonly string[] {
  const deaf = `trap "" TERM INT HUP; ${name} & ${name}`;
  const script = `
    setsid sh -c '${name}; true' &
    setsid sh -c '${deaf.replaceAll('"', '""')}' &
    (setsid sh -c '${name} & exit' &)
    echo '{"up":1}'; ${name}`;
  return ['sh', '-c', script];
}

describe('the process of an agent', () => {
  it.each(SHELLS)('passes its input and output through, whatever %s prints at its start', async (shell) => {
    const home = tempFolder();
    for (const rc of ['.profile', '.bashrc', '.bash_profile', '.zshrc', '.zprofile'])
      writeFileSync(join(home, rc), 'echo welcome; echo oops >&2; cd /; cat\n');
    mkdirSync(join(home, '.config/fish'), { recursive: true });
    writeFileSync(join(home, '.config/fish/config.fish'), 'echo welcome; cd /\n');
    const dir = join(tempFolder(), `it's "a \\ dir"`);
    mkdirSync(dir);
    const { agent, lines } = start(['sh', '-c', 'cat; pwd; ls /proc/self/fd; exit 7'], { dir, home, shell });
    agent.write('one\ntwo\n');
    agent.endInput();
    expect(await agent.ended).toMatchObject({ status: 7 });
    expect(lines.slice(0, 3)).toEqual(['one', 'two', dir]);
    expect(
      lines.slice(3).filter((fd) => fd === '4' || fd === '5'),
      'nothing of ours is open in it',
    ).toEqual([]);
  });

  it.each(SHELLS)('is found in our own PATH if %s sets another one', async (shell) => {
    const home = tempFolder();
    for (const rc of ['.profile', '.bash_profile', '.zprofile', '.zshrc'])
      writeFileSync(join(home, rc), 'PATH=/usr/bin:/bin; export PATH\n');
    mkdirSync(join(home, '.config/fish'), { recursive: true });
    writeFileSync(join(home, '.config/fish/config.fish'), 'set -gx PATH /usr/bin /bin\n');
    const bin = tempFolder();
    writeFileSync(join(bin, 'my-claude'), '#!/bin/sh\necho "found $1 [$tmx_path]"\n', { mode: 0o755 });
    const { agent, lines } = start(['my-claude', "it's me"], { home, shell, path: `${bin}:${process.env.PATH}` });
    agent.endInput();
    expect(await agent.ended).toMatchObject({ status: 0 });
    expect(lines).toEqual(["found it's me []"]);
  });

  it('runs in its directory, without our token, a pane or the variables of another Claude', () => {
    const env = agentEnvironment(
      {
        DISCORD_BOT_TOKEN: 'secret',
        THREADMUX_TOKEN: 'secret',
        TMUX: 'x',
        TMUX_PANE: '%1',
        CLAUDE_CODE_ENTRYPOINT: 'cli',
        CLAUDECODE: '1',
        HOME: '/h',
        PATH: '/p',
        ANTHROPIC_API_KEY: 'theirs',
        CLAUDE_CONFIG_DIR: '/c',
        https_proxy: 'http://p',
        OPENAI_API_KEY: 'no',
      },
      ['ANTHROPIC_*', 'CLAUDE_*', 'DISCORD_*', 'TMUX*'],
      { THREADMUX_THREAD: '1' },
    );
    expect(env).toEqual({
      HOME: '/h',
      PATH: '/p',
      ANTHROPIC_API_KEY: 'theirs',
      CLAUDE_CONFIG_DIR: '/c',
      https_proxy: 'http://p',
      THREADMUX_THREAD: '1',
    });
  });

  // Some shells lose a signal that arrives while they start a subshell. That needs a busy machine: hence so many at once.
  it('ends, however quickly its shell ends', async () => {
    const dir = tempFolder();
    const ended = Array.from(
      { length: 60 },
      () => start(['never'], { dir, home: dir, shell: '/bin/false' }).agent.ended,
    );
    expect(new Set((await Promise.all(ended)).map(({ status }) => status))).toEqual(new Set([1]));
  });

  it('reports its last output when it cannot start', async () => {
    const { agent } = start(['no-such-program-at-all'], { shell: '/bin/bash' });
    const exit = await agent.ended;
    expect(exit.status).toBe(127);
    expect(exit.stderr).toMatch(/no-such-program-at-all/);
    expect(exit.stderr).not.toMatch(/job control/);
  });

  it('says why it could not start when no more files can be opened', () => {
    const script = `import { openSync } from 'node:fs';
      import { startAgentProcess } from ${JSON.stringify(MODULE)};
      process.stdout.write('');
      try { for (;;) openSync('/dev/null'); } catch {}
      const agent = startAgentProcess({ command: ['true'], dir: '/', shell: '/bin/sh', env: {}, onLine() {} });
      agent.write('hello'); agent.endInput(); await agent.end();
      process.stdout.write(JSON.stringify(await agent.ended));`;
    const line = 'ulimit -n 60 && exec "$0" --input-type=module -e "$1"';
    const said = execFileSync('sh', ['-c', line, process.execPath, script], { encoding: 'utf8' });
    expect(JSON.parse(said)).toEqual({ stderr: expect.stringContaining('EMFILE') });
  });

  it('does not start in a directory that is gone', async () => {
    const { agent, lines } = start(['echo', 'here'], { dir: join(tempFolder(), 'gone') });
    expect((await agent.ended).status).toBe(1);
    expect(lines).toEqual([]);
  });

  it('is ended with its whole tree, including processes that ignore signals or detached', async () => {
    const name = sleepName();
    const { agent, lines } = start(tree(name));
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    await vi.waitFor(() => expect(sleeping(name)).toBe(5));
    await agent.end();
    expect(processesWith(name)).toEqual([]);
  });

  it('leaves nothing behind when it exits by itself', async () => {
    const name = sleepName();
    const { agent } = start(['sh', '-c', `(setsid ${name} &); setsid ${name} & exit 3`]);
    expect((await agent.ended).status).toBe(3);
    expect(processesWith(name)).toEqual([]);
  });

  it('is ended with processes that only claim to be in tmux', async () => {
    const name = sleepName();
    const { agent } = start(['sh', '-c', `(TMUX=x setsid ${name} &); exec ${name}`]);
    await vi.waitFor(() => expect(sleeping(name)).toBe(2));
    await agent.end();
    expect(processesWith(name)).toEqual([]);
  });

  it('ends with the bridge, even if the bridge is killed', async () => {
    const name = sleepName();
    const dir = tempFolder();
    const bridge = spawn(
      process.execPath,
      [
        ...['--input-type=module', '-e'],
        `import { startAgentProcess, agentEnvironment } from ${JSON.stringify(MODULE)};
         startAgentProcess({ command: ${JSON.stringify(tree(name))}, dir: ${JSON.stringify(dir)}, shell: '/bin/sh',
           env: agentEnvironment(process.env, [], {}), onLine: (line) => process.stdout.write(line) });`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    onTestFinished(() => void bridge.kill('SIGKILL'));
    await new Promise((resolve) => bridge.stdout.once('data', resolve));
    await vi.waitFor(() => expect(sleeping(name)).toBe(5));
    bridge.kill('SIGKILL');
    await vi.waitFor(() => expect(processesWith(name)).toEqual([]), { timeout: 10_000, interval: 100 });
  });

  it('is not ended by a signal that was meant for the bridge, and does not ignore its own', async () => {
    const { agent, lines } = start(['sh', '-c', 'trap "echo told; exit 4" INT; echo $$; sleep 5 & wait']);
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    process.kill(Number(lines[0]), 'SIGINT');
    expect((await agent.ended).status).toBe(4);
    expect(lines).toContain('told');
  });

  it('leaves alone what it started in tmux', async () => {
    const name = sleepName();
    const socket = join(tempFolder(), 's');
    const tmux = (...args: string[]) => execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' });
    onTestFinished(() => void tmux('kill-server'));
    const inPane = `${name} & ${name}; true`;
    const { agent } = start(['tmux', '-f', '/dev/null', '-S', socket, 'new-session', '-d', inPane]);
    expect((await agent.ended).status).toBe(0);
    await vi.waitFor(() => expect(sleeping(name)).toBe(2));
    expect(processesWith(name).some((line) => line.includes(name))).toBe(true);
    expect(tmux('list-sessions')).toContain('1 windows');
  });
});

describe('the output of an agent', () => {
  const work = (ms: number) => {
    for (const began = performance.now(); performance.now() - began < ms; );
  };
  /** Longer than a chunk of a pipe, so that no chunk ends two of them. */
  const FLOOD = 'yes "$(head -c 100000 /dev/zero | tr "\\0" x)"';

  it('lets other work have its turn between any two chunks of a flood', async () => {
    let turns = 0;
    const found: number[] = [];
    const timer = setInterval(() => turns++, 1);
    onTestFinished(() => clearInterval(timer));
    const onLine = () => {
      work(20);
      found.push(turns);
    };
    start(['sh', '-c', FLOOD], { onLine });
    await vi.waitFor(() => expect(found.length).toBeGreaterThan(10));
    expect(found.length).toBe(new Set(found).size);
  });

  it('is read whole before its end is reported, also if it takes longer than that', async () => {
    const script = `for n in 1 2 3 4; do head -c 50000 /dev/zero | tr "\\0" $n; echo; done`;
    const { agent, lines } = start(['sh', '-c', script], { onLine: () => work(150) });
    expect((await agent.ended).status).toBe(0);
    expect(lines.map((line) => line[0])).toEqual(['1', '2', '3', '4']);
  });

  it('ends although a process that escaped floods it for ever', async () => {
    const { agent, lines } = start(['sh', '-c', `(env -i setsid ${FLOOD} &); cat; exit 3`], { onLine: () => work(20) });
    await vi.waitFor(() => expect(lines.length).toBeGreaterThan(1));
    agent.endInput();
    expect((await agent.ended).status).toBe(3);
  });
});

describe('lines of a pipe', () => {
  const collected = (longest?: number) => {
    const found: string[] = [];
    return { found, lines: createLineReader((line) => found.push(line), longest) };
  };

  it('are complete, wherever the chunks end, even inside a character', () => {
    const { found, lines } = collected();
    for (const byte of Buffer.from('zwölf\n\n🧵 two\nlast')) lines.add(Uint8Array.of(byte));
    lines.end();
    expect(found).toEqual(['zwölf', '🧵 two', 'last']);
  });

  it('are dropped one by one when they are too long', () => {
    const { found, lines } = collected(10);
    lines.add(Buffer.from(`one\n${'x'.repeat(8)}`));
    lines.add(Buffer.from(`${'y'.repeat(8)}\ntwo\n`));
    lines.end();
    expect(found).toEqual(['one', 'two']);
  });
});
