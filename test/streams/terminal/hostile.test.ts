// Output that breaks the emulator. Its process is the real one, which misbehaves when the program prints a certain word.

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadStreamRecord } from '../../../home/stream-record.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { expectText, type TerminalSetting, terminalSetting, waitFor } from '../../support/terminal.ts';

const FOLLOWER = fileURLToPath(new URL('../../support/follow-terminal.mjs', import.meta.url));
const FOR_EVER_MS = 600_000;

/** `note` tells that it has begun to misbehave, and what it was given. */
function hostileEmulator(): { program: string; note: string } {
  const folder = tempFolder();
  const program = join(folder, 'emulator.mjs');
  const note = join(folder, 'note');
  const real = new URL('../../../dist/bin/terminal-emulator.js', import.meta.url).href;
  writeFileSync(
    program,
    `import { renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
const { Terminal } = createRequire(${JSON.stringify(real)})('@xterm/headless');
const answer = process.stdout.write.bind(process.stdout);
const acts = {
  LOOP: () => { for (;;); },
  OBJECT: () => { const all = []; for (let at = 0; ; at++) all.push(at); }, // within a second, because a full heap is slow
  ARRAYS: () => { const all = []; for (;;) if (all.length < 300) all.push(new Uint32Array(1e6).fill(1)); },
  STOP: () => process.kill(process.pid, 'SIGSTOP'),
  ANSWER: () => {
    process.stdout.write = (line) => answer(line.replace('{', '{"more":"' + 'x'.repeat(5e7) + '",'));
  },
  LIE: () => {
    process.stdout.write = (line) => answer(line.replace('"inLine"', '"inWord"'));
  },
  EXIT: () => process.exit(0),
  NOTHING: () => {},
};
const { write } = Terminal.prototype;
Terminal.prototype.write = function (data) {
  write.call(this, data);
  for (const word of Object.keys(acts)) {
    if (!data.includes(word)) continue;
    const { pid, env, argv } = process;
    writeFileSync(${JSON.stringify(`${note}.tmp`)}, JSON.stringify({ pid, env, argv: argv.slice(2) }));
    renameSync(${JSON.stringify(`${note}.tmp`)}, ${JSON.stringify(note)});
    acts[word]();
  }
};
await import(${JSON.stringify(real)});
`,
  );
  return { program, note };
}

const noted = (note: string) => JSON.parse(readFileSync(note, 'utf8'));

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function told(setting: TerminalSetting): Promise<number> {
  return (await setting.messages()).filter(({ content }) => content.startsWith('⚠️')).length;
}

describe('a terminal whose emulator', () => {
  it.each([
    ['never ends', 'LOOP', 5000],
    ['does not even run', 'STOP', 5000],
    ['fills its heap with one object', 'OBJECT', FOR_EVER_MS],
    // Elsewhere, nothing limits memory outside of the heap but the size of the screen.
    ...(process.platform === 'linux' ? [['fills memory outside of its heap', 'ARRAYS', FOR_EVER_MS] as const] : []),
    ['answers too much', 'ANSWER', FOR_EVER_MS],
    ['answers something else', 'LIE', FOR_EVER_MS],
    ['ends', 'EXIT', FOR_EVER_MS],
  ] as const)('%s is given up once, also after a restart, and its program runs on', async (_, word, limitMs) => {
    const { program, note } = hostileEmulator();
    const emulator = { program, limitMs };
    const setting = await terminalSetting();
    const record = await setting.start(`stty -echo; echo before; read a; echo ${word}; sleep 600`);
    setting.follow(record, { emulator });
    await waitFor(async () => expect(await setting.text()).toBe('before\n'));
    setting.server.call('send-keys', '-t', record.pane?.paneId ?? '', 'Enter');
    await waitFor(async () => expect(await told(setting)).toBe(1), 200_000);
    await waitFor(() => expect(isRunning(noted(note).pid)).toBe(false));
    expect(await setting.text()).toBe('before\n');
    expect(setting.server.call('list-panes', '-a', '-F', '#{pane_dead}')).toBe('0');
    const kept = () => loadStreamRecord(setting.parts.home, setting.thread);
    await waitFor(() => expect(kept()?.ended?.how).toBe('no longer shown'));
    await setting.follow(kept() ?? record, { emulator }).ended;
    expect(await told(setting)).toBe(1);
  });

  it('is stuck holds up no other terminal, and is closed at once', async () => {
    vi.stubEnv('DISCORD_BOT_TOKEN', 'a secret');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { program, note } = hostileEmulator();
    const setting = await terminalSetting();
    const other = await terminalSetting({ server: setting.server });
    const stuck = setting.follow(await setting.start('echo LOOP; sleep 600'), {
      emulator: { program, limitMs: FOR_EVER_MS },
    });
    await waitFor(() => expect(existsSync(note)).toBe(true));
    await other.run('echo two');
    expect(await other.text()).toBe('two\n');
    const { pid, env, argv } = noted(note);
    expect(isRunning(pid)).toBe(true);
    expect(argv).toEqual([]);
    expect(JSON.stringify(env)).not.toContain('a secret');
    await stuck.close();
    await waitFor(() => expect(isRunning(pid)).toBe(false));
    expect(stuck.record().ended).toBeUndefined();
    expect(await told(setting)).toBe(0);
  });

  it('gets the signal that ends a login goes on: threadmux itself ends it', async () => {
    const { program, note } = hostileEmulator();
    const setting = await terminalSetting();
    const record = await setting.start('stty -echo; echo NOTHING; read a; echo after; sleep 600');
    const terminal = setting.follow(record, { emulator: { program } });
    await waitFor(async () => expect(await setting.text()).toBe('NOTHING\n'));
    const { pid } = noted(note);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.kill(pid, signal);
    setting.server.call('send-keys', '-t', record.pane?.paneId ?? '', 'Enter');
    await waitFor(async () => expect(await setting.text()).toBe('NOTHING\nafter\n'));
    await terminal.close();
    await waitFor(() => expect(isRunning(pid)).toBe(false));
  });

  it('is stuck when threadmux is killed leaves no process, and is given up after the restart', async () => {
    const { program, note } = hostileEmulator();
    const setting = await terminalSetting();
    const record = await setting.start('echo LOOP; sleep 600');
    const { parts, thread, server, workspace } = setting;
    const { api, token, botId } = workspace;
    const follow = { emulator: { program, limitMs: 4000 } };
    const options = { root: parts.home.root, thread, socket: server.socket, api, token, botId, follow };
    const follower = spawn(process.execPath, [FOLLOWER, JSON.stringify(options)], {
      env: { PATH: process.env.PATH, HOME: server.dir },
      stdio: 'ignore',
    });
    onTestFinished(() => void follower.kill('SIGKILL'));
    await waitFor(() => expect(existsSync(note)).toBe(true));
    follower.kill('SIGKILL');
    await waitFor(() => expect(isRunning(noted(note).pid)).toBe(false), 60_000);
    expect(await told(setting)).toBe(0);
    setting.follow(record, follow);
    await waitFor(async () => expect(await told(setting)).toBe(1), 60_000);
  });
});

describe('a terminal', () => {
  it('that prints nothing for a while keeps no process, and goes on where it was', async () => {
    const { program, note } = hostileEmulator();
    const setting = await terminalSetting();
    const record = await setting.start(
      "stty -echo; printf 'NOTHING\\none, tw'; read a; printf 'o\\033[1;1HSOME\\033[3;1H'; read a",
    );
    const terminal = setting.follow(record, { emulator: { program, idleMs: 200 } });
    await waitFor(async () => expect(await setting.text()).toBe('NOTHING\none, tw'));
    await waitFor(() => expect(isRunning(noted(note).pid)).toBe(false));
    setting.server.call('send-keys', '-t', record.pane?.paneId ?? '', 'Enter');
    await waitFor(async () => expect(await setting.text()).toBe('SOMEING\none, two\n'));
    setting.server.call('send-keys', '-t', record.pane?.paneId ?? '', 'Enter');
    await terminal.ended;
    expect(await told(setting)).toBe(0);
  });

  it('whose program redraws a full screen as fast as it can is shown to its end', async () => {
    const setting = await terminalSetting();
    const frame = "'\\x1b[H\\x1b[2J' + ('row ' + at + '\\n').repeat(29)";
    const file = join(setting.server.dir, 'redraw.mjs');
    writeFileSync(
      file,
      `for (let at = 0; at < 5000; at++) process.stdout.write(${frame}); console.log('\\x1b[2Jover');`,
    );
    await setting.run(`${process.execPath} ${file}`);
    expect(await told(setting)).toBe(0);
    expectText((await setting.text()).trim(), 'over');
  });

  it('needs no emulator before there is one: only the program of the emulator loads it', () => {
    const programs = readdirSync('dist/bin', { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.js'),
    );
    const loading = programs.filter((name) => readFileSync(join('dist/bin', name), 'utf8').includes('@xterm'));
    expect(loading).toEqual(['terminal-emulator.js']);
  });
});
