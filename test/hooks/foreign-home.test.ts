// A home that another user has made: the hooks run nothing that it names, print nothing of it, and write nothing into it.

import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fixture, startMachine } from '../support/hook-process.ts';
import { SHELLS } from '../support/shells.ts';
import { tempFolder } from '../support/temp-home.ts';

const SCRIPTS = fileURLToPath(new URL('../../dist/hooks', import.meta.url));
const PLUGIN = fileURLToPath(new URL('../../plugin/run', import.meta.url));
const PANE = { TMUX: '/tmp/s,99,0', TMUX_PANE: '%1' };
const OTHER = (process.getuid?.() ?? 0) + 1;

/** With a program to run, and words to print. */
function foreignHome(kind: string) {
  const folder = tempFolder();
  const [home, ran] = [join(folder, 'home'), join(folder, 'ran')];
  const files = kind === 'a link' ? join(folder, 'elsewhere') : home;
  for (const name of ['state', 'status', 'answers']) mkdirSync(join(files, name), { recursive: true });
  const node = join(folder, 'node');
  writeFileSync(node, `#!/bin/sh\n: > ${ran}\n`, { mode: 0o755 });
  writeFileSync(join(files, 'state', 'node'), `${node}\n`);
  writeFileSync(join(files, 'state', 'program'), `${folder}\n`);
  mkdirSync(join(folder, 'hooks'));
  writeFileSync(join(folder, 'hooks', 'drop'), `#!/bin/sh\n: > ${ran}\n`, { mode: 0o755 });
  writeFileSync(join(files, 'agent-context'), 'words of another user\n');
  if (kind === 'a link') symlinkSync(files, home);
  else if (process.getuid?.() === 0) {
    chmodSync(home, 0o777);
    chownSync(home, OTHER, OTHER);
  } else return { home: '/', ran, files: '/' }; // another user's folder that everybody has
  return { home, ran, files };
}

describe.each(['a link', 'a folder of another user'])('a home that is %s', (kind) => {
  describe.each(SHELLS)('under %s', (_, ...shell) => {
    it.each([
      ['drop', fixture('SessionStart')],
      ['ask', fixture('PermissionRequest.Bash')],
      ['statusline', fixture('Stop')],
    ])('gets nothing from %s', async (script, told) => {
      const { home, ran, files } = foreignHome(kind);
      const before = readdirSync(files, { recursive: true });
      const env = { ...startMachine().env, ...PANE, THREADMUX_HOME: home };
      const [program = '', ...words] = shell;
      const done = spawnSync(program, [...words, join(SCRIPTS, script)], {
        env,
        input: JSON.stringify(told),
        timeout: 20_000,
      });
      expect([done.signal, String(done.stdout)]).toEqual([null, '']);
      expect(readdirSync(files, { recursive: true })).toEqual(before);
      expect(existsSync(ran)).toBe(false);
    });
  });

  it('names no program for the plugin', () => {
    const { home, ran } = foreignHome(kind);
    const env = { ...startMachine().env, ...PANE, THREADMUX_HOME: `${home}/` };
    spawnSync('/bin/sh', [PLUGIN, 'drop'], { env, input: '{}', timeout: 20_000 });
    expect(existsSync(ran)).toBe(false);
  });
});
