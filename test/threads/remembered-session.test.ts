// How a session that ended is found and started again: tables.

import { describe, expect, it } from 'vitest';
import { claude } from '../../agents/claude/driver.ts';
import { type ThreadRecord, threadRecordSchema } from '../../threads/registry.ts';
import {
  canStartAgain,
  conversationOf,
  rememberedSession,
  startedText,
  startOf,
} from '../../threads/remembered-session.ts';

function record(to: Partial<ThreadRecord>): ThreadRecord {
  return threadRecordSchema.parse({
    thread: '1',
    host: 'laptop',
    socket: '',
    serverPid: 1,
    paneId: '%1',
    panePid: 1,
    sessionId: '$1',
    sessionName: 'dup',
    command: 'claude',
    cwd: '/now',
    transcript: '',
    state: 'ended',
    at: 1,
    closed: true,
    claudeSession: '11111111-1111-4111-8111-111111111111',
    ...to,
  });
}

describe('the session that !new means', () => {
  const here = record({ thread: '10' });
  const far = record({ thread: '20', host: 'far', at: 5 });
  const farther = record({ thread: '30', host: 'farther', at: 9 });
  const found = (records: readonly ThreadRecord[], host?: string) =>
    rememberedSession(records, { name: 'dup', host, defaultHost: 'laptop' })?.thread;

  it.each([
    ['the one of the default host', [here, far], undefined, '10'],
    ['the newest one elsewhere', [far, farther], undefined, '30'],
    ['not one elsewhere that still runs', [record({ host: 'far', closed: false })], undefined, undefined],
    ['one here whose end was not noticed', [record({ thread: '10', closed: false })], undefined, '10'],
    ['the one of the given host', [here, far, farther], 'far', '20'],
    ['none of another host than the given one', [here], 'far', undefined],
    ['none whose name only begins the same', [record({ sessionName: 'dup2' })], undefined, undefined],
    ['no terminal', [record({ shell: 'terminal' })], undefined, undefined],
    ['no shell that somebody else started', [record({ shell: 'found' })], undefined, undefined],
    ['the newest with this name', [record({ thread: '1' }), record({ thread: '2', at: 3 })], undefined, '2'],
  ])('is %s', (_, records, host, thread) => {
    expect(found(records, host)).toBe(thread);
  });
});

describe('a remembered start', () => {
  it('is read as it was written', () => {
    const start = { directory: `~/it's "here"\t#{x}`, command: ['claude', '--model', 'a b'] };
    const text = startedText(start);
    expect(text).not.toMatch(/[\t\n]/);
    expect(startOf(record({ started: text }))).toEqual(start);
    expect(startedText({ directory: '~', command: ['x'.repeat(9_000)] })).toBe('');
  });

  it.each(['', 'x', '[]', '{"directory":1,"command":[]}', '{"directory":"/"}'])(
    'that is %j is the project',
    (started) => {
      expect(startOf(record({ started, project: '/p' }))).toEqual({ directory: '/p', command: [] });
      expect(startOf(record({ started }))).toEqual({ directory: '/now', command: [] });
    },
  );

  it('is offered only where it is known, and a conversation only of an agent', () => {
    expect(canStartAgain(record({}))).toBe(true);
    expect(canStartAgain(record({ shell: 'found' }))).toBe(false);
    expect(canStartAgain(record({ shell: 'ours', started: '{}' }))).toBe(true);
    expect(conversationOf(record({}))).toMatch(/^1111/);
    expect(conversationOf(record({ shell: 'ours' }))).toBeUndefined();
    for (const claudeSession of ['', '--help', 'a b', '-r'.repeat(9)])
      expect(conversationOf(record({ claudeSession }))).toBeUndefined();
  });
});

it.each([
  [[], ['claude']],
  [['claude'], ['claude']],
  [
    ['claude', '--model', 'opus'],
    ['claude', '--model', 'opus'],
  ],
  [
    ['claude', '--model=opus', '--verbose'],
    ['claude', '--model=opus', '--verbose'],
  ],
  [
    ['claude', '--model', 'opus', 'fix the bug'],
    ['claude', '--model', 'opus'],
  ],
  [['claude', '--continue', '--resume', 'x', '-p', 'now'], ['claude']],
  [
    ['claude', '--dangerously-skip-permissions', '--unknown', 'v'],
    ['claude', '--dangerously-skip-permissions'],
  ],
])('the command %j continues a conversation as %j and --resume', (command, kept) => {
  const place = { settings: {}, scripts: '', home: '', directory: '/' };
  const { argv } = claude.launch({ ...place, command, resume: { session: 'id' } });
  expect(argv).toEqual([...kept, '--resume', 'id']);
});
