// docs/cli.md says which keys the JSON of each command has, and which exit code belongs to each error. Every command runs here, beside the
// whole program.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { parse } from 'jsonc-parser';
import { describe, expect, it, vi } from 'vitest';
import { makeProgram } from '../../bin/program.ts';
import { exitCodeOf, ThreadmuxError } from '../../core/errors.ts';
import { startRunningUp } from '../support/running-up.ts';
import { WAIT } from './cli.ts';

type Json = Readonly<Record<string, unknown>>;

/** The documented JSON of each command, by its words: "capture --post". */
function documented(): ReadonlyMap<string, Json> {
  const [, , block = ''] = /(### As JSON\n\n```jsonc\n)(.*?)```/s.exec(readFileSync('docs/cli.md', 'utf8')) ?? [];
  return new Map(
    block.split(/^(?=\/\/ threadmux )/m).flatMap((part) => {
      const [head = ''] = part.split('\n');
      return [...head.matchAll(/threadmux ([a-z -]+?) --json/g)].map(([, words = '']) => [words, parse(part)] as const);
    }),
  );
}

function withJson(command: Command, path: readonly string[] = []): readonly string[] {
  const own = command.options.some(({ long }) => long === '--json') ? [path.join(' ')] : [];
  return [...own, ...command.commands.flatMap((sub) => withJson(sub, [...path, sub.name()]))];
}

/** The keys of an object, and of the first object of each list in it: `sessions[].name`. */
function keysOf(value: unknown, at = ''): readonly string[] {
  if (Array.isArray(value)) return keysOf(value[0], `${at}[]`);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => [`${at}.${name}`, ...keysOf(one, `${at}.${name}`)]);
}

it('the errors in docs/cli.md are all that there are, with their exit codes', () => {
  const manual = readFileSync('docs/cli.md', 'utf8');
  const [, table = ''] = /\| Code \| Exit code \| Meaning \|\n(.*?)\n\n/s.exec(manual) ?? [];
  const rows = table.split('\n').slice(1);
  const said = rows.flatMap((row) => {
    const [, codes = '', exit = ''] = row.split('|');
    return [...codes.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => [code, Number(exit)] as const);
  });
  const [, union = ''] = /type ErrorCode =\n(.*?);/s.exec(readFileSync('core/errors.ts', 'utf8')) ?? [];
  const real = [...union.matchAll(/'([a-z_]+)'/g)].map(([, code = '']) => code);
  const error = (code: string) => new ThreadmuxError(code as ThreadmuxError['code'], '');
  expect(real.length).toBeGreaterThan(15);
  expect(Object.fromEntries(said)).toEqual({
    ...Object.fromEntries(real.map((code) => [code, exitCodeOf(error(code))])),
    internal: exitCodeOf(new Error('x')),
  });
});

describe('the JSON in docs/cli.md', () => {
  const manual = documented();

  it('is there for every command with --json', () => {
    const commands = withJson(makeProgram({ wantsJson: false })).filter((name) => name !== 'config');
    expect(commands.length).toBeGreaterThan(25);
    expect(commands.filter((name) => !manual.has(name))).toEqual([]);
  });

  it('has the keys that the commands print', async () => {
    const up = await startRunningUp();
    execFileSync('git', ['init', '-q', up.project]);
    const commit = ['-c', 'user.name=a', '-c', 'user.email=a@a', 'commit', '-q', '--allow-empty', '-m', 'first'];
    execFileSync('git', ['-C', up.project, ...commit]);
    writeFileSync(join(up.project, 'report.txt'), 'fine\n');
    const tried = new Map<string, readonly string[]>();
    const check = async (words: string, args: readonly string[], env: Record<string, string> = {}) => {
      const run = words === 'doctor' ? up.run : up.runHere; // vitest takes what is printed with console
      const { status, stdout, stderr } = await run([...words.split(' '), '--json', ...args], { env });
      const text = stdout.startsWith('{\n') ? stdout : (stdout.split('\n')[0] ?? '');
      if (text === '') throw new Error(`${words}: ${status} ${stderr}`);
      tried.set(words, keysOf(JSON.parse(text)));
      return JSON.parse(text) as Json;
    };
    await check('start', ['shop']);
    await vi.waitFor(() => expect(up.record('shop').claudeSession).not.toBe(''), WAIT);
    const inside = up.inside('shop');
    await check('sessions', []);
    await check('send', ['shop', 'hello']);
    await check('wait', ['shop']);
    await check('send --wait-reply', ['shop', 'more']);
    await check('reply', ['shop']);
    await check('capture', ['shop']);
    await check('capture --post', ['shop']);
    await check('attach', ['shop']);
    await check('thread open', ['shop']);
    await check('file', ['report.txt'], inside);
    await check('notify', ['half done'], inside);
    await check('tail', ['shop', '--no-follow', '-n', '1']);
    await check('ask', ['Anybody?', '--timeout', '1'], inside);
    await check('thread close', ['shop']);
    const first = await up.runHere(['start', 'tree', '--worktree', '--prompt', 'hello', '--wait', '--json']);
    tried.set('start --prompt --wait', keysOf(first.data()));
    await check('worktrees list', []);
    await check('terminal', ['shop', '--', 'true']);
    await check('agent', ['shop', 'hello']);
    await check('auto', []);
    await check('link', []);
    await check('status', []);
    await check('doctor', []);
    await check('logs', []);
    await check('new', ['second', '--', 'cat']);
    await check('kill', ['second']);
    await up.kill(); // it would remove the worktree
    await check('stop', ['tree']);
    await check('worktrees remove', ['shop/tree']);
    const outbox = join(up.home.root, 'outbox/aside');
    mkdirSync(outbox, { recursive: true, mode: 0o700 });
    const input = readFileSync('test/fixtures/claude/hooks/Stop.json', 'utf8');
    const id = '1760000000000-77.3-100000001.8';
    writeFileSync(
      join(outbox, id),
      `threadmux 2\ntmux /tmp/none,1,0\npane %0\nentrypoint cli\nproject /shop\n\n${input}\n`,
    );
    await check('outbox list', []);
    await check('outbox show', [id]);
    await check('outbox retry', [id]);

    const [one] = (manual.get('sessions')?.sessions ?? []) as readonly Json[];
    const session = keysOf(one);
    for (const [words, keys] of tried) {
      const said = keysOf(manual.get(words));
      const expected = ['start', 'new'].includes(words) ? ['.created', ...session] : said;
      const optional = ['.findings[].remedy', ...said.filter((key) => key.startsWith('.unreachable[]'))];
      const plain = (all: readonly string[]) => all.filter((key) => !optional.includes(key)).toSorted();
      expect([words, plain(keys)]).toEqual([words, plain(expected)]);
    }
    expect([...manual.keys()].filter((words) => !tried.has(words))).toEqual([]);
  });
});
