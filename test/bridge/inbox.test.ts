// How far each channel was read, and for how long that is kept.

import { describe, expect, it } from 'vitest';
import { openCursors } from '../../bridge/inbox.ts';
import { snowflakeAt } from '../../core/snowflake.ts';
import { tempHome } from '../support/temp-home.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-01-01');
const id = (days: number) => snowflakeAt(NOW - days * DAY);

describe('the cursors', () => {
  it('forget a thread in which nothing was written for a month, and take none of its messages again', () => {
    const path = tempHome().path('cursors.json');
    const cursors = openCursors(path, NOW - 400 * DAY);
    const [old, young] = [snowflakeAt(NOW - 300 * DAY), snowflakeAt(NOW - 200 * DAY)];
    cursors.advance(old, id(40));
    cursors.advance(young, id(20));
    cursors.sweep(NOW);
    for (const now of [cursors, openCursors(path)]) {
      expect(now.channels()).toEqual([young]);
      expect([now.isRead(old, id(41)), now.isRead(old, id(40)), now.isRead(old, id(1))]).toEqual([true, true, false]);
      expect([now.isRead(young, id(20)), now.isRead(young, id(19))]).toEqual([true, false]);
    }
  });

  it('keep what they have if nothing is old', () => {
    const path = tempHome().path('cursors.json');
    const cursors = openCursors(path, NOW - 400 * DAY);
    const unread = snowflakeAt(NOW - 390 * DAY);
    cursors.advance(snowflakeAt(NOW - 300 * DAY), id(20));
    cursors.sweep(NOW);
    expect(cursors.channels()).toHaveLength(1);
    expect(cursors.isRead(unread, id(380))).toBe(false);
  });
});
