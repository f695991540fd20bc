import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { putScripts } from '../../hosts/host-home.ts';
import { loginShells, startSshServer } from '../support/ssh-server.ts';

const FILES = {
  'bin/drop': "#!/bin/sh\nhome='{HOME}' # it's \\n %s `x` $y {HOME}\n\n",
  'settings.json': '{"a": "{HOME}/bin/drop"}',
};

describe('putting the scripts on a host', () => {
  it.each([...loginShells(), '/bin/busybox sh'])(
    'creates a home on a host with %s, with the files unchanged',
    async (shell) => {
      const server = await startSshServer({ shell });
      const { home } = await putScripts(server.host(), 'me', FILES);
      expect(home).toBe(join(server.home, '.threadmux/for/me'));
      expect(readdirSync(home).sort()).toEqual([
        'answers',
        'bell',
        'bin',
        'files',
        'outbox',
        'settings.json',
        'status',
      ]);
      expect(readFileSync(join(home, 'bin/drop'), 'utf8')).toBe(FILES['bin/drop'].replaceAll('{HOME}', home));
      expect(readFileSync(join(home, 'settings.json'), 'utf8')).toBe(`{"a": "${home}/bin/drop"}`);
      const mode = (path: string) => statSync(join(home, path)).mode & 0o777;
      expect(['', 'outbox', 'bin/drop', 'settings.json'].map(mode)).toEqual([0o700, 0o700, 0o700, 0o600]);
      expect(statSync(join(home, 'bell')).isFIFO()).toBe(true);
    },
  );

  it('costs one exec, and touches only what differs', async () => {
    const server = await startSshServer();
    const host = server.host();
    const { home } = await putScripts(host, 'me', FILES);
    const inodes = () => Object.keys(FILES).map((path) => statSync(join(home, path)).ino);
    const before = inodes();
    const { execs } = server.counts;
    await putScripts(host, 'me', FILES);
    expect(server.counts.execs).toBe(execs + 1);
    expect(inodes()).toEqual(before);
    await putScripts(host, 'me', { ...FILES, 'bin/drop': '#!/bin/sh\n' });
    expect(inodes()[0]).not.toBe(before[0]);
    expect(inodes()[1]).toBe(before[1]);
    expect(readFileSync(join(home, 'bin/drop'), 'utf8')).toBe('#!/bin/sh\n');
    chmodSync(home, 0o755);
    await putScripts(host, 'me', {});
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(readdirSync(home)).not.toContain(expect.stringContaining('.new'));
  });

  it('refuses a home that is a link or belongs to another user', async () => {
    const server = await startSshServer();
    const host = server.host();
    const home = join(server.home, '.threadmux/for/me');
    mkdirSync(join(home, '..'), { recursive: true });
    mkdirSync(join(server.home, 'elsewhere'));
    symlinkSync(join(server.home, 'elsewhere'), home);
    await expect(putScripts(host, 'me', FILES)).rejects.toMatchObject({
      code: 'home_unsafe',
      message: `far: \`${home}\` is a link`,
    });
    expect(readdirSync(join(server.home, 'elsewhere'))).toEqual([]);
    rmSync(home);
    mkdirSync(home);
    if (process.getuid?.() === 0) {
      chownSync(home, 12345, 12345);
      await expect(putScripts(host, 'me', FILES)).rejects.toThrow('belongs to another user');
    }
  });

  it.each(['', '..', '.me', 'a/b', 'a b', '-x', "a'b", 'x'.repeat(65)])('refuses the name %j', async (name) => {
    const server = await startSshServer();
    await expect(putScripts(server.host(), name, {})).rejects.toMatchObject({ code: 'name_refused' });
    expect(server.counts.execs).toBe(0);
  });

  it('replaces a link in place of a file, and a file in place of the bell', async () => {
    const server = await startSshServer();
    const { home } = await putScripts(server.host(), 'me', {});
    writeFileSync(join(server.home, 'mine'), FILES['settings.json']);
    symlinkSync(join(server.home, 'mine'), join(home, 'settings.json'));
    rmSync(join(home, 'bell'));
    writeFileSync(join(home, 'bell'), '');
    await putScripts(server.host(), 'me', FILES);
    expect(lstatSync(join(home, 'settings.json')).isFile()).toBe(true);
    expect(readFileSync(join(server.home, 'mine'), 'utf8')).toBe(FILES['settings.json']);
    expect(execFileSync('ls', ['-l', join(home, 'bell')], { encoding: 'utf8' })[0]).toBe('p');
  });
});
