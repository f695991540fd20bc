// What somebody writes in a thread is what Claude is given: proven by the stand-in's own record, and shown on the message.

import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { FakeClaude } from '../support/fake-claude.ts';
import { aWhile, type Setting, screenOf, startSetting, untilPrompts, WAIT } from './setting.ts';

let setting: Setting;
let claude: FakeClaude;

beforeEach(async () => {
  setting = await startSetting();
});

describe('a message in a thread', () => {
  it('is submitted to Claude and shows it, whatever it holds', { timeout: 60_000 }, async () => {
    claude = await setting.claude('web');
    const texts = [
      'hello',
      'one\ntwo\n\n  three',
      '!not a command? no:',
      '/not-on-the-list of commands',
      '@someone look',
      '#tag first',
      '& ampersand',
      '-rf --help',
      'ends with a backslash \\',
      'ends with @package.json',
      'ends with;',
      `"quotes" 'and' $(touch /nowhere/pwned) \`id\` \${HOME} #{pane_id} #(id) %if`,
      'emoji 👩‍👩‍👧 ünï 漢字',
      'Esc to cancel is only talk',
    ];
    const sent = [];
    for (const text of texts) {
      const message = await setting.say(claude, text);
      sent.push(message);
      if (!text.startsWith('!')) await setting.untilMarked(message, '✅');
    }
    await untilPrompts(
      claude,
      texts.filter((text) => !text.startsWith('!')).map((text) => text.trim()),
    );
    expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
  });
});
