// A pane as a PNG: really drawn, and read back pixel by pixel.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderPicture } from '../../../streams/picture/picture.ts';
import type { PictureSize } from '../../../streams/picture/rows.ts';
import { parseRows } from '../../../streams/picture/rows.ts';
import type { Point } from '../../../streams/picture/svg.ts';
import { readPng } from '../../support/png.ts';

const SIZE = { width: 80, height: 24 };
const [WIDTH, HEIGHT, MARGIN] = [17, 33, 17];
const BACKGROUND = '#16181d';

async function drawn(ansi: string, size: PictureSize = SIZE, cursor?: Point) {
  const png = await renderPicture(ansi, size, cursor);
  if (png === undefined) throw new Error('nothing was drawn');
  return readPng(png);
}

/** The middle of a cell. */
const middle = (column: number, row: number) =>
  [MARGIN + (column + 0.5) * WIDTH, MARGIN + (row + 0.5) * HEIGHT].map(Math.floor) as [number, number];

describe('the picture of a pane', () => {
  it('has the colours of text, background and cursor', async () => {
    const ansi = [
      '\x1b[48;2;200;10;20m   \x1b[0m \x1b[38;2;0;255;0mgreen\x1b[0m plain',
      '\x1b[7m inverse \x1b[0m█',
    ].join('\n');
    const picture = await drawn(ansi, SIZE, { x: 30, y: 0 });
    expect(picture.at(...middle(0, 0))).toBe('#c80a14');
    expect(picture.at(...middle(2, 0))).toBe('#c80a14');
    expect(picture.at(...middle(3, 0))).toBe(BACKGROUND);
    expect(picture.at(...middle(30, 0))).toBe('#d8dbe2');
    expect(picture.at(...middle(0, 1))).toBe('#d8dbe2');
    expect(picture.at(...middle(9, 1))).toBe('#d8dbe2');
    expect(picture.count('#c80a14')).toBe(3 * WIDTH * HEIGHT);
    expect(picture.count('#00ff00')).toBeGreaterThan(100);
    expect(picture.at(0, 0)).toBe(BACKGROUND);
  });

  it('joins boxes and blocks without a gap', async () => {
    const box = ['┌', '─'.repeat(58), '┐'].join('');
    const side = ['│', ' '.repeat(58), '│'].join('');
    const end = ['└', '─'.repeat(58), '┘'].join('');
    const picture = await drawn([box, ...Array(8).fill(side), end, '▐▀▄▌', '█▓▒░'].join('\n'));
    const [left, top] = middle(0, 0);
    const [right, bottom] = middle(59, 9);
    const sides = [];
    for (let y = top + 3; y < bottom - 3; y++) sides.push(picture.at(left, y), picture.at(right, y));
    expect(new Set(sides)).toEqual(new Set(['#d8dbe2']));
    const ends = [];
    for (let x = left + 3; x < right - 3; x++) ends.push(picture.at(x, top), picture.at(x, bottom));
    expect(new Set(ends).size).toBeLessThanOrEqual(2);
    expect(ends).not.toContain(BACKGROUND);
    expect(picture.at(MARGIN + WIDTH, MARGIN + 10 * HEIGHT)).toBe('#d8dbe2');
    expect(picture.at(MARGIN, MARGIN + 11 * HEIGHT)).toBe('#d8dbe2');
  });

  it('shows a wide screen of Claude Code in less than a megabyte, as wide as its text', async () => {
    const folder = 'test/fixtures/screens/2.1.325/200x50';
    const ansi = readFileSync(`${folder}/empty-after-slash-context.ansi`, 'utf8');
    const rows = parseRows(ansi, { width: 200, height: 50 });
    const texts = rows.map((row) =>
      row
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    );
    const columns = Math.max(...texts.filter((text) => /[^\s─▔]/.test(text)).map((text) => text.length));
    expect(columns).toBeLessThan(200);
    const png = await renderPicture(ansi, { width: 200, height: 50 });
    expect(png?.length).toBeLessThan(1_000_000);
    const { width } = readPng(png ?? new Uint8Array());
    expect(width % (columns + 2)).toBe(0);
  });

  it('draws what looks like markup, and fetches nothing', async () => {
    const hostile = '<image href="file:///etc/passwd" width="900" height="900"/>&x;</text></svg>';
    const picture = await drawn(hostile, { width: 120, height: 24 });
    const harmless = await drawn('x'.repeat(hostile.length), { width: 120, height: 24 });
    expect([picture.width, picture.height]).toEqual([harmless.width, harmless.height]);
    expect(picture.count('#d8dbe2')).toBeGreaterThan(500);
  });

  it('is not made if the font lacks a character, or if drawing fails or takes too long', async () => {
    expect(await renderPicture('中文', SIZE)).toBeUndefined();
    expect(await renderPicture('x', SIZE, undefined, 1)).toBeUndefined();
    expect(await renderPicture('x', SIZE, { x: 0, y: 2 ** 40 })).toBeUndefined();
    expect(await renderPicture('x', SIZE)).toBeDefined();
  });

  it('is not made of more than a screen has', async () => {
    const before = process.cpuUsage();
    for (const piece of ['x', '\n', '\x1b[1mx'])
      expect(await renderPicture(piece.repeat(4_000_000 / piece.length), { width: 1e9, height: 1e9 })).toBeUndefined();
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
  });

  it('is drawn one at a time, even when many are requested', async () => {
    const all = await Promise.all(['a', 'b', '中', 'c'].map((text) => renderPicture(text, SIZE)));
    expect(all.map((png) => png !== undefined)).toEqual([true, true, false, true]);
  });
});
