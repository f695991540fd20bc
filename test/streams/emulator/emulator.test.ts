import { describe, expect, it } from 'vitest';
import { openEmulator } from '../../../streams/emulator/emulator.ts';
import type { Snapshot } from '../../../streams/emulator/snapshot.ts';
import { startTmux } from '../../support/tmux-server.ts';

const SIZE = { width: 20, height: 6 };

/** The whole text, fed in the given pieces, with the emulator restored from its snapshot before each piece. */
function shown(pieces: readonly (string | Uint8Array)[], size = SIZE): string {
  let text = '';
  let snapshot: Snapshot | undefined;
  for (const piece of pieces) {
    const emulator = openEmulator(size, snapshot);
    text += emulator.feed(Buffer.from(piece));
    snapshot = JSON.parse(JSON.stringify(emulator.snapshot()));
  }
  const emulator = openEmulator(size, snapshot);
  const { left, live } = emulator.finish();
  return text + left + live;
}

const PROGRAMS: readonly (readonly [string, string])[] = [
  ['lines', Array.from({ length: 40 }, (_, at) => `line ${at}\r\n`).join('')],
  ['long lines', `${'0123456789'.repeat(30)}\r\nnext\r\n${'abc'.repeat(33)}`],
  ['wide characters', `${'日本語'.repeat(20)}x${'🚀'.repeat(15)}\r\né\u0301ü\r\n`],
  ['wide characters overwritten', '🚀🚀ab\x1b[3GX\r\n한글\x1b[5GY\r\n👍\x1b[2CZ\r\n'],
  ['colours', '\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[m plain\r\n'.repeat(9)],
  ['a bar', `a\r\n${Array.from({ length: 30 }, (_, at) => `\r\x1b[K${at} %`).join('')}\r\nb`],
  ['redrawn rows', `head\r\n${'one\r\ntwo\r\n\x1b[2A'.repeat(9)}1st\r\n2nd\r\n`],
  ['titles and pictures', '\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1bPq#0~~\x1b\\b\x1bkname\x1b\\c\x9dd\x85e'],
  ['a region that scrolls', `\x1b[1;4r${'up\r\n'.repeat(9)}\x1b7\x1b[6;1Hstatus\x1b8more\r\n\x1b[r`],
  ['line drawing', '\x1b(0lqqk\x1b(B plain \x0e'],
  ['an erased history', `${'gone\r\n'.repeat(9)}\x1b[H\x1b[2J\x1b[3Jafter\r\n`],
  ['the alternate screen', `one\r\n\x1b[?1049h\x1b[Hvi\r\n~\r\n~\x1b[?1049ltwo\r\n`],
  ['tabs and backspaces', 'a\tb\tc\b\bX\r\n'],
];

/** tmux keeps the erased screen, and prints line-drawing characters as letters. */
const COMPARABLE = PROGRAMS.filter(([name]) => !/erased|drawing/.test(name));

describe('the emulator', () => {
  it.each(PROGRAMS)('continues from a snapshot at any byte without a difference: %s', (_, bytes) => {
    const whole = shown([bytes]);
    const buffer = Buffer.from(bytes);
    for (let cut = 1; cut < buffer.length; cut += Math.ceil(buffer.length / 60))
      expect([cut, shown([buffer.subarray(0, cut), buffer.subarray(cut)])]).toEqual([cut, whole]);
  });

  it.each(COMPARABLE)('shows what tmux shows: %s', async (_, bytes) => {
    const server = startTmux();
    const octal = [...Buffer.from(bytes)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`);
    server.call('new-session', '-d', '-x', '20', '-y', '6', `stty raw; printf '${octal.join('')}'; sleep 60`);
    const text = shown([bytes]).replace(/ +$/gm, '').trimEnd();
    const capture = () => server.call('capture-pane', '-p', '-J', '-S', '-').replace(/ +$/gm, '').trimEnd();
    await expect.poll(capture, { timeout: 100_000 }).toBe(text);
  });

  it('joins the rows of one line across the edge of the screen, byte by byte', () => {
    const line = Array.from({ length: 5000 }, (_, at) => String.fromCodePoint(0x4e00 + (at % 90))).join('a');
    expect(shown([`${line}\r\nend\r\n`])).toBe(`${line}\nend\n`);
  });

  it('shows an invalid byte as one character', () => {
    expect(shown([Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xf0, 0x9f])])).toBe('a\ufffd\ufffd(\ufffd');
  });

  it('takes every line that leaves the screen, even from a feed of newlines only', () => {
    expect(shown(['\n'.repeat(50_000), 'x'])).toBe(`${'\n'.repeat(50_000)}x`);
  });

  it('keeps what it has taken when the program clears the history or resets the terminal', () => {
    const lines = Array.from({ length: 20 }, (_, at) => `${at}\r\n`).join('');
    const text = shown([`${lines}\x1b[3J\x1bcfresh\r\n`]);
    expect(text).toMatch(/^0\n1\n2\n.*14\nfresh\n$/s);
  });

  it('follows its pane to another size without repeating a line', () => {
    const emulator = openEmulator(SIZE);
    const lines = (from: number) => Array.from({ length: 20 }, (_, at) => `${from + at}\r\n`).join('');
    let text = emulator.feed(Buffer.from(lines(0)));
    text += emulator.resize({ width: 20, height: 12 });
    text += emulator.feed(Buffer.from(lines(20)));
    text += emulator.resize({ width: 30, height: 4 });
    text += emulator.feed(Buffer.from(lines(40)));
    const { left, live } = emulator.finish();
    expect(text + left + live).toBe(Array.from({ length: 60 }, (_, at) => `${at}\n`).join(''));
  });
});
