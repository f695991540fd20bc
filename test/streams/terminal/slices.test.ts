import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  blockOf,
  floodDone,
  floodNow,
  isStreamMessage,
  planTextMessages,
  sliceOf,
  slicesOf,
} from '../../../streams/terminal/message-plan.ts';

const nasty = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      fc.constantFrom('`', '``', '```', '`````', '\n', '\n\n', '⟨U+0060⟩', '⟨U+27E8⟩', '⟨', '🚀'),
      fc.integer({ min: 1, max: 3000 }).map((length) => '`'.repeat(length)),
      fc.integer({ min: 1, max: 3000 }).map((length) => '日'.repeat(length)),
      fc.integer({ min: 1, max: 1500 }).map((length) => '👍'.repeat(length)),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

describe('a text that is split into messages', () => {
  it('can be put together byte by byte, within the limit, and never leaves its code block', () => {
    fc.assert(
      fc.property(nasty, (text) => {
        const slices = slicesOf(text);
        expect(slices.map(({ content }) => sliceOf(content)).join('')).toBe(text);
        for (const { content } of slices) {
          expect(content.length).toBeLessThanOrEqual(2000);
          expect(content.isWellFormed()).toBe(true);
          expect(content.slice(3).indexOf('```')).toBe(content.length - 6);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('stays within the limit if backticks before an emoji become the end of a message', () => {
    for (let length = 1950; length < 1989; length++)
      for (const { content } of slicesOf(`${'x'.repeat(length)}\`\`\`\`\`👍`))
        expect([length, content.length <= 2000]).toEqual([length, true]);
  });

  it('is cut after a line where one ends in time', () => {
    const text = 'a line of text\n'.repeat(400);
    for (const { text: slice } of slicesOf(text)) expect(slice).toMatch(/\n$/);
    expect(slicesOf('x'.repeat(4000)).map(({ text: slice }) => slice.length)).toEqual([1989, 1989, 22]);
  });

  it('is always cut at the same places where it is final', () => {
    fc.assert(
      fc.property(nasty, nasty, (text, more) => {
        const before = slicesOf(text).slice(0, -1);
        expect(slicesOf(text + more).slice(0, before.length)).toEqual(before);
      }),
    );
  });

  it('is never read from the message of another author', () => {
    expect(sliceOf('```\nscreen\n```')).toBeUndefined();
    expect(isStreamMessage('```\nscreen\n```')).toBe(false);
    expect(isStreamMessage(blockOf('x'))).toBe(true);
    expect(isStreamMessage(floodNow(12_403, 'x'))).toBe(true);
    expect(isStreamMessage(floodDone(1, 1))).toBe(true);
  });
});

describe('the plan of the next messages', () => {
  const lines = (count: number) => 'some line of output\n'.repeat(count);

  it('keeps messages open that are on the screen, and ends the others', () => {
    const plan = planTextMessages(lines(150), 'live', 1);
    expect(plan).toMatchObject({ kind: 'text', final: 1 });
    expect(plan.slices).toHaveLength(2);
    expect(planTextMessages('', lines(300), 1)).toMatchObject({ kind: 'text', final: 0 });
  });

  it('ends a message where a user wrote, and still contains the whole text', () => {
    const places = fc.array(fc.integer({ min: 1, max: 3000 }), { maxLength: 5 });
    fc.assert(
      fc.property(nasty, places, (text, at) => {
        const cuts = at.toSorted((a, b) => a - b);
        const { slices } = planTextMessages('', text, 100, cuts);
        expect(slices.map(({ content }) => sliceOf(content)).join('')).toBe(text);
        for (const { content } of slices) expect(content.isWellFormed()).toBe(true);
      }),
    );
    const { slices } = planTextMessages('', 'one\ntwo\nthree', 1, [4, 8, 99]);
    expect(slices.map(({ text }) => text)).toEqual(['one\n', 'two\n', 'three']);
  });

  it('treats more than three new messages at once as a flood, after the existing ones', () => {
    expect(planTextMessages(lines(99 * 4), 'live', 1).kind).toBe('text');
    const plan = planTextMessages(lines(99 * 9), 'live', 2);
    expect(plan).toMatchObject({ kind: 'flood' });
    expect(plan.slices).toHaveLength(2);
  });

  it('shows the size of a flood and the end of the screen, within the limit', () => {
    const content = floodNow(12_403, `${'`'.repeat(5000)}\n${'x'.repeat(1000)}\nlast`);
    expect(content).toMatch(/^… 12,403 lines …\n```text\n/);
    expect(content).toMatch(/last```$/);
    expect(content.length).toBeLessThanOrEqual(2000);
    expect(floodNow(7, '`'.repeat(4000)).length).toBeLessThanOrEqual(2000);
  });
});
