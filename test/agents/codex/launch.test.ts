import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { chooseMode, hookOptions, launchCodex } from '../../../agents/codex/launch.ts';
import type { LaunchOptions } from '../../../agents/driver.ts';

const options: LaunchOptions = {
  command: ['codex'],
  settings: {},
  scripts: '/opt/threadmux/dist/hooks',
  home: '/home/user/.threadmux',
  directory: '/home/user/project',
};
const local = { node: '/usr/bin/node', dist: '/opt/threadmux/dist' };
const facts = { local: true, version: 'codex-cli 0.166.0', home: '/home/user/.threadmux', wishes: [] };

/** The words that a shell makes of a quoted one. */
function words(quoted: string): readonly string[] {
  const script = `for word in ${quoted}; do printf '%s\\n' "$word"; done`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n');
}

describe('Codex has a server of its own', () => {
  it('only here, in a version that has one, without options that do not fit', () => {
    expect(chooseMode(facts).kind).toBe('server');
    expect(chooseMode({ ...facts, version: undefined }).kind).toBe('server');
    expect(chooseMode({ ...facts, version: 'codex-cli 1.0.0' }).kind).toBe('server');
  });

  it.each([
    ['on another host', { local: false }, 'On another host'],
    ['an older version', { version: 'codex-cli 0.165.9' }, 'This version'],
    ['a profile', { wishes: ['--profile', 'work'] }, '--profile'],
    ['a profile in one word', { wishes: ['--profile=a secret'] }, 'because of --profile.'],
    ['no server wanted', { wishes: ['--no-daemon'] }, '--no-daemon'],
    ['a long home', { home: `/${'x'.repeat(80)}` }, 'too long'],
  ])('not for: %s', (_, change, because) => {
    const mode = chooseMode({ ...facts, ...change });
    expect(mode).toMatchObject({ kind: 'hooks' });
    expect(mode.because).toContain(because);
  });

  it('and the server gets the options that change the configuration, Codex all of them', () => {
    const command = ['npx', 'codex', '-c', "profile_name='a b'", '--search'];
    const settings: LaunchOptions['settings'] = {
      model: 'gpt-6',
      permissionMode: 'dontAsk',
      args: ['--add-dir', '/tmp'],
    };
    const { argv, weaker, environment } = launchCodex({ ...options, command, settings, local, resume: 'newest' });
    expect(weaker).toBeUndefined();
    expect(environment).toEqual({});
    const [sh, script, home, scripts, server = '', companion = '', , notice = '', program = '', ...rest] = argv;
    expect([sh, script, home, scripts]).toEqual([
      '/bin/sh',
      '/opt/threadmux/dist/agents/codex/codex-pane',
      options.home,
      options.scripts,
    ]);
    expect(words(server)).toEqual(['npx', 'codex', 'app-server', '-c', "profile_name='a b'"]);
    expect(words(companion)).toEqual([
      ...['/usr/bin/node', '/opt/threadmux/dist/bin/codex-companion.js'],
      ...[options.scripts, options.home],
    ]);
    expect(JSON.parse(notice)).toMatchObject({ event: 'notice', cwd: options.directory });
    expect(words(program)).toEqual(['npx', 'codex']);
    expect(rest).toEqual([
      ...['resume', '--last', '-c', "profile_name='a b'", '--search', '--model', 'gpt-6'],
      ...['--ask-for-approval', 'never', '--add-dir', '/tmp'],
    ]);
  });

  it('continues a conversation by its id', () => {
    expect(launchCodex({ ...options, local, resume: { session: 'abc' } }).argv.slice(-2)).toEqual(['resume', 'abc']);
  });
});

describe('Codex with hooks', () => {
  it('gets them on its command line, trusted, and the welcome says what is weaker', () => {
    const { argv, weaker } = launchCodex(options);
    expect(argv[0]).toBe('codex');
    expect(argv).toEqual(['codex', ...hookOptions(options.scripts, options.home)]);
    expect(weaker).toMatch(/^On another host, .*trusted for this start/);
  });

  it('trusts exactly our commands: another command has another hash', () => {
    const trust = (scripts: string) => hookOptions(scripts, '/home/user/.threadmux').at(-1) ?? '';
    expect(trust('/a')).toMatch(
      /^hooks\.state=\{"\/<session-flags>\/config\.toml:session_start:0:0"=\{trusted_hash="sha256:/,
    );
    expect(trust('/a')).not.toBe(trust('/b'));
    expect(trust('/a').match(/sha256:[0-9a-f]{64}/g)).toHaveLength(6);
  });

  it('quotes paths for the shell inside a string of TOML', () => {
    const [, hook = ''] = hookOptions('/it\'s "here"', '/home');
    expect(hook).toContain(String.raw`command="THREADMUX_HOME='/home' '/it'\\''s \"here\"/drop' codex"`);
  });
});
