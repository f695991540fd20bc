// Which variables a session gets, and how they are given: a table.

import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { configuredAgent } from '../../agents/configured-agent.ts';
import { environmentScript, sessionEnvironment } from '../../core/session-environment.ts';

const names = (
  env: Record<string, string | undefined>,
  patterns = configuredAgent({ agents: {} }, 'claude').environment,
) => Object.keys(sessionEnvironment(env, patterns));

it.each([
  ['ANTHROPIC_API_KEY', true],
  ['ANTHROPIC', false],
  ['CLAUDE_CONFIG_DIR', true],
  ['CLAUDE_CODE_OAUTH_TOKEN', true],
  ['CLAUDE_CODE_USE_BEDROCK', true],
  ['CLAUDECODE', false],
  ['CLAUDE_CODE_ENTRYPOINT', false],
  ['CLAUDE_CODE_SESSION_ID', false],
  ['CLAUDE_CODE_EXECPATH', false],
  ['CLAUDE_PROJECT_DIR', false],
  ['https_proxy', true],
  ['NO_PROXY', true],
  ['LC_ALL', true],
  ['LANG', true],
  ['LANGUAGE', false],
  ['PATH', true],
  ['HOME', false],
  ['TMUX', false],
  ['AWS_SECRET_ACCESS_KEY', false],
])('%s is passed by default: %s', (name, isPassed) => {
  expect(names({ [name]: 'x' })).toEqual(isPassed ? [name] : []);
});

it('passes what is listed instead, but never our token, our pane, or a name that is none', () => {
  const env = {
    AWS_REGION: 'x',
    DISCORD_BOT_TOKEN: 'x',
    TMUX_PANE: '%1',
    'A;B': 'x',
    AWS: undefined,
    ANTHROPIC_API_KEY: 'x',
  };
  expect(names(env, ['AWS*', 'DISCORD_*', 'TMUX*', 'A*'])).toEqual(['AWS_REGION', 'ANTHROPIC_API_KEY']);
});

it('gives every value unchanged to sh', () => {
  const value = `a'b"c\\d $(touch x) \`x\`\n #!%;\t~ é`;
  const script = environmentScript({ ANTHROPIC_API_KEY: value, PATH: '/a b' });
  const asked = spawnSync('sh', ['-c', `${script}printf '%s|%s' "$ANTHROPIC_API_KEY" "$tmx_path"`], {
    encoding: 'utf8',
  });
  expect(asked.stdout).toBe(`${value}|/a b`);
});
