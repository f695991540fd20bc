import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { dropCommand, statuslineCommand } from '../../claude/commands.ts';
import { tempFolder } from '../support/temp-home.ts';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const input = readFileSync('test/fixtures/claude/statusline.json');
const session = JSON.parse(input.toString()).session_id as string;

/** With our home in it, as install leaves it. */
function homeFolder(): string {
  const folder = tempFolder();
  mkdirSync(join(folder, '.threadmux'), { mode: 0o700 });
  return folder;
}

/** As Claude Code does it: the settings' command in /bin/sh, the status on stdin. */
function run(own: string | undefined, told: Uint8Array = input, home = homeFolder()) {
  const wrapped = own === undefined ? undefined : { command: own, borrowed: false };
  const command = statuslineCommand({ node: process.execPath, dist: DIST }, wrapped);
  const env = { PATH: process.env.PATH, HOME: home };
  const done = spawnSync('/bin/sh', ['-c', command], { input: told, env });
  return {
    home,
    stdout: done.stdout.toString('latin1'),
    stderr: done.stderr.toString(),
    status: done.status,
    kept: (name = session) => readFileSync(join(home, '.threadmux', 'status', `${name}.json`)),
  };
}

describe('the status line', () => {
  it.each([
    ['printf "a\\n\\033[31mb\\377\\000c"', 'a\n\x1b[31mb\xff\x00c', 0],
    [`echo "it's \\"mine\\"" \\\\ '$HOME' # yes`, `it's "mine" \\ $HOME\n`, 0],
    ['echo x; exit 3', 'x\n', 3],
    ['exit 0', '', 0],
    ['kill -9 $$', '', 137],
    ['a=1 b=2; echo $a$b | tr 1 9', '92\n', 0],
  ])('shows what the user’s command %j shows, and ends as it ends', (own, stdout, status) => {
    expect(run(own)).toMatchObject({ stdout, status, stderr: '' });
  });

  it('gives the user’s command the very bytes it was given itself, and keeps them', () => {
    const big = Buffer.from(JSON.stringify({ session_id: 'big', pad: 'é"\n'.repeat(100_000) }));
    const { stdout, kept } = run('cat', big);
    expect(Buffer.from(stdout, 'latin1').equals(big)).toBe(true);
    expect(kept('big').equals(big)).toBe(true);
    expect(run('cat >&2').stderr).toBe(input.toString());
  });

  it('keeps the status also if the user’s command does not read it', () => {
    const { kept, status } = run('exec 0<&-; echo hi');
    expect(kept().equals(input)).toBe(true);
    expect(status).toBe(0);
  });

  it.each([
    ['no status at all', ''],
    ['something else', 'garbage'],
    ['a session that leads elsewhere', '{"session_id":"../../x"}'],
  ])('shows the user’s line as ever when it is told %s', (_, told) => {
    const { stdout, status, stderr, home } = run('echo mine', Buffer.from(told));
    expect({ stdout, status, stderr }).toEqual({ stdout: 'mine\n', status: 0, stderr: '' });
    expect(readdirSync(home)).not.toContain('x.json');
  });

  it('shows the user’s line as ever when nothing can be kept', () => {
    const home = tempFolder();
    writeFileSync(join(home, '.threadmux'), 'not a folder');
    expect(run('echo mine', input, home)).toMatchObject({
      stdout: 'mine\n',
      status: 0,
      stderr: '',
    });
  });

  it('does not bring back a home that was removed', () => {
    const home = tempFolder();
    expect(run('echo mine', input, home)).toMatchObject({ stdout: 'mine\n', status: 0 });
    expect(readdirSync(home)).toEqual([]);
  });

  it('shows a line of its own to those who have none', () => {
    const { stdout, status, kept } = run(undefined);
    expect(Buffer.from(stdout, 'latin1').toString()).toMatch(/^\S.* · \d+% context.*\n$/);
    expect(status).toBe(0);
    expect(kept().equals(input)).toBe(true);
    expect(run(undefined, Buffer.from('garbage'))).toMatchObject({ stdout: '', status: 0 });
  });

  it('takes the user’s command along when Claude Code ends it early', async () => {
    const home = tempFolder();
    const args = [join(DIST, 'bin', 'statusline.js'), '--', 'echo $$; exec sleep 60'];
    const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, HOME: home } });
    const [pid] = await once(child.stdout, 'data');
    child.kill('SIGTERM');
    await once(child, 'close');
    expect(() => process.kill(Number(String(pid)), 0)).toThrow(/ESRCH/);
  });
});

describe('the commands in the settings', () => {
  it('mean the same paths to the shell, whatever is in them', () => {
    const folder = join(tempFolder(), `a 'b' "c" \\ $(d) #e;~`);
    mkdirSync(join(folder, 'hooks'), { recursive: true });
    writeFileSync(join(folder, 'hooks', 'drop'), '#!/bin/sh\necho "$0|$THREADMUX_HOME|$#"\n', {
      mode: 0o755,
    });
    const command = dropCommand({ node: 'node', dist: folder, home: folder });
    const done = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' });
    expect(done.stdout).toBe(`${folder}/hooks/drop|${folder}|0\n`);
  });
});
