import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binWith, PROGRAM, startCli } from '../cli.ts';

const SHELLS = ['bash', 'zsh', 'fish'].filter((shell) => spawnSync(shell, ['-c', 'true']).status === 0);

/** What the real shell offers for an unfinished line. */
const OFFER: Readonly<Record<string, string>> = {
  bash: `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _threadmux; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `compadd() { print -l -- "\${(@P)2}" }; _files() { }; source "$1"; shift; words=("$@"); CURRENT=$#; _threadmux | grep -- "^\${words[-1]}"; true`,
  fish: `source $argv[1]; complete -C (string join ' ' -- $argv[2..-1]) | string replace -r '\\t.*' ''`,
};

async function startCompletions(shell: string) {
  const cli = startCli();
  const script = join(cli.dir, `completions.${shell}`);
  const { stdout, status } = await cli.runHere(['completions', shell]);
  expect(status).toBe(0);
  writeFileSync(script, stdout);
  const names = join(cli.dir, 'names'); // what the program printed the first time
  const real = `[ -f '${names}' ] || ${process.execPath} ${PROGRAM} "$@" > '${names}'`;
  const bin = binWith(cli.dir, 'threadmux', `${real}\ncat '${names}'`);
  const env = { ...cli.env, PATH: `${bin}:${cli.env.PATH}` };
  const call = (...args: string[]) => spawnSync(shell, args, { env, cwd: cli.dir, encoding: 'utf8' });
  const offers = (...words: string[]) => {
    const flags = shell === 'zsh' ? ['-f', '-c'] : ['-c'];
    const name = shell === 'fish' ? [] : [shell];
    const done = call(...flags, OFFER[shell] ?? '', ...name, script, 'threadmux', ...words);
    expect(done.stderr).toBe('');
    return done.stdout.split('\n').filter(Boolean).toSorted();
  };
  return { cli, script, call, offers };
}

describe('completions', () => {
  it('are tested in bash, which every system has', () => {
    expect(SHELLS).toContain('bash');
  });

  it.each(SHELLS)('parse in %s, and offer commands, subcommands and options', async (shell) => {
    const { script, call, offers } = await startCompletions(shell);
    expect(call('-n', script)).toMatchObject({ status: 0, stderr: '' });
    expect(offers('se')).toEqual(['send', 'service', 'sessions']);
    expect(offers('service', 'in')).toEqual(['install']);
    expect(offers('auto', 'o')).toEqual(['off', 'on']);
    expect(offers('capture', '--li')).toEqual(['--lines']);
    const some = ['ask', 'agent', 'file', 'mcp', 'notify', 'reply', 'tail', 'terminal', 'wait', 'worktrees'];
    expect(offers('')).toEqual(expect.arrayContaining(some));
    expect(offers('ask', '--o')).toEqual(['--option']);
    expect(offers('start', '--pro')).toEqual(['--prompt']);
    expect(offers('send', '--wait')).toEqual(['--wait', '--wait-reply']);
    expect(offers('worktrees', 're')).toEqual(['remove']);
  });

  it.each(SHELLS)('offer sessions in %s, and execute no session name', async (shell) => {
    const { cli, offers } = await startCompletions(shell);
    for (const name of ['web', 'web-2', 'db', '$(touch pwned)', 'web`touch pwned`', 'web;touch pwned'])
      cli.tmux.call('new-session', '-d', '-s', name, 'cat');
    const others = ['attach', 'capture', 'reply', 'send', 'stop', 'tail', 'wait'].map((name) => [name]);
    for (const words of [['kill'], ['thread', 'open'], ['thread', 'close'], ...others])
      expect([words, offers(...words, 'we')]).toEqual([words, ['web', 'web-2']]);
    expect(existsSync(join(cli.dir, 'pwned'))).toBe(false);
  });
});
