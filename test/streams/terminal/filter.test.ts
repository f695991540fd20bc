// biome-ignore-all lint/suspicious/noControlCharactersInRegex: they are what this is about

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openEmulator } from '../../../streams/emulator/emulator.ts';
import {
  cellsOf,
  type FilterState,
  filterOutput,
  LARGEST_NUMBER,
  MOST_MARKS,
  SPARE_CELLS,
} from '../../../streams/emulator/filter.ts';

const SIZE = { width: 20, height: 6, inserts: false };
const NOTHING: FilterState = { inside: 'nothing', marks: 0, credit: SPARE_CELLS };

/** Everything that is fed, piece by piece. */
function fed(pieces: readonly string[]): { feed: string; end: string } {
  let state = NOTHING;
  let feed = '';
  let rest = '';
  for (const piece of pieces) {
    const filtered = filterOutput(state, rest + piece, SIZE);
    feed += filtered.feed;
    state = { inside: filtered.inside, marks: filtered.marks, credit: filtered.credit };
    rest = filtered.rest;
  }
  return { feed, end: `${state.inside} ${state.marks} ${JSON.stringify(rest)}` };
}

const HOSTILE = [
  ...['\x1b', '\x1b[', '\x1b]', '\x1bP', '\x1bk', '\x1b\\', '\x07', '\x18', '\x1a', '\x9b', '\x7f'],
  ...['2147483647', '99999999999999999999', '0', ';', ':', '?', '>', ' ', "'", '\n', '\r', '\0'],
  ...['\u0301', '\u200d', '\ufe0f', 'a', '日', '🚀', 'é', '8', '#', '('],
  ...['b', 'L', 'M', 'S', 'T', 'I', 'Z', '@', 'P', 'X', 'H', 'd', 'r', 'm', 'h', 'l', 't', '^'],
  ...['1;'.repeat(600), '\n'.repeat(1100), '\u0301'.repeat(30), '1'.repeat(1020)],
];
const output = fc.array(fc.constantFrom(...HOSTILE), { maxLength: 40 });

describe('the filter before the emulator', () => {
  it('returns the same however the output is split', () => {
    fc.assert(
      fc.property(output, fc.infiniteStream(fc.integer({ min: 1, max: 700 })), (parts, lengths) => {
        const characters = [...parts.join('')];
        const pieces: string[] = [];
        for (let at = 0; at < characters.length; ) {
          const length = Number(lengths.next().value);
          pieces.push(characters.slice(at, at + length).join(''));
          at += length;
        }
        expect(fed(pieces)).toEqual(fed([characters.join('')]));
      }),
      { numRuns: 3000 },
    );
  });

  it('feeds only complete sequences, no number above its limit, and few marks per character', () => {
    fc.assert(
      fc.property(output, (parts) => {
        const { feed } = fed([parts.join('')]);
        const sequences = feed.match(/\x1b\[[\x20-\x3f]*[\x40-\x7e]/g) ?? [];
        for (const sequence of sequences) {
          const limit = /[bIZ]$/.test(sequence) ? 20 : /[LMST^]$/.test(sequence) ? 6 : 10_000;
          for (const number of sequence.match(/\d+/g) ?? []) expect(Number(number)).toBeLessThanOrEqual(limit);
        }
        const plain = feed.replace(
          /\x1b(?:\[[\x20-\x3f]*[\x40-\x7e]|[\x30-\x5a\x5c-\x7e]|[\x20-\x2f]+[\x30-\x7e])/g,
          '',
        );
        expect(plain).not.toMatch(/[\x1b\x80-\x9f]/);
        expect(plain).not.toMatch(new RegExp(`[\\u0301\\u200d\\ufe0f]{${MOST_MARKS + 1}}`));
      }),
      { numRuns: 3000 },
    );
    expect(LARGEST_NUMBER).toBe(10_000);
  });

  it('handles control characters inside a sequence', () => {
    expect(fed(['a\x1b\n[21\r47483647b']).feed).toBe('a\n\r\x1b[20b');
    expect(fed(['a\x1b\n]0;title\x07b']).feed).toBe('ab');
  });

  it('leaves meaningful numbers unchanged', () => {
    const text = '\x1b[?1049h\x1b[38;2;255;1;2m\x1b[3;400H\x1b[5L\x1b[?2026l';
    expect(fed([text]).feed).toBe(text);
  });
});

describe('the emulator', () => {
  const FINALS = [...'@ABCDEFGHIJKLMPSTXZ`abdefghlmnrstu^', " '}", "'~", ' @', ' A', '?h', '?l'];

  it('accepts every sequence with the largest number, and continues', async () => {
    const emulator = await openEmulator({ width: 100, height: 30 });
    for (const final of FINALS) await emulator.feed(Buffer.from(`a\x1b[2147483647${final}`));
    await emulator.feed(Buffer.from('\x1bc\x1b]0;'));
    for (let at = 0; at < 200; at++) await emulator.feed(Buffer.alloc(16_384, 'x'));
    await emulator.feed(Buffer.from('\x07\x1bPq'));
    for (let at = 0; at < 200; at++) await emulator.feed(Buffer.alloc(16_384, '~'));
    await emulator.feed(Buffer.from('\x1b\\a'));
    for (let at = 0; at < 50; at++) await emulator.feed(Buffer.from('\u0301'.repeat(8192)));
    const { left, live } = await emulator.finish();
    expect(left + live).toBe(`a${'\u0301'.repeat(MOST_MARKS)}`);
    expect(JSON.stringify(emulator.snapshot()).length).toBeLessThan(10_000);
  });

  it('drops the marks of a wide character that has no room, so that they do not gather on the one before', async () => {
    const emulator = await openEmulator({ width: 20, height: 6 });
    const wide = `日${'\u0301'.repeat(MOST_MARKS)}`;
    await emulator.feed(Buffer.from(`\x1b[?7l\x1b[1;18H${wide}${`${wide}a`.repeat(3)}${'日\x1b[20b'.repeat(2)}`));
    expect(emulator.live().trim()).toBe(`${wide}a`);
  });

  it('limits its size when a pane is made huge', async () => {
    const emulator = await openEmulator({ width: 1_000_000, height: 1_000_000 });
    await emulator.resize({ width: Number.NaN, height: -3 });
    await emulator.resize({ width: 2_000_000_000, height: 2_000_000_000 });
    await emulator.feed(Buffer.from('still here'));
    expect(emulator.live()).toBe('still here');
    expect(emulator.snapshot().size).toEqual({ width: 400, height: 150 });
  });

  it('continues when a program erases everything up to the last cell', async () => {
    const emulator = await openEmulator({ width: 20, height: 6 });
    for (const erase of ['\x1b[1J', '\x1b[?1J', `${'x'.repeat(20)}\x1b[1J`])
      await emulator.feed(Buffer.from(`\x1b[6;1H\x1b[99C${erase}\x1b[H\x1b[2Jhere`));
    expect(emulator.live()).toBe('here');
  });
});

describe('a flood of sequences', () => {
  const LARGE = { width: 400, height: 150 };
  const FLOODS = [
    ...['\x1bc', '\x1b#8', '\x1b[J', '\x1b[2J', '\x1b[?2J', '\x1b[9999S', '\x1b[9999T', '\x1b[9999L', '\x1b[9999M'],
    ...['\x1b[9999^', '\x1b[ @', '\x1b[ A', "\x1b['}", "\x1b['~", 'a\x1b[9999b', '\x1b[4ha\x1b[9999b', '\x1bM'],
    ...['\x1b[?47h\x1b[?47l', '\x1b[?1049h\x1b[?1049l', `\x1b[?${'47;'.repeat(31)}47h\x1b[?47l`],
  ];
  const BYTES = 128 * 1024;

  /** Seconds of CPU time for this much of it, on a large and full screen. */
  async function costOf(sequence: string): Promise<number> {
    const emulator = await openEmulator(LARGE);
    await emulator.feed(Buffer.from('x'.repeat(400 * 149)));
    const flood = Buffer.from(sequence.repeat(BYTES / sequence.length));
    const before = process.cpuUsage();
    for (let at = 0; at < flood.length; at += 16_384) await emulator.feed(flood.subarray(at, at + 16_384));
    const { user, system } = process.cpuUsage(before);
    emulator.close();
    return (user + system) / 1e6;
  }

  it('costs little more than one of newlines', { timeout: 300_000 }, async () => {
    await costOf('\n');
    const newlines = await costOf('\n');
    const tooMuch = [];
    for (const flood of FLOODS) {
      // The cheapest of three: the CPU time includes what the process does beside it, such as collecting garbage.
      let times = Number.POSITIVE_INFINITY;
      for (let tries = 0; times > 7 && tries < 3; tries++) times = Math.min(times, (await costOf(flood)) / newlines);
      if (times > 7) tooMuch.push([flood, Math.round(times)]);
    }
    expect(tooMuch).toEqual([]);
  });

  it('is reported once, where nothing erases it, and the text is shown', async () => {
    const emulator = await openEmulator(LARGE);
    let text = '';
    for (let at = 0; at < 4; at++)
      text += await emulator.feed(Buffer.from(`\x1b[2J\x1b[3J${'\x1b[H\x1b[2J'.repeat(2000)}${at}`));
    expect(text).toBe('… some output was skipped here: the program redraws its screen too fast …\n');
    expect(emulator.live()).toContain('3');
  });

  it('has as much credit at the end as its output pays for', () => {
    const screen = { ...LARGE, inserts: false };
    const state = { ...NOTHING, credit: 0 };
    const { feed, skipped } = filterOutput(state, '\x1bc'.repeat(12_000), screen);
    expect([feed.length / 2, skipped]).toEqual([100, 11_900]);
    expect(filterOutput(state, 'x'.repeat(100_000), screen).credit).toBe(SPARE_CELLS);
  });

  it.each([
    ['clears and draws', `\x1b[H\x1b[2J${'row\r\n'.repeat(149)}`],
    ['scrolls line by line', '\x1b[1;1H\x1b[Lone more line'],
    ['draws frames', '\x1b[?2026h\x1b[?25l\x1b[H─\x1b[398b\x1b[2;1H│\x1b[398C│\x1b[K\x1b[?25h\x1b[?2026l'],
    ['shows progress', `\x1b[3A\x1b[J${'downloading a layer: 10 %\r\n'.repeat(3)}`],
  ])('is not the output of an ordinary program that %s', (_, frame) => {
    const { feed, skipped } = filterOutput(NOTHING, frame.repeat(120), { ...LARGE, inserts: false });
    expect(skipped).toBe(0);
    expect(feed).toBe(frame.repeat(120));
  });

  it('counts an unknown sequence as one that writes the whole screen', () => {
    const screen = { width: 100, height: 30, inserts: false };
    for (const sequence of ['\x1b[5$z', '\x1b[?5J', '\x1b[=1h', '\x1b[?9999h', '\x1bc', '\x1b#8', '\x1b[1+P'])
      expect([sequence, cellsOf(sequence, screen)]).toEqual([sequence, 3000]);
    for (const sequence of ['\x1b[31;1m', '\x1b[?25l', '\x1b[>4;2m', '\x1b[2 q', '\x1b(B', '\x1b7', '\x1b[4h'])
      expect([sequence, cellsOf(sequence, screen)]).toEqual([sequence, 0]);
  });
});
