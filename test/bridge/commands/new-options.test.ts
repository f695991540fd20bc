// What follows "!new".

import { describe, expect, it } from 'vitest';
import { parseNewOptions } from '../../../bridge/commands/new-options.ts';
import { ThreadmuxError } from '../../../core/errors.ts';

const NOTHING = {
  host: undefined,
  directory: undefined,
  command: undefined,
  settings: {},
  continues: false,
  prompt: undefined,
};

it.each([
  ['shop', {}],
  ['shop mini', { host: 'mini' }],
  ['shop ~/shop mini', { host: 'mini', directory: '~/shop' }],
  ['shop -- bash', { command: ['bash'] }],
  ['shop /srv -- claude -- --model opus', { directory: '/srv', command: ['claude', '--', '--model', 'opus'] }],
  ['shop --', {}],
  ['shop --model opus', { settings: { model: 'opus' } }],
  ['--model=claude-opus-5[1m] shop mini', { host: 'mini', settings: { model: 'claude-opus-5[1m]' } }],
  ['shop --mode plan', { settings: { permissionMode: 'plan' } }],
  ['shop --mode AcceptEdits', { settings: { permissionMode: 'acceptEdits' } }],
  ['shop --mode manual', { settings: { permissionMode: 'default' } }],
  ['shop --agent claude --worktree', { settings: { agent: 'claude', worktree: true } }],
  ['shop --continue ~/shop', { directory: '~/shop', continues: true }],
  ['shop —worktree —mode plan', { settings: { worktree: true, permissionMode: 'plan' } }],
  ['shop — bash -c —', { command: ['bash', '-c', '—'] }],
  ['shop --worktree -- npm test', { settings: { worktree: true }, command: ['npm', 'test'] }],
  ['shop --model opus --model haiku', { settings: { model: 'haiku' } }],
  ['shop --prompt Fix it.\n\nThen -- test --model', { prompt: 'Fix it.\n\nThen -- test --model' }],
  ['shop --model opus —prompt=go on', { settings: { model: 'opus' }, prompt: 'go on' }],
  ['shop -- echo --prompt x', { command: ['echo', '--prompt', 'x'] }],
  ['shop "~/my shop" mini', { host: 'mini', directory: '~/my shop' }],
])('accepts %s', (rest, wanted) => {
  expect(parseNewOptions(rest)).toEqual({ ...NOTHING, name: 'shop', ...wanted });
});

it.each(['', '-- bash', 'shop ~/a ~/b', 'shop mini laptop', 'a.b', '#(id)', '$(id)', 'x'.repeat(65), "'", 'ü'])(
  'refuses %j with a sentence',
  (rest) => {
    expect(() => parseNewOptions(rest)).toThrow(ThreadmuxError);
  },
);

describe('a mistake in an option gets one sentence:', () => {
  it.each([
    ['shop --modle opus', '`--modle` is not an option of `!new`: did you mean `--model`?'],
    [
      '-rf',
      '`-rf` is not an option of `!new`: use `--model`, `--mode`, `--agent`, `--worktree`, `--continue`, `--prompt`.',
    ],
    ['shop --prompt', '`--prompt` needs the first message after it.'],
    ['shop --prompt= ', '`--prompt` needs the first message after it.'],
    ['shop --model', '`--model` needs a value, such as `--model opus`.'],
    ['shop --mode --worktree', '`--mode` needs a value, such as `--mode plan`.'],
    ['shop --mode paln', '`paln` is not a mode: did you mean `plan`?'],
    ['shop --agent claud', '`claud` is not an agent: did you mean `claude`?'],
    ['shop --model $(id)', '`$(id)` cannot be the name of a model, such as `opus`.'],
    ['shop --worktree=yes', '`--worktree` takes no value.'],
    ['shop --model opus -- bash', '`--model` is for the agent, so it cannot be used with a command after `--`.'],
    ['shop --continue -- bash', '`--continue` is for the agent, so it cannot be used with a command after `--`.'],
  ])('%s', (rest, sentence) => {
    expect(() => parseNewOptions(rest)).toThrow(new ThreadmuxError('bad_usage', sentence));
  });
});
