import { describe, expect, it } from 'vitest';
import { pi } from '../../../agents/pi/driver.ts';
import { cardDraft } from '../../../bridge/dialogs/card-text.ts';
import { isSafeScreen, screensOf } from '../../support/recorded-screens.ts';

const { recorded, read } = screensOf('pi');

describe("pi's box", () => {
  it.each(recorded.filter(isSafeScreen))('is not empty without the cursor that pi draws: $path', ({ ansi, facts }) => {
    expect(read(ansi.replaceAll('\u001b[7m', ''), facts).kind).not.toBe('empty');
  });

  it('may show a long text as a placeholder', () => {
    for (const one of recorded.filter(({ name }) => name === 'draft-pasted-block')) {
      const screen = read(one.ansi, one.facts);
      expect(pi.screen.boxHolds(screen, 'x'.repeat(3_000))).toBe('maybe');
      expect(pi.screen.boxHolds(screen, 'hello')).toBe('maybe');
    }
  });
});

describe('a question of an extension of pi', () => {
  it('is shown whole, also if it is one long line', () => {
    const wide = recorded.find(({ path }) => path.includes('200x50/dialog-list-login'));
    const asked = `Allow: echo ${'harmless '.repeat(12)}; rm -rf ~`;
    const ansi = wide?.ansi.replace('Select authentication method:', asked) ?? '';
    const screen = read(ansi, wide?.facts);
    if (screen.kind !== 'dialog') throw new Error(screen.kind);
    expect(screen.title).toBe(asked);
    expect(cardDraft(screen, 'print', 'pi').content).toContain('; rm -rf \\~');
  });
});

describe('a text for pi', () => {
  it.each(['!ls', ' !ls', '\n!ls', '/quit', ' /compact now', '/'])('is refused if pi would run it: %j', (text) => {
    expect(pi.typing.refuse(text)).toMatch(/Put a word before it/);
  });

  it.each(['hello!', '/usr/bin is full', 'a /quit', '@file'])('is typed if it is text: %j', (text) => {
    expect(pi.typing.refuse(text)).toBeUndefined();
  });
});
