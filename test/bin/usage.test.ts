import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../core/errors.ts';
import { VERSION } from '../../core/version.ts';
import { shareAmongTests } from '../support/at-end.ts';
import { startCli } from './cli.ts';

describe('the command line', () => {
  const cli = shareAmongTests(() => startCli());

  it.each([
    [['frobnicate'], 'unknown command'],
    [['up', '--port', '70000'], 'from 0 to 65535'],
    [['capture', 'web', '-n', '0'], 'from 1 to'],
    [['capture', 'web', '-n', 'many'], 'from 1 to'],
    [['kill'], 'missing required argument'],
    [['new'], 'missing required argument'],
    [['new', 'bad name'], 'cannot name a session'],
    [['new', '#(touch x)'], 'cannot name a session'],
    [['start', 'web', 'vim', 'x'], 'after "--"'],
    [['start', 'web', '--prefix', 'job'], 'not both'],
    [['start', 'web', '--mode', 'paln'], 'did you mean `plan`?'],
    [['start', 'web', '--model', 'opus', '--', 'cat'], 'are for the agent'],
    [['start', '--prefix', 'a b'], 'cannot name a session'],
    [['start', 'web', '--dir', '~root'], 'is not a directory to start in'],
    [['stop'], 'no session given'],
    [['capture'], 'no session given'],
    [['attach', 'a', 'b'], 'too many arguments'],
    [['send', 'web'], 'nothing to send'],
    [['send', 'web', '--wait', 'soon', 'hi'], 'from 0 to 86400'],
    [['auto', 'maybe'], 'Allowed choices are on, off'],
    [['completions', 'powershell'], 'Allowed choices are bash, zsh, fish'],
    [['outbox', 'show'], 'missing required argument'],
  ])('rejects %j as wrong usage, with exit code 2 and a sentence on stderr', async (args, said) => {
    const result = await cli().runHere(args);
    expect(result).toMatchObject({ status: EXIT.usage, stdout: '' });
    expect(result.stderr).toContain(said);
  });

  it('prints nothing that controls the terminal, whatever it is called with and whatever it reads', async () => {
    const { root, dir, runHere } = startCli();
    const HOSTILE = 'a\x1b]0;b\x07\x9b31m';
    const said = [await runHere([HOSTILE]), await runHere(['up', '--port', HOSTILE]), await runHere(['auto', HOSTILE])];
    const server = { token: 'x', channel: '123456789012345678', allow: ['123456789012345678'] };
    const servers = [{ ...server, api: `http://127.0.0.1:9/${HOSTILE}` }];
    writeFileSync(join(root, 'config.json'), JSON.stringify({ servers }), { mode: 0o600 });
    said.push(await runHere(['status']));
    mkdirSync(join(dir, '.claude'));
    writeFileSync(join(dir, '.claude', 'settings.local.json'), JSON.stringify({ model: HOSTILE }));
    said.push(await runHere(['install', '--project', '.', '--dry-run']));
    for (const { stdout, stderr } of said) {
      expect(stdout + stderr).toContain('⟨U+009B⟩31m');
      expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]/u);
    }
  });

  it('reports wrong usage as JSON only, when asked for JSON', async () => {
    const wrong = [['frobnicate'], ['kill'], ['capture', 'x', '-n', 'y'], ['new', 'a b'], ['list', '--x']];
    const results = await Promise.all(wrong.map((args) => cli().runHere([...args, '--json'])));
    for (const result of results) {
      expect(result).toMatchObject({ status: EXIT.usage, stdout: '' });
      expect(result.error()).toMatchObject({
        code: expect.stringMatching(/^(bad_usage|name_refused)$/),
        hint: expect.any(String),
      });
    }
  });

  it.each([
    [['kill', 'web'], EXIT.notFound, 'session_not_found'],
    [['capture', 'web'], EXIT.notFound, 'session_not_found'],
    [['attach', 'web'], EXIT.notFound, 'session_not_found'],
    [['send', 'web', 'hi'], EXIT.notFound, 'session_not_found'],
    [['sessions', '--host', 'mars'], EXIT.notFound, 'not_found'],
    [['start', 'web', '--host', 'mars'], EXIT.notFound, 'not_found'],
    [['outbox', 'show', 'x'], EXIT.notFound, 'not_found'],
    [['link'], EXIT.notFound, 'not_found'],
    [['start', 'web', '--dir', '/nonexistent'], EXIT.failed, 'tmux_failed'],
  ])('answers %j with exit code %i, code %s, a message and a hint', async (args, status, code) => {
    const result = await cli().runHere([...args, '--json']);
    expect(result).toMatchObject({ status, stdout: '' });
    expect(result.error()).toMatchObject({ code, message: expect.any(String), hint: expect.any(String) });
  });

  it('exits with 78 for an invalid configuration, whatever the command', async () => {
    const { run, runHere } = startCli({ alow: [] });
    const results = await Promise.all([runHere(['sessions']), run(['up']), run(['config', '--json'])]);
    expect(results.map(({ status }) => status)).toEqual([78, 78, 78]);
    expect(results[0]?.stderr).toContain('alow is not a key');
    expect(results[2]?.error().code).toBe('config_invalid');
  });

  it('never prints a token', async () => {
    const token = `MTIzNDU2Nzg5MDEyMzQ1Njc4OQ.GabcDE.${'x'.repeat(38)}`;
    const { runHere } = startCli({
      servers: [{ token, channel: '123456789012345678', allow: ['123456789012345679'] }],
    });
    for (const args of [['config'], ['status', '--json'], ['sessions', '--json']]) {
      const { stdout, stderr, status } = await runHere(args);
      expect(status).toBe(0);
      expect(stdout + stderr).not.toContain('x'.repeat(38));
    }
  });

  it('prints its version, its exit codes and its commands, each with an example', async () => {
    const { run, runHere } = cli();
    expect((await run(['--version'])).stdout).toBe(`${VERSION}\n`);
    const { stdout, status } = await run(['--help']);
    expect(status).toBe(0);
    for (const code of Object.values(EXIT)) expect(stdout).toMatch(new RegExp(`^ {2}${code} `, 'm'));
    const commands = [...stdout.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)?(?: [[<]|\s{2,})/gm)]
      .map(([, name]) => name as string)
      .filter((name) => name !== 'help' && name !== 'threadmux');
    expect(commands.length).toBeGreaterThan(18);
    const pages = await Promise.all(commands.map((name) => runHere([name, '--help'])));
    for (const [at, page] of pages.entries())
      expect(page.stdout, commands[at]).toContain(`Example:\n  threadmux ${commands[at]}`);
    expect(pages[commands.indexOf('config')]?.stdout).toMatch(/^ {2}maxThreads +number +how many/m);
    const manual = readFileSync('docs/cli.md', 'utf8');
    for (const name of commands) expect(manual).toContain(`threadmux ${name}`);
  });
});
