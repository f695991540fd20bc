// The small pure rules of journey 2: who may write, what a message means, what is typed for it, what a shell printed.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUILTIN_COMMANDS } from '../../agents/claude/commands/builtin.ts';
import { claude } from '../../agents/claude/driver.ts';
import type { SlashCommand } from '../../agents/slash-command.ts';
import { COMMANDS, helpText, pressesKeys } from '../../bridge/commands/commands.ts';
import { restOf, SLASH_COMMANDS } from '../../bridge/commands/slash.ts';
import { type Incoming, type RouteContext, refusalReason, route } from '../../bridge/route.ts';
import { decideSlash, isPlainCommand } from '../../bridge/slash-decision.ts';
import { lastLinesOf, newLines } from '../../bridge/type-into-program.ts';
import { composeForAgent, safeName } from '../../bridge/typed-text.ts';
import { interactionSchema } from '../../discord/interactions.ts';
import { cpuMs } from '../support/cpu-time.ts';

const server = { allow: ['1'] };

describe('the list of allowed users', () => {
  it.each([
    ['accepts a listed user', { userId: '1', isBot: false, isWebhook: false }, undefined],
    ['refuses another user', { userId: '2', isBot: false, isWebhook: false }, 'not listed'],
    ['refuses an empty id', { userId: '', isBot: false, isWebhook: false }, 'not listed'],
    ['refuses a listed bot', { userId: '1', isBot: true, isWebhook: false }, 'bot'],
    ['refuses a webhook with a listed id', { userId: '1', isBot: false, isWebhook: true }, 'webhook'],
  ] as const)('%s', (_, speaker, wanted) => {
    expect(refusalReason(speaker, server)).toBe(wanted);
  });

  it('allows nobody when it is empty', () => {
    expect(refusalReason({ userId: '1', isBot: false, isWebhook: false }, { allow: [] })).toBe('not listed');
  });
});

describe('the meaning of a message:', () => {
  const message: Incoming = {
    authorId: '1',
    fromBot: false,
    fromWebhook: false,
    written: true,
    text: 'hello',
    attachments: 0,
  };
  const ignored = (because: string) => ({ kind: 'ignore', because });

  it.each<[string, Partial<Incoming>, RouteContext, object]>([
    ['text', {}, 'thread', { kind: 'forward', text: 'hello' }],
    ['text in the channel', {}, 'channel', ignored('talk')],
    ['text elsewhere', {}, 'elsewhere', ignored('elsewhere')],
    ['a command elsewhere', { text: '!kill web' }, 'elsewhere', ignored('elsewhere')],
    ['a joined thread', { written: false }, 'thread', ignored('system')],
    ['a bot', { fromBot: true }, 'thread', ignored('bot')],
    ['a webhook', { fromWebhook: true }, 'thread', ignored('webhook')],
    ['an unknown user', { authorId: '2' }, 'thread', ignored('not listed')],
    ['a command of an unknown user', { authorId: '2', text: '!kill web' }, 'channel', ignored('not listed')],
    ['an empty message', { text: ' \n ' }, 'thread', ignored('empty')],
    ['control characters only', { text: '\u001b\u0000\u009f' }, 'thread', ignored('empty')],
    ['a file without text', { text: '', attachments: 1 }, 'thread', { kind: 'forward', text: '' }],
    ['a command', { text: '!sessions' }, 'channel', { kind: 'command', name: 'sessions', rest: '' }],
    [
      'a command in capitals',
      { text: ' !NEW shop  mini ' },
      'thread',
      { kind: 'command', name: 'new', rest: 'shop  mini' },
    ],
    [
      'a command of several lines',
      { text: '!sh echo a\necho b' },
      'thread',
      { kind: 'command', name: 'sh', rest: 'echo a\necho b' },
    ],
    ['a lone !', { text: '!' }, 'thread', { kind: 'command', name: '', rest: '' }],
    ['a ! after an escape byte', { text: '\u001b\u200d!rm' }, 'thread', { kind: 'forward', text: '\u200d!rm' }],
    ['a ! after a control character', { text: '\u0007!rm x' }, 'thread', { kind: 'command', name: 'rm', rest: 'x' }],
  ])('%s', (_, more, where, wanted) => {
    expect(route({ ...message, ...more }, where, server)).toEqual(wanted);
  });
});

describe('the text that is typed', () => {
  const prompt = (text: string) => ({ kind: 'prompt', text });

  it.each([
    ['hello', [], prompt('hello')],
    ['  hello\r\nthere ', [], prompt('hello\nthere')],
    ['', [], { kind: 'nothing' }],
    ['\u001b', [], { kind: 'nothing' }],
    ['', ['/files/a'], prompt(' /files/a')],
    ['look', ['/files/a', '/files/b'], prompt('look\n\n/files/a\n/files/b')],
    ['/clear', [], prompt(' /clear')],
    ['/clear', ['/files/a'], prompt(' /clear\n\n/files/a')],
    ['/etc/passwd', [], prompt(' /etc/passwd')],
    ['\u001b[201~\r!id', [], prompt('[201~\n!id')],
    ['@file', [], prompt(' @file ')],
    ['a \\', [], prompt('a \\ ')],
  ] as const)('is right for %j with %j', (text, paths, wanted) => {
    expect(composeForAgent(text, paths, 'text', claude.typing)).toEqual(wanted);
  });

  it.each([
    ['/clear', [], '/clear\u00a0'],
    ['/model opus', [], '/model opus'],
    ['/greet Bob\nand Alice', [], '/greet Bob\nand Alice'],
    ['/greet @Bob', [], '/greet @Bob '],
    ['/greet', ['/files/a'], '/greet /files/a'],
  ])('ends a command so that Enter runs no other one from the menu: %j with %j', (text, paths, wanted) => {
    expect(composeForAgent(text, paths, 'command', claude.typing)).toEqual({ kind: 'slash', text: wanted });
  });

  it('never starts with a prefix that Claude Code interprets, and contains no control character', () => {
    const nasty = fc.array(
      fc.oneof(
        fc.constantFrom(...'!/@#&\\\u001b\u0000\u009b\r\n\t ;-$`\'"', '\ud800', '[201~', '/clear'),
        fc.string({ unit: 'binary' }),
      ),
    );
    fc.assert(
      fc.property(nasty, (parts) => {
        const typed = composeForAgent(parts.join(''), [], 'text', claude.typing);
        if (typed.kind === 'nothing') return;
        expect(typed.text).not.toMatch(/^[!/@#&]|\\$|@\S*$|[^\P{Cc}\t\n]|\p{Cs}/u);
        expect(typed.text.trim()).not.toBe('');
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a text that begins with "/"', () => {
  const own: SlashCommand[] = [{ name: 'team:standup', about: '', owner: 'your command' }];
  const asks = (name: string, why: string) => ({ kind: 'ask', name, why });

  it.each([
    ['/compact', undefined, { kind: 'command' }],
    ['/cost', undefined, { kind: 'command' }],
    ['/review 12\nplease', undefined, { kind: 'command' }],
    ['/team:standup', undefined, { kind: 'command' }],
    ['/usr/bin is full', undefined, { kind: 'text' }],
    ['/ what?', undefined, { kind: 'text' }],
    ['//comment', undefined, { kind: 'text' }],
    ['hello /compact', undefined, { kind: 'text' }],
    ['/logou', undefined, asks('logou', 'unknown')],
    ['/constructor', undefined, asks('constructor', 'unknown')],
    ['/login', undefined, asks('login', 'account')],
    ['/quit now', undefined, asks('quit', 'session')],
    ['/plugin install x', undefined, asks('plugin', 'installation')],
    ['/bug', undefined, asks('bug', 'sharing')],
    ['/compact', ['/compact'], { kind: 'command' }],
    ['/clear', ['/compact'], asks('clear', 'restricted')],
    ['/logout', ['/compact'], asks('logout', 'restricted')],
    ['/logout', ['/logout'], asks('logout', 'account')],
    ['/of-a-plugin', ['/of-a-plugin'], { kind: 'command' }],
    ['/usr/bin', ['/compact'], { kind: 'text' }],
  ])('%j is decided (allowed: %j)', async (text, only, wanted) => {
    expect(await decideSlash(text, claude.commands, async () => own, only)).toEqual(wanted);
    const plain = wanted.kind === 'command' && !text.startsWith('/team');
    expect(isPlainCommand(text, claude.commands, only)).toBe(plain);
  });

  it('every command has one name, and a description that fits the menu', () => {
    const names = BUILTIN_COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(`/${name}`).toMatch(/^\/[a-z][a-z0-9:_-]*$/);
    for (const { about } of BUILTIN_COMMANDS) expect(about).toMatch(/^.{3,60}$/);
  });
});

describe('the name of a file', () => {
  it.each([
    ['photo.png', 0, 'photo.png'],
    ['photo.png', 2, '3-photo.png'],
    ['../../x', 0, 'x'],
    ['/etc/passwd', 0, 'etc_passwd'],
    ['-rf', 0, 'rf'],
    ['..', 0, 'file'],
    ['.bashrc', 0, 'bashrc'],
    ['a b;$(id)`x`\n.txt', 0, 'a_b_id_x_.txt'],
    ['\u202egnp.exe', 0, 'gnp.exe'],
    ['ünï.txt', 0, 'ünï.txt'],
    ['', 1, '2-file'],
  ])('is safe for %j', (name, at, wanted) => {
    expect(safeName(name, at)).toBe(wanted);
  });

  it('is short, plain and never hidden, whatever the original is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), fc.nat(20), (name, at) => {
        const safe = safeName(name, at);
        expect(safe).toMatch(/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u);
        expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(255);
        expect(safe).not.toMatch(/\p{Cs}/u);
      }),
      { numRuns: 2_000 },
    );
    expect(safeName(`${'x'.repeat(500)}.png`, 0)).toMatch(/^x{56}\.png$/);
    for (const name of [`${'𠀀'.repeat(200)}x`, `${'a'.repeat(9)}-${'b'.repeat(79)}`, `${'漢'.repeat(300)}`]) {
      expect(safeName(name, 12)).toMatch(/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u);
      expect(safeName(name, 0)).toMatch(/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u);
      expect(Buffer.byteLength(safeName(name, 12))).toBeLessThanOrEqual(255);
    }
  });

  it('is different for each file of a message', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('x', '1-x', '2-x', '3-x', '2-2-x'), { maxLength: 6 }), (names) => {
        const safe = names.map(safeName);
        expect(new Set(safe).size).toBe(names.length);
      }),
    );
  });
});

describe('the new output of a shell is found', () => {
  it.each([
    ['at the first prompt', ['$ '], ['$ echo hi', 'hi', '$ '], '$ echo hi\nhi\n$ '],
    ['further down', ['a', 'b', '$ '], ['a', 'b', '$ ls', 'x', '$ '], '$ ls\nx\n$ '],
    ['after the screen has scrolled', ['a', 'b', 'c', '$ '], ['c', '$ seq', '1', '$ '], '$ seq\n1\n$ '],
    ['when all of it scrolled away', ['a', '$ '], ['7', '8', '$ '], '7\n8\n$ '],
    ['after clear', ['a', 'b', '$ '], ['$ '], '$ '],
    ['when there is none', ['a', '$ '], ['a', '$ '], '$ '],
  ])('%s', (_, before, after, wanted) => {
    expect(newLines(before, after)).toBe(wanted);
  });

  it('are found in a moment, however much a host sends', async () => {
    const [before, after] = ['a\n', 'b\n'].map((line) => lastLinesOf(line.repeat(1_000_000))) as [string[], string[]];
    const ms = await cpuMs(() => expect(newLines(before, after)).toMatch(/^b\nb/));
    expect(ms).toBeLessThan(10_000); // it took hours, and nothing else ran meanwhile
  });
});

describe('slash commands', () => {
  const given = (name: string, options: Record<string, string>) =>
    restOf(
      interactionSchema.parse({
        id: '1',
        application_id: '2',
        token: 't',
        type: 2,
        data: { name, options: Object.entries(options).map(([key, value]) => ({ name: key, value })) },
      }),
    );

  it.each([
    ['new', { name: 'shop' }, 'shop'],
    ['new', { command: 'bash -l', name: 'shop', directory: '~/x', host: 'mini' }, 'shop mini ~/x -- bash -l'],
    ['kill', { name: ' shop@mini ' }, 'shop@mini'],
    ['key', { key: 'Down Enter' }, 'Down Enter'],
    ['retry', {}, ''],
    ['retry', { message: '123' }, '123'],
    ['sh', { command: 'ls -l' }, 'ls -l'],
    ['screen', {}, ''],
    ['screen', { as: 'image' }, 'image'],
    ['claude', { command: '/review', arguments: '12' }, '/review 12'],
    ['claude', { command: ' compact ' }, '/compact'],
  ])('/%s %j become the text of a "!" command', (name, options, wanted) => {
    expect(given(name, options)).toBe(wanted);
  });

  it('are the same commands as those of "!", each with a description', () => {
    expect(SLASH_COMMANDS.map(({ name }) => name)).toEqual([...COMMANDS.map(({ name }) => name), 'claude']);
    for (const command of SLASH_COMMANDS) {
      expect(command.name).toMatch(/^[a-z-]{1,32}$/);
      expect('description' in command && command.description).toMatch(/^.{3,100}$/);
    }
    for (const { usage } of COMMANDS) expect(helpText()).toContain(usage);
    expect(helpText().length).toBeLessThan(1_950); // one message;
  });

  it('accept their short forms, and nothing else', () => {
    for (const name of ['esc', 'c', 'd', 'enter', 'tab', 'up', 'down', 'key', 'stop'])
      expect(pressesKeys(name)).toBe(true);
    for (const name of ['', 'rm', 'constructor', '__proto__', 'screens', 'new']) expect(pressesKeys(name)).toBe(false);
  });
});
