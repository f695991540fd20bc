// Words from outside in our own messages, as Discord's clients read them.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutMessage, insideFence, untrustedCode, untrustedLine, untrustedText } from '../../core/untrusted-text.ts';
import { streamWelcome, welcomeText } from '../../core/welcome-text.ts';
import { blockOf } from '../../streams/terminal/message-plan.ts';
import { escapeCode, escapeText } from '../../threads/prompts/preview.ts';
import { questionText } from '../../threads/prompts/prompt-text.ts';
import { askedBy, textOfRequest } from '../support/asked.ts';
import { activeIn } from '../support/discord-markdown.ts';

const LINK = '[Sign in](https://evil.example)';

const PIECES =
  '** * __ _ ~~ || ` `` ``` \\ [ ]( ) < > <@99> <t:9:R> </evil:9> <:evil:9> <#9> @everyone https://x evil # - -# 1. … 😀 \u202e ( |'
    .split(' ')
    .concat(' ', '\n', '\n# ', '\n- ', '\n> ', LINK);
const words = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join(''));

/** What is active in it. A bare address is a link that shows where it leads. */
const kindsIn = (content: string) => activeIn(content).flatMap(({ kind }) => (kind === 'address' ? [] : [kind]));

describe('the stand-in for Discord', () => {
  it.each([
    ['**`**`[a](https://b.example)', ['bold', 'link']],
    ['**** in `**[a](https://b.example)`', ['bold', 'link']],
    ['`**a**` \\[a\\](https://b.example) ```\n# a\n```', []],
    ['# a\n-# b\n> c\n- d', ['heading', 'small', 'quote', 'list']],
    ['||a|| ~~b~~ __c__ _d_ *e* <@1> <#1> <t:1:R> </a:1> <:a:1>', null],
  ])('reads %j', (content, kinds) => {
    if (kinds === null) expect(kindsIn(content)).toHaveLength(10);
    else expect(kindsIn(content)).toEqual(kinds);
  });
});

describe('words from outside', () => {
  it.each<[string, (a: string, b: string, c: string) => string]>([
    ['as text', (a) => `🔔 ${untrustedText(a)} end`],
    ['in a line', (a, b) => `x ${untrustedLine(a, 20)} · ${untrustedLine(b)}`],
    ['as code', (a, b) => `x ${untrustedCode(a, 10)} on ${untrustedCode(b)}`],
    ['in a block', (a, b) => `x ${untrustedLine(b)}\n${insideFence(a, 'bash')}\n${insideFence(b)}`],
    ['of a terminal', (a) => blockOf(a)],
    ['in a prompt', (a, b) => `x ${escapeText(a, 15)} in ${escapeCode(b, 12)} and ${escapeText(b)}`],
    ['that are cut', (a, b, c) => cutMessage(`⚠️ ${untrustedCode(a)} ${untrustedText(b)}\n${insideFence(c)}`, 60)],
    ['in a first message', (session, host, cwd) => welcomeText({ session, host, cwd })],
    [
      'of a terminal that starts',
      (name, host, dir) => streamWelcome({ kind: 'terminal', name, host, dir, asked: dir }),
    ],
  ])('%s are never active', (_, message) => {
    const isPlain = (...given: [string, string, string]) => kindsIn(message(...given)).length === 0;
    fc.assert(fc.property(words, words, words, isPlain), { numRuns: 1_000 });
  });

  it('in what one is asked to allow are never active, also if the tool has no name', () => {
    expect(askedBy({ tool_name: '' }).tool).toBe('');
    for (const tool of ['', ' ', 'Bash', '**', LINK]) {
      const { text } = textOfRequest(tool, { command: `echo **${LINK}` }, `/x/**${LINK}`, []);
      expect(kindsIn(text)).toEqual(['bold']);
    }
  });

  it('in a question are bold where we say so', () => {
    for (const header of ['', 'Which?', '**']) {
      const options = [{ label: LINK, description: '**' }];
      const { text } = questionText([{ header, question: LINK, options, multiSelect: false }], { chosen: [] } as never);
      const shown = activeIn(text).filter(({ kind }) => kind !== 'address');
      expect(shown.map((one) => one.text)).toEqual([expect.stringMatching(/^\*\*[^\n]+\*\*$/), '**1.**']);
    }
  });
});
