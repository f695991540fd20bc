import { appendFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { waitUntilSettled } from '../../../../agents/claude/transcript/transcript-file.ts';
import { tempFile } from '../../../support/temp-home.ts';

const fileWith = (content: string) => tempFile('session.jsonl', content);

describe('waitUntilSettled', () => {
  it('returns when the file is quiet and its last line complete', async () => {
    expect(await waitUntilSettled(fileWith('a\n'), { quietMs: 20, pollMs: 5 })).toBe(true);
  });

  it('waits for what is still being written', async () => {
    const path = fileWith('a\n');
    let written = 1;
    const writer = setInterval(() => {
      appendFileSync(path, 'b\n');
      if (++written === 6) clearInterval(writer);
    }, 20);
    onTestFinished(() => clearInterval(writer));
    expect(await waitUntilSettled(path, { quietMs: 300, pollMs: 5 })).toBe(true);
    expect(written).toBe(6);
  });

  it.each([
    ['a last line that stays half written', () => fileWith('a\n{"half')],
    ['a file that never comes', () => '/nonexistent/x.jsonl'],
  ])('gives up in time on %s', async (_, path) => {
    expect(await waitUntilSettled(path(), { quietMs: 10, pollMs: 5, deadlineMs: 80 })).toBe(false);
  });
});
