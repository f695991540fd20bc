// What is removed from the home while threadmux runs, and what never is.

import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Home } from '../../home/home.ts';
import { filesToSweep, sweepHome } from '../../home/sweep.ts';
import { tempHome } from '../support/temp-home.ts';

const DAY = 86_400_000;
const GB = 2 ** 30;
const NOW = 1_000 * DAY;

const swept = (...all: readonly (readonly [name: string, days: number, bytes?: number])[]) =>
  filesToSweep(
    all.map(([name, days, bytes = 1]) => ({ name, at: NOW - days * DAY, bytes })),
    NOW,
  );

describe('the sweep', () => {
  it.each([
    ['files/1', 31, true],
    ['files/1', 29, false],
    ['status/a.json', 31, true],
    ['status/a.json', 29, false],
    ['status/.4242', 0.5, true],
    ['status/.4242', 0.01, false],
    ['threads/.AAAABBBBCCCC.tmp', 0.5, true],
    ['state/courier.lock.42.x1y2', 0.5, true],
    ['state/courier.lock', 900, false],
    ['state/shown.json', 900, false],
    ['threads/1.json', 900, false],
    ['inbox/1.json', 900, false],
    ['answers/0123', 31, true],
    ['answers/0123', 6, false],
  ])('removes %s after %d days: %s', (name, days, isSwept) => {
    expect(swept([name, days])).toEqual(isSwept ? [name] : []);
  });

  it('removes the oldest attachments beyond the limit, but none that may be in use', () => {
    const files = [
      ['files/1', 5, GB],
      ['files/2', 9, GB],
      ['files/3', 7, GB],
      ['files/4', 1, 9 * GB],
    ] as const;
    expect(swept(...files.slice(0, 3))).toEqual(['files/2']);
    expect(swept(...files)).toEqual(['files/2', 'files/3', 'files/1']);
    expect(swept(['files/4', 1, 9 * GB])).toEqual([]);
  });
});

describe('the home', () => {
  const put = (home: Home, name: string, days: number) => {
    const path = home.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'x');
    const then = new Date(Date.now() - days * DAY);
    utimesSync(path, then, then);
    utimesSync(dirname(path), then, then);
  };

  it('loses old files and whole old folders, and nothing else', () => {
    const home = tempHome();
    put(home, 'files/1/old.png', 40);
    put(home, 'files/2/new.png', 1);
    put(home, 'status/old.json', 40);
    put(home, 'status/new.json', 1);
    put(home, 'threads/1.json', 400);
    put(home, 'config.json', 400);
    sweepHome(home);
    expect(readdirSync(home.path('files'))).toEqual(['2']);
    expect(readdirSync(home.path('status'))).toEqual(['new.json']);
    expect(readdirSync(home.path('threads'))).toEqual(['1.json']);
    expect(existsSync(home.path('config.json'))).toBe(true);
  });
});
