import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type ParseError, parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';

const START = fileURLToPath(new URL('../../../agents/opencode/start', import.meta.url));
const OURS = ['/opt/with "quotes"/plugin.js', { home: "/it's home" }];

/** The configuration that OpenCode would get, read as OpenCode reads it. */
function configFrom(theirs: string | undefined, shell = 'sh') {
  const env = { PATH: process.env.PATH, ...(theirs === undefined ? {} : { OPENCODE_CONFIG_CONTENT: theirs }) };
  const print = ['sh', '-c', 'printf %s "$OPENCODE_CONFIG_CONTENT"; printf " %s" "$@" >&2', 'sh', 'two words', '$x'];
  const done = spawnSync(shell, [START, JSON.stringify(OURS), ...print], { env, encoding: 'utf8' });
  expect(done.stderr).toBe(' two words $x');
  const errors: ParseError[] = [];
  const config = parse(done.stdout, errors, { allowTrailingComma: true });
  expect(errors, done.stdout).toEqual([]);
  return config;
}

describe.each(['sh', 'bash', 'dash'])('the start of OpenCode in %s', (shell) => {
  it.each([
    ['nothing', undefined, {}, []],
    ['an empty text', '', {}, []],
    ['an empty object', '{}', {}, []],
    ['other keys', '{ "model": "a/b", "list": ["x"] }', { model: 'a/b', list: ['x'] }, []],
    [
      'plugins',
      '{ "model": "a/b", "plugin": ["theirs", ["and", {"x": 1}]] }',
      { model: 'a/b' },
      ['theirs', ['and', { x: 1 }]],
    ],
    ['no plugins', '{\n  // comment\n  "plugin" :\n [ ] }', {}, []],
    ['the word as a value', '{ "a": "plugin", "b": [1] }', { a: 'plugin', b: [1] }, []],
  ])('adds our plugin to %s of the user', (_, theirs, rest, plugins) => {
    expect(configFrom(theirs, shell)).toEqual({ ...rest, plugin: [OURS, ...plugins] });
  });
});
