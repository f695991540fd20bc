// biome-ignore-all lint/suspicious/noControlCharactersInRegex: they are what this is about

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openEmulator } from '../../../streams/emulator/emulator.ts';
import { type FilterState, filterOutput, LARGEST_NUMBER, MOST_MARKS } from '../../../streams/emulator/filter.ts';

const SIZE = { width: 20, height: 6 };
const NOTHING: FilterState = { inside: 'nothing', marks: 0 };

/** Everything that is fed, piece by piece. */
function fed(pieces: readonly string[]): { feed: string; end: string } {
  let state = NOTHING;
  let feed = '';
  let rest = '';
  for (const piece of pieces) {
    const filtered = filterOutput(state, rest + piece, SIZE);
    feed += filtered.feed;
    state = { inside: filtered.inside, marks: filtered.marks };
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

  it('accepts every sequence with the largest number, and continues', () => {
    const emulator = openEmulator({ width: 100, height: 30 });
    for (const final of FINALS) emulator.feed(Buffer.from(`a\x1b[2147483647${final}`));
    emulator.feed(Buffer.from('\x1bc\x1b]0;'));
    for (let at = 0; at < 200; at++) emulator.feed(Buffer.alloc(16_384, 'x'));
    emulator.feed(Buffer.from('\x07\x1bPq'));
    for (let at = 0; at < 200; at++) emulator.feed(Buffer.alloc(16_384, '~'));
    emulator.feed(Buffer.from('\x1b\\a'));
    for (let at = 0; at < 50; at++) emulator.feed(Buffer.from('\u0301'.repeat(8192)));
    const { left, live } = emulator.finish();
    expect(left + live).toBe(`a${'\u0301'.repeat(MOST_MARKS)}`);
    expect(JSON.stringify(emulator.snapshot()).length).toBeLessThan(10_000);
  });

  it('drops the marks of a wide character that has no room, so that they do not gather on the one before', () => {
    const emulator = openEmulator({ width: 20, height: 6 });
    const wide = `日${'\u0301'.repeat(MOST_MARKS)}`;
    emulator.feed(Buffer.from(`\x1b[?7l\x1b[1;18H${wide}${`${wide}a`.repeat(3)}${'日\x1b[20b'.repeat(2)}`));
    expect(emulator.live().trim()).toBe(`${wide}a`);
  });

  it('limits its size when a pane is made huge', () => {
    const emulator = openEmulator({ width: 1_000_000, height: 1_000_000 });
    emulator.resize({ width: Number.NaN, height: -3 });
    emulator.resize({ width: 2_000_000_000, height: 2_000_000_000 });
    emulator.feed(Buffer.from('still here'));
    expect(emulator.live()).toBe('still here');
    expect(emulator.snapshot().size).toEqual({ width: 400, height: 150 });
  });

  it('continues when a program erases everything up to the last cell', () => {
    const emulator = openEmulator({ width: 20, height: 6 });
    for (const erase of ['\x1b[1J', '\x1b[?1J', `${'x'.repeat(20)}\x1b[1J`])
      emulator.feed(Buffer.from(`\x1b[6;1H\x1b[99C${erase}\x1b[H\x1b[2Jhere`));
    expect(emulator.live()).toBe('here');
  });
});
