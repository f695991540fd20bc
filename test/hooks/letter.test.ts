import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseLetter, readLetter } from '../../hooks/letter.ts';
import { stopInput } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';

const json = JSON.stringify(stopInput('x'));
const event = { event: 'idle', text: 'x', session: JSON.parse(json).session_id };
const read = (...lines: readonly string[]) => parseLetter(lines.join('\n'), 'salt', 1);
const ask = '0123456789abcdef0123456789abcdef';

describe('a letter', () => {
  it('has headers in any order, and ignores keys of a newer version', () => {
    const headers = ['asker 42', 'colour blue', `ask ${ask}`, 'project /my  shop', 'thread 7', 'odd'];
    const reading = read('threadmux 2', ...headers, '', json, '');
    expect(reading).toMatchObject({
      letter: {
        tmux: '',
        pane: '',
        entrypoint: '',
        project: '/my  shop',
        ask,
        asker: 42,
        thread: '7',
      },
    });
  });

  it('may have an empty line in its input', () => {
    const text = `${json.slice(0, -1)}\n\n}`;
    expect(read('threadmux 2', 'pane %1', '', text)).toMatchObject({ letter: { pane: '%1', event } });
  });

  it.each(['../../x', ask.slice(1), `${ask}/x`, ''])('has no answer with the name %j', (name) => {
    const reading = read('threadmux 2', `ask ${name}`, 'asker x', 'thread ../7', '', json);
    expect(reading.kind).toBe('letter');
    for (const key of ['ask', 'asker', 'thread']) expect(reading).not.toHaveProperty(`letter.${key}`);
  });

  it.each([
    ['newer', ['threadmux 3', 'what', '', json]],
    ['newer', ['threadmux 2', 'agent of-tomorrow', '', json]],
    ['corrupt', ['threadmux 2', `pane ${json}`]],
    ['corrupt', ['threadmux 2', '', '{"half":']],
    ['corrupt', ['threadmux 2x', '', json]],
    ['corrupt', ['', 'threadmux 2', '', json]],
    ['corrupt', ['']],
  ])('is %s if its lines are %j', (kind, lines) => {
    expect(read(...lines).kind).toBe(kind);
  });

  it.each([
    ['its headers', 'project', 300_000],
    ['its project', 'project', 9_000],
    ['the id of its session', 'session_id', 10_000],
  ])('is corrupt if a hostile host makes %s too long to be kept', (_, key, length) => {
    const long = 'x'.repeat(length);
    const text = JSON.stringify(key === 'project' ? stopInput('x') : { ...stopInput('x'), [key]: long });
    expect(read('threadmux 2', ...(key === 'project' ? [`project ${long}`] : []), '', text).kind).toBe('corrupt');
  });

  it.each([
    [true, 5 * 32 * 1024],
    [false, 5 * 32 * 1024 + 1],
  ])('brings the end of a transcript: %s for %d bytes, because `drop` never sends more', (isKept, length) => {
    const path = join(tempFolder(), 'letter');
    const head = Buffer.from(`threadmux 2\npane %1\n\n${json}\nthreadmux-transcript 1 ${length} 0\n`);
    writeFileSync(path, Buffer.concat([head, Buffer.alloc(length, 'x')]));
    const reading = readLetter(path);
    expect(reading.kind === 'letter' && reading.letter.transcript?.bytes.length).toBe(isKept ? length : undefined);
  });
});
