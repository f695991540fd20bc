import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { dropCommand, statuslineCommand } from '../../agents/claude/hook-commands.ts';
import { footer, parseStatusLineInput } from '../../agents/status-line.ts';
import { startMachine } from '../support/hook-process.ts';
import { localClock } from '../support/local-clock.ts';
import { SHELLS } from '../support/shells.ts';
import { tempFolder } from '../support/temp-home.ts';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const SCRIPT = join(DIST, 'hooks', 'statusline');
const input = readFileSync('test/fixtures/claude/statusline.json');
const status = JSON.parse(input.toString());
const session = status.session_id as string;

/** A folder with our home in it, as install leaves it. */
function homeFolder(): string {
  const folder = tempFolder();
  mkdirSync(join(folder, '.threadmux'), { mode: 0o700 });
  return folder;
}

interface Running {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Starts the script instead of its first line. */
  readonly shell?: readonly string[];
}

/** Runs like in Claude Code: the settings' command in /bin/sh, the status on stdin. */
function run(own: string | undefined, told: Uint8Array | string = input, more: Running = {}) {
  const { home = homeFolder(), shell } = more;
  const wrapped = own === undefined ? undefined : { command: own, borrowed: false };
  const command = statuslineCommand({ dist: DIST }, wrapped);
  const words = shell ? [...shell, SCRIPT, ...(own === undefined ? [] : ['--', own])] : ['/bin/sh', '-c', command];
  const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', ...more.env };
  const done = spawnSync(words[0] ?? '', words.slice(1), { input: told, env });
  const folder = join(home, '.threadmux', 'status');
  return {
    home,
    stdout: done.stdout.toString('latin1'),
    stderr: done.stderr.toString(),
    status: done.status,
    /** The status is saved in the background, and nothing waits for it. */
    kept: (name = session) =>
      vi.waitFor(() => {
        expect(readdirSync(folder)).toEqual([`${name}.json`]);
        return readFileSync(join(folder, `${name}.json`));
      }, 10_000),
    /** Nothing remains of a status that cannot be saved. */
    nothingKept: () => vi.waitFor(() => expect(readdirSync(folder)).toEqual([]), 10_000),
  };
}

describe('the status line', () => {
  it.each([
    ['printf "a\\n\\033[31mb\\377\\000c"', 'a\n\x1b[31mb\xff\x00c', 0],
    [`echo "it's \\"mine\\"" \\\\ '$HOME' # yes`, `it's "mine" \\ $HOME\n`, 0],
    ['echo x; exit 3', 'x\n', 3],
    ['exit 0', '', 0],
    ['a=1 b=2; echo $a$b | tr 1 9', '92\n', 0],
    ['umask; echo $home$new$id', `${spawnSync('/bin/sh', ['-c', 'umask']).stdout}\n`, 0],
    ['sleep 0.2; wc -c', `${input.length}\n`, 0],
  ])('shows the output of the user’s command %j, and exits like it', (own, stdout, code) => {
    expect(run(own)).toMatchObject({ stdout, status: code, stderr: '' });
  });

  it('is the same without Node.js', () => {
    const { pathWithoutNode } = startMachine();
    for (const own of [undefined, 'wc -c']) {
      const shown = run(own, input, { env: { PATH: pathWithoutNode } });
      expect(shown).toMatchObject({ stdout: run(own).stdout, status: 0, stderr: '' });
    }
  });

  it('ends with the signal that ended the user’s command', () => {
    const done = spawnSync(SCRIPT, ['--', 'kill -9 $$'], { input, env: { HOME: homeFolder() } });
    expect(done.signal).toBe('SIGKILL');
  });

  it('runs a program with its arguments unchanged', () => {
    const args = ['--', 'printf', '%s|', "a 'b'", '$HOME', ''];
    const done = spawnSync(SCRIPT, args, { input, env: { HOME: homeFolder() }, encoding: 'utf8' });
    expect(done).toMatchObject({ stdout: "a 'b'|$HOME||", stderr: '', status: 0 });
  });

  describe.each(SHELLS)('under %s', (_, ...shell) => {
    it.each([
      ['as Claude Code writes it', JSON.stringify(status), session],
      ['on many lines', input.toString(), session],
      ['without a line end, with NUL', '{"session_id":"nul","x":"\0\0 é"}', 'nul'],
      ['of 200 kB', JSON.stringify({ pad: 'é"\n'.repeat(30_000), session_id: 'big' }), 'big'],
      ['with texts like keys', JSON.stringify({ a: ',"session_id":"x"', session_id: 'b' }), 'b'],
    ])('passes a status %s to the user’s command byte for byte, and saves it', async (__, told, id) => {
      const { stdout, stderr, kept } = run('cat', told, { shell });
      expect(stdout).toBe(Buffer.from(told).toString('latin1'));
      expect(stderr).toBe('');
      expect((await kept(id)).equals(Buffer.from(told))).toBe(true);
    });

    it('saves the status privately, even if the user’s command does not read it', async () => {
      const { kept, home, status: code } = run('exec 0<&-; echo hi', input, { shell });
      expect((await kept()).equals(input)).toBe(true);
      expect(code).toBe(0);
      const folder = join(home, '.threadmux', 'status');
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      expect(statSync(join(folder, `${session}.json`)).mode & 0o777).toBe(0o600);
    });

    it('shows its own line to users who have none', async () => {
      const { stdout, status: code, kept } = run(undefined, input, { shell });
      const line = Buffer.from(stdout, 'latin1').toString();
      expect(line).toBe('Opus 4.8 · 0% context · $0.09\n');
      expect(code).toBe(0);
      expect((await kept()).equals(input)).toBe(true);
      expect(run(undefined, 'garbage', { shell })).toMatchObject({ stdout: '', status: 0 });
    });

    it('takes no time for the name of a model that a repository chose', () => {
      const told = (name: string) => JSON.stringify({ ...JSON.parse(String(input)), model: { display_name: name } });
      const began = Date.now();
      const { stdout } = run(undefined, told(' ('.repeat(100_000)), { shell });
      expect(Date.now() - began).toBeLessThan(10_000); // it was more than a minute
      expect(stdout).toBe(`${' ('.repeat(100)} \xc2\xb7 0% context \xc2\xb7 $0.09\n`);
    });

    it('keeps no more than 1 MiB of an endless status', async () => {
      const told = `{"session_id":"much","pad":"${'x'.repeat(2 ** 21)}"}`;
      const { stdout, stderr, status: code, kept } = run('wc -c', told, { shell });
      expect({ stdout: stdout.trim(), stderr, code }).toEqual({ stdout: String(2 ** 20), stderr: '', code: 0 });
      expect(await kept('much')).toHaveLength(2 ** 20);
    });

    it('still shows the line on a full disk', () => {
      // No file may grow, so every write fails like on a full disk.
      const full = ['sh', '-c', 'trap "" XFSZ; ulimit -f 0; exec "$@"', 'sh', ...shell];
      const { nothingKept, ...shown } = run('cat', input, { shell: full });
      expect(shown).toMatchObject({ stdout: input.toString(), status: 0, stderr: '' });
      expect(run(undefined, input, { shell: full }).stdout).toMatch(/^Opus 4.8 /);
      return nothingKept();
    });
  });

  it.each([
    ['empty', ''],
    ['garbage', 'garbage'],
    ['a session id with a path', '{"session_id":"../../x"}'],
    ['a session id that is too long', JSON.stringify({ session_id: 'x'.repeat(101) })],
    ['a session id that is not text', '{"session_id":7,"a":"b"}'],
  ])('still shows the user’s line when its input is %s', async (_, told) => {
    const { stdout, status: code, stderr, home, nothingKept } = run('echo mine', told);
    expect({ stdout, code, stderr }).toEqual({ stdout: 'mine\n', code: 0, stderr: '' });
    await nothingKept();
    expect(readdirSync(home)).toEqual(['.threadmux']);
  });

  it('still shows the user’s line when nothing can be saved', () => {
    const home = tempFolder();
    writeFileSync(join(home, '.threadmux'), 'not a folder');
    const shown = { stdout: input.toString(), status: 0, stderr: '' };
    expect(run('cat', input, { home })).toMatchObject(shown);
  });

  it('does not recreate a home that was removed', () => {
    const home = tempFolder();
    expect(run('echo mine', input, { home })).toMatchObject({ stdout: 'mine\n', status: 0 });
    expect(readdirSync(home)).toEqual([]);
  });

  it.each([
    ['every field', { context_window: { used_percentage: 62.5 }, cost: { total_cost_usd: 12 } }],
    ['no cost yet', { cost: { total_cost_usd: 0 } }],
    ['a tiny cost', { cost: { total_cost_usd: 5e-7 } }],
    ['no percentage yet', { context_window: { used_percentage: null } }],
    ['an empty status', {}],
    ['a limit without its time', { rate_limits: { five_hour: { used_percentage: 7.4 } } }],
  ])('shows %s like the footer', (_, told) => {
    const all = { session_id: 'x', model: { id: 'y', display_name: 'Opus (new)' }, ...told };
    const parsed = parseStatusLineInput(all);
    const line = Buffer.from(run(undefined, JSON.stringify(all)).stdout, 'latin1').toString();
    expect(line).toBe(`${parsed && footer(parsed)}\n`);
  });

  it.each(['UTC', 'Asia/Kolkata', 'America/Phoenix'])('shows when a limit ends in %s', (TZ) => {
    const now = Math.floor(Date.now() / 1000);
    const limits = [3_600 * 4, 86_400 * 3].map((ahead) => Math.ceil((now + ahead) / 300) * 300);
    const [five_hour, seven_day] = limits.map((at) => ({ used_percentage: 12, resets_at: at }));
    const told = JSON.stringify({ session_id: 'x', rate_limits: { five_hour, seven_day } });
    const line = Buffer.from(run(undefined, told, { env: { TZ } }).stdout, 'latin1').toString();
    const at = limits.map((limit) => localClock(limit, new Date(), TZ));
    expect(line).toBe(`5h 12% (resets ${at[0]}) · 7d 12% (resets ${at[1]})\n`);
    const over = { five_hour: { used_percentage: 99, resets_at: now - 60 } };
    const past = JSON.stringify({ session_id: 'x', rate_limits: over });
    expect(run(undefined, past).stdout).toBe('5h 99%\n');
  });

  it('kills the user’s command when Claude Code ends the status line early', async () => {
    const child = spawn(SCRIPT, ['--', 'echo $$; exec sleep 60'], {
      env: { PATH: process.env.PATH, HOME: homeFolder() },
    });
    child.stdin.end(input);
    const [pid] = await once(child.stdout, 'data');
    child.kill('SIGTERM');
    await once(child, 'close');
    expect(() => process.kill(Number(String(pid)), 0)).toThrow(/ESRCH/);
  });
});

describe('the commands in the settings', () => {
  it('contain paths that the shell reads unchanged', () => {
    const folder = join(tempFolder(), `a 'b' "c" \\ $(d) #e;~`);
    mkdirSync(join(folder, 'hooks'), { recursive: true });
    writeFileSync(join(folder, 'hooks', 'drop'), '#!/bin/sh\necho "$0|$THREADMUX_HOME|$#"\n', { mode: 0o755 });
    const command = dropCommand({ dist: folder, home: folder });
    const done = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' });
    expect(done.stdout).toBe(`${folder}/hooks/drop|${folder}|0\n`);
  });
});
