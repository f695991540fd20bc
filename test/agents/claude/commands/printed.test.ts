// What slash commands printed, from lines as Claude Code 2.1.197 and 2.1.325 write them.

import { expect, it } from 'vitest';
import { parsePrinted } from '../../../../agents/claude/commands/printed.ts';

const NOW = 1_000_000;
const at = (secondsAgo: number) => new Date((NOW - secondsAgo) * 1_000).toISOString();
const line = (uuid: string, more: object) => JSON.stringify({ uuid, timestamp: at(2), isSidechain: false, ...more });
const printed = (content: string) => `<local-command-stdout>${content}</local-command-stdout>`;
const read = (...lines: string[]) => parsePrinted([NOW, ...lines].join('\n'));

it('reads the lines of the system and of the user, without colours, with their age', () => {
  const lines = [
    line('a', {
      type: 'system',
      subtype: 'local_command',
      content: printed('Session renamed to: \u001b[1mfoo\u001b[22m'),
    }),
    line('b', { type: 'user', message: { role: 'user', content: printed('Set model to Sonnet 5') }, timestamp: at(1) }),
    line('c', { type: 'system', subtype: 'informational', content: 'Unknown command: /renam. Did you mean /rename?' }),
  ];
  expect(read(...lines)).toMatchObject([
    { uuid: 'a', age: 2, text: 'Session renamed to: foo' },
    { uuid: 'b', age: 1, text: 'Set model to Sonnet 5' },
    { uuid: 'c', age: 2, text: 'Unknown command: /renam. Did you mean /rename?' },
  ]);
});

it('names the command of each output', () => {
  const command = (uuid: string, name: string, args: string) =>
    line(uuid, {
      type: 'system',
      content: `<command-name>${name}</command-name>\n  <command-message>m</command-message>\n  <command-args>${args}</command-args>`,
    });
  const lines = [
    command('a', '/model', ''),
    line('b', { type: 'system', parentUuid: 'a', content: printed('Kept model as Sonnet 5') }),
    command('c', '/model', 'opus'),
    line('d', { type: 'user', parentUuid: 'c', message: { content: printed('Set model to Opus') } }),
    line('e', { type: 'system', parentUuid: null, content: printed('of nobody') }),
  ];
  expect(read(...lines)).toMatchObject([
    { uuid: 'b', command: '/model' },
    { uuid: 'd', command: '/model opus' },
    { uuid: 'e', command: '' },
  ]);
});

it.each([
  ['no output', ''],
  ['a closed panel', 'Settings dialog dismissed'],
  ['a closed list', 'Theme picker dismissed'],
  ['nothing to say', '(no content)'],
])('is empty for %s', (_, content) => {
  expect(read(line('a', { type: 'system', content: printed(content) }))).toMatchObject([{ uuid: 'a', text: '' }]);
});

it('leaves out the squares of /context', () => {
  const grid =
    ' Context Usage\n⛀ ⛁ ⛀ ⛶ ⛶   Sonnet 5\n⛶ ⛶ ⛶ ⛶ ⛶ \n⛶ ⛶ ⛶ ⛶ ⛶   ⛁ Messages: 10 tokens\n\n\nSkills · /skills';
  const [{ text = '' } = {}] = read(line('a', { type: 'system', content: printed(grid) }));
  expect(text).toBe(' Context Usage\nSonnet 5\n\n⛁ Messages: 10 tokens\n\nSkills · /skills');
});

it('ignores subagents, quotations, other lines, half a line and garbage', () => {
  const lines = [
    line('a', { type: 'system', isSidechain: true, content: printed('of a subagent') }),
    line('b', { type: 'assistant', message: { content: printed('quoted') } }),
    line('c', { type: 'user', message: { content: `look: ${printed('quoted')}` } }),
    line('d', { type: 'user', message: { content: [{ type: 'text', text: printed('a block') }] } }),
    line('e', { type: 'system', content: printed('no time'), timestamp: 'never' }),
    line('f', { type: 'system', content: printed('half') }).slice(0, 80),
    'content <local-command-stdout>',
    '{"type":"api-request-blob"}',
  ];
  expect(read(...lines)).toEqual([]);
});
