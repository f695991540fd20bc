import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isSameStart, parsePs, parseStat, processStart, startByPs } from '../../home/lock.ts';

const stat = (name: string, state: string, start: string) =>
  `812 (${name}) ${state} 1 812 812 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 ${start} 999 888`;

describe('the start time of a process', () => {
  it.each([
    ['plain', stat('node', 'S', '4711'), '4711'],
    ['a name with spaces and brackets', stat('a) S 1 (b', 'R', '4711'), '4711'],
    ['a zombie', stat('node', 'Z', '4711'), 'gone'],
    ['cut off', '812 (node) S 1', 'unknown'],
    ['nothing', '', 'unknown'],
  ])('is read from /proc: %s', (_, text, start) => {
    expect(parseStat(text)).toBe(start);
  });

  it.each([
    ['plain', 'S    Mon Nov 16 13:05:58 2026\n', '1794834358'],
    ['a day of one digit', 'Ss+  Sun Mar  1 00:00:00 2026    \n', '1772323200'],
    ['a zombie', 'Z    Mon Nov 16 13:05:58 2026\n', 'gone'],
    ['another order of day and month', 'S    lun. 16 nov. 13:05:58 2026\n', 'unknown'],
    ['other words for the month', 'S    Mo. Mär  1 13:05:58 2026\n', 'unknown'],
    ['twelve hours', 'S    Mon Nov 16 01:05:58 PM 2026\n', 'unknown'],
    ['nothing', '', 'unknown'],
  ])('is read from ps: %s', (_, text, start) => {
    expect(parsePs(text)).toBe(start);
  });

  it.each([
    ['UTC', 'C'],
    ['Asia/Tokyo', 'ja_JP.UTF-8'],
    ['America/St_Johns', 'de_DE.UTF-8'],
  ])('is the same from ps in the time zone %s and the language %s', (zone, language) => {
    const { TZ, LC_ALL } = process.env;
    onTestFinished(() => {
      for (const [name, value] of Object.entries({ TZ, LC_ALL }))
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
    });
    Object.assign(process.env, { TZ: zone, LC_ALL: language });
    const seconds = Number(startByPs(process.pid));
    expect(Math.abs(Date.now() / 1_000 - process.uptime() - seconds)).toBeLessThan(60);
  });

  it.each([
    ['4711', '4711', true],
    ['4711', '4712', false],
    ['4711', 'gone', false],
    ['gone', 'gone', false],
    ['Mon Nov 16 14:05:58 2026', '1794834358', true],
    ['4711', 'unknown', true],
  ] as const)('recorded as %s, found as %s: the same process is %s', (noted, now, is) => {
    expect(isSameStart(noted, now)).toBe(is);
  });

  it('is missing once the process has ended', async () => {
    const child = spawn('cat');
    await once(child, 'spawn');
    expect(processStart(child.pid ?? 0)).toMatch(/^\d+$/);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(processStart(child.pid ?? 0)).toBe('gone');
  });
});
