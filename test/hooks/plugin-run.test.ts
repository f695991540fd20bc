// The hooks of the plugin beside those of `!new`: an event is reported to a home once.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openHome } from '../../home/home.ts';
import { openOutbox } from '../../hooks/outbox.ts';
import { filesForHosts, programPlace } from '../../install/program-files.ts';
import { DROP, fixture } from '../support/hook-process.ts';
import { SHELLS } from '../support/shells.ts';
import { tempFolder } from '../support/temp-home.ts';

const RUN = join(dirname(DROP), '../../plugin/run');

/** A user with our program, and a plugin that Claude Code has copied to another place. */
function machine(shell: readonly string[] = ['sh']) {
  const user = tempFolder();
  const home = openHome(join(user, '.threadmux'));
  const place = programPlace(home, { HOME: user, PATH: process.env.PATH ?? '' });
  // As in `dist`, but without a courier, so that the letters stay.
  const program = join(user, 'program');
  mkdirSync(join(program, 'hooks'), { recursive: true });
  writeFileSync(join(program, 'hooks/drop'), readFileSync(DROP), { mode: 0o755 });
  writeFileSync(join(home.folder('state'), 'node'), '/bin/true\n');
  const remembered = readFileSync(home.path('state', 'program'), 'utf8').trim();
  writeFileSync(home.path('state', 'program'), `${program}\n`);
  const copy = join(user, 'copied');
  mkdirSync(copy);
  writeFileSync(join(copy, 'run'), readFileSync(RUN), { mode: 0o755 });
  const hook = (env: Readonly<Record<string, string>> = {}) => {
    const [program = 'sh', ...args] = shell;
    const pane = { TMUX: '/run/tmux/default,4242,0', TMUX_PANE: '%7' };
    const { status, stdout, stderr } = spawnSync(program, [...args, join(copy, 'run'), 'drop'], {
      env: { PATH: process.env.PATH ?? '', HOME: user, ...pane, ...env },
      input: JSON.stringify(fixture('Stop')),
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  const letters = () => {
    const outbox = openOutbox(home.path('outbox'));
    return outbox.boxes().flatMap((box) => outbox.letters(box)).length;
  };
  return { user, home, place, remembered, hook, letters };
}

const QUIET = { status: 0, stdout: '', stderr: '' };
const variablesOf = (text: string) => JSON.parse(text).env as Record<string, string>;

describe('the hooks of the plugin', () => {
  it.each(SHELLS)('are silent in an agent that has the hooks of `!new` (%s)', (_, ...shell) => {
    const { place, hook, letters } = machine(shell);
    const env = variablesOf(readFileSync(place.hookSettings, 'utf8'));
    expect(hook(env)).toEqual(QUIET);
    expect(letters()).toBe(0);
    expect(hook()).toEqual(QUIET);
    expect(letters()).toBe(1);
  });

  it('know their home by another path', () => {
    const { user, home, hook, letters } = machine();
    symlinkSync(home.root, join(user, 'link'));
    expect(hook({ THREADMUX_HOOKS: home.root, THREADMUX_HOME: join(user, 'link') })).toEqual(QUIET);
    expect(letters()).toBe(0);
  });

  it('report to their own threadmux if the hooks of `!new` report to one on another machine', () => {
    const { home, hook, letters } = machine();
    const there = join(home.root, 'for/laptop');
    mkdirSync(there, { recursive: true });
    const settings = filesForHosts('laptop', true)['settings.json'] ?? '';
    const env = variablesOf(settings.replaceAll('{HOME}', there));
    expect(env).toEqual({ THREADMUX_HOOKS: there });
    expect(hook(env)).toEqual(QUIET);
    expect(letters()).toBe(1);
  });

  it('find the program of a threadmux that was never installed with `install`', () => {
    const { remembered } = machine();
    expect(readdirSync(remembered)).toEqual(expect.arrayContaining(['bin', 'hooks']));
  });
});
