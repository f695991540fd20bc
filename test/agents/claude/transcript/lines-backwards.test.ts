import { appendFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linesBackwards, type TailOptions } from '../../../../agents/claude/transcript/transcript-file.ts';
import { tempFile } from '../../../support/temp-home.ts';

const fileWith = (content: string | Buffer) => tempFile('lines.jsonl', content);

async function read(path: string, options?: TailOptions) {
  const seen: string[] = [];
  for await (const line of linesBackwards(path, options))
    seen.push(line.kind === 'line' ? line.text : line.kind === 'shrunk' ? '<shrunk>' : `<${line.bytes}>`);
  return seen;
}

describe('linesBackwards', () => {
  it('gives the last line first', async () => {
    expect(await read(fileWith('a\nb\nc\n'))).toEqual(['c', 'b', 'a']);
  });

  it('leaves out a last line that is still being written', async () => {
    expect(await read(fileWith('a\nb\n{"half":'))).toEqual(['b', 'a']);
    expect(await read(fileWith('half'))).toEqual([]);
  });

  it('returns nothing for a missing file, an empty one or a directory', async () => {
    expect(await read('/nonexistent/x')).toEqual([]);
    expect(await read(fileWith(''))).toEqual([]);
    expect(await read(tmpdir())).toEqual([]);
  });

  it('skips empty lines, a byte order mark and carriage returns', async () => {
    expect(await read(fileWith('\ufeffa\r\n\n\nb\n'))).toEqual(['b', 'a']);
  });

  it('handles NUL bytes and invalid UTF-8', async () => {
    const path = fileWith(Buffer.from([0x61, 0x0a, 0x00, 0xff, 0xfe, 0x0a, 0x62, 0x0a]));
    expect(await read(path)).toEqual(['b', '\u0000\ufffd\ufffd', 'a']);
  });

  it('reports a line that is too long and continues with the others', async () => {
    const path = fileWith(`a\n${'x'.repeat(10_000)}\nb\n`);
    expect(await read(path, { maxLineBytes: 1000, chunkBytes: 256 })).toEqual(['b', '<10000>', 'a']);
  });

  it('reads lines that span many chunks, and characters split between chunks', async () => {
    const lines = ['é漢😀'.repeat(50), 'b'.repeat(999), '{}'];
    expect(await read(fileWith(`${lines.join('\n')}\n`), { chunkBytes: 7 })).toEqual(lines.toReversed());
  });

  it('reads the same lines with any chunk size', async () => {
    const path = fileWith('');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'bc', '漢', '\n', '\n\n', '{"x":1}')),
        fc.integer({ min: 1, max: 20 }),
        async (pieces, chunkBytes) => {
          const text = pieces.join('');
          writeFileSync(path, text);
          const whole = text.split('\n').slice(0, -1).filter(Boolean).toReversed();
          expect(await read(path, { chunkBytes })).toEqual(whole);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each([10, 4990])('stops when the file is truncated to %i bytes', async (bytes) => {
    const path = fileWith('line\n'.repeat(1000));
    const lines = linesBackwards(path, { chunkBytes: 100 });
    expect(await lines.next()).toMatchObject({ value: { kind: 'line', text: 'line' } });
    truncateSync(path, bytes);
    const kinds: string[] = [];
    for await (const { kind } of lines) kinds.push(kind);
    expect(kinds.at(-1)).toBe('shrunk');
    expect(kinds.length).toBeLessThan(50);
  });

  it('keeps reading the old file when it is replaced, and ignores appended lines', async () => {
    const path = fileWith('old\n'.repeat(1000));
    const lines = linesBackwards(path, { chunkBytes: 100 });
    await lines.next();
    appendFileSync(path, 'new\n');
    writeFileSync(`${path}.new`, 'new\n'.repeat(2000));
    renameSync(`${path}.new`, path);
    const texts = new Set<string>();
    for await (const line of lines) if (line.kind === 'line') texts.add(line.text);
    expect([...texts]).toEqual(['old']);
  });
});
