import { describe, expect, it } from 'vitest';
import { createLog } from '../../core/log.ts';
import { maskSecrets } from '../../core/mask-secrets.ts';

const lines: string[] = [];
const log = createLog((line) => lines.push(line), { secrets: ['hunter2hunter2'], now: () => new Date(0) });

describe('the log', () => {
  it('writes one line per event', () => {
    log.info('posted', { thread: '123', parts: 2, gone: undefined });
    expect(lines.at(-1)).toBe('1970-01-01T00:00:00.000Z info posted thread=123 parts=2');
  });

  it('keeps a value with line breaks on its line', () => {
    log.warn('refused', { said: 'a\nerror forged=1' });
    expect(lines.at(-1)).toBe('1970-01-01T00:00:00.000Z warn refused said="a\\nerror forged=1"');
  });

  it('contains nothing that controls the terminal in which it is read', () => {
    log.info('tool', { name: 'a\x1b]0;b\x07\x7f\x9b31m' });
    expect(lines.at(-1)).toContain('name="a\\u001b]0;b\\u0007\\u007f\\u009b31m"');
  });

  it.each([
    ['the configured token', 'x hunter2hunter2 y'],
    ['anything shaped like a bot token', `t=${'M'.repeat(24)}.GabcdE.${'z'.repeat(38)}`],
    ['an authorization header', `Authorization: Bot ${'abcDEF123'.repeat(4)}`],
    ['an API key', 'sk-ant-api03-abcdefghijkl'],
    ['an interaction token in a path', `/interactions/123456789012345678/${'aW50ZXJhY3Rpb24'.repeat(3)}/callback`],
  ])('masks %s', (_, text) => {
    const masked = maskSecrets(text, ['hunter2hunter2']);
    expect(masked).toContain('[secret]');
    expect(masked).not.toMatch(/hunter2|MMMM|abcDEF123abc|api03|aW50/);
  });
});
