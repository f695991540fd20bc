import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelOf, parseLabel, parseSessionName } from '../../core/session-name.ts';
import { parseThreadTitle, threadTitle } from '../../core/thread-title.ts';

describe('session names', () => {
  it.each(['web', 'a', '0', 'my_app-2', 'A'.repeat(64)])('can be %s', (name) => {
    expect(parseSessionName(name)).toBe(name);
  });

  it.each(['', '-web', '_x', 'a b', 'a.b', 'a:b', '#(touch x)', '$(id)', 'ä', 'a\n', 'A'.repeat(65)])(
    'cannot be %j',
    (name) => {
      expect(() => parseSessionName(name)).toThrow(/cannot name a session/);
    },
  );
});

describe('thread titles', () => {
  it('name the session, and the host unless it is the default one', () => {
    expect(threadTitle({ session: 'web' })).toBe('[agent] web');
    expect(threadTitle({ session: 'web', host: 'mini' })).toBe('[agent] web@mini');
  });

  it.each([
    ['an @, which would look like a host', 'a@mini', '[agent] a%40mini'],
    ['a percent sign', '100%', '[agent] 100%25'],
    ['spaces at the ends and in a row', '  a  b ', '[agent] %20%20a %20b%20'],
    ['a bidi override', 'a\u202Eb', '[agent] a%E2%80%AEb'],
    ['a zero-width space', 'a\u200Bb', '[agent] a%E2%80%8Bb'],
    ['an emoji', 'ünï👍', '[agent] ünï👍'],
    ['shell words', '$(id) `x` "q"', '[agent] $(id) `x` "q"'],
  ])('can contain %s', (_, session, title) => {
    expect(threadTitle({ session })).toBe(title);
    expect(parseThreadTitle(title)).toEqual({ session });
  });

  it.each([
    ['too long', 'x'.repeat(93), /101 characters, and 100 are allowed/],
    ['empty', '', /empty/],
    ['broken', 'a\uD800', /not valid Unicode/],
  ])('are refused with a sentence when the name is %s', (_, session, sentence) => {
    expect(() => threadTitle({ session })).toThrow(sentence);
  });

  it.each([
    'web',
    '[agent]',
    '[agent] ',
    '[agent] a@b@c',
    '[agent] 100%',
    '[agent] a%62',
    '[agent]  a',
    '[agent] a@bad host',
    '[bot] a',
  ])('that threadmux would not have written belong to no session: %j', (title) => {
    expect(parseThreadTitle(title)).toBeUndefined();
  });

  it('are parsed back to their names, or refused', () => {
    const host = fc.option(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,10}$/), { nil: undefined });
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), host, (session, host) => {
        const place = host === undefined ? { session } : { session, host };
        let title: string;
        try {
          title = threadTitle(place);
        } catch (error) {
          expect((error as { code?: string }).code).toBe('name_refused');
          return;
        }
        expect(title.length).toBeLessThanOrEqual(100);
        expect(title.trim()).toBe(title);
        expect(parseThreadTitle(title)).toEqual(place);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('labels', () => {
  const config = { defaultHost: 'laptop' };

  it('name the session of one host, whatever another host calls its own', () => {
    expect(parseLabel('shop', config)).toEqual({ name: 'shop', host: 'laptop' });
    expect(parseLabel('shop@mini', config)).toEqual({ name: 'shop', host: 'mini' });
    expect(parseLabel('shop@laptop@mini', config)).toEqual({ name: 'shop@laptop', host: 'mini' });
    expect(labelOf({ name: 'shop@mini', host: 'laptop' }, config)).toBe('shop@mini@laptop');
  });

  it('are parsed back to their names', () => {
    const host = fc.constantFrom('laptop', 'mini', 'a-b.c');
    const name = fc.string({ unit: fc.constantFrom('@', 'a', 'laptop', 'mini', ' '), minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(name, host, (name, host) => {
        expect(parseLabel(labelOf({ name, host }, config), config)).toEqual({ name, host });
      }),
    );
  });
});
