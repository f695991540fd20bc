// What looks at text from outside takes time in proportion to its length, whatever the text is.

import { describe, expect, it } from 'vitest';
import { table } from '../bin/print.ts';
import { neutralise } from '../core/neutralise.ts';
import { displayWidth } from '../core/width.ts';
import { filterOutput } from '../streams/terminal/filter.ts';
import { planTextMessages as planTerminal } from '../streams/terminal/plan.ts';
import { blockOfEnd, slicesOf } from '../streams/terminal/slices.ts';
import { escapeCode, escapeText, fitsPlain } from '../threads/prompts/preview.ts';
import { hidesPart, permissionText, planText, questionText } from '../threads/prompts/prompt-text.ts';

const SIGNS = [
  'x',
  '\n',
  '`',
  '```a\n',
  '\u200b',
  '\u0301',
  '👩‍🚀',
  '🇩',
  '漢',
  '\r\n',
  ' ',
  '*',
  '\ud800',
  '\x1b[1m',
  '⟨U+0060⟩',
];

const question = (text: string) => ({
  question: text,
  header: text,
  multiSelect: false,
  options: [{ label: text, description: text }],
});
const fields = (text: string) => Object.fromEntries([...text].map((_, at) => [`key${at}`, 1]));

const FUNCTIONS: Readonly<Record<string, (text: string) => unknown>> = {
  displayWidth,
  neutralise,
  slicesOf,
  hidesPart,
  planText,
  'table of the command line': (text) =>
    table(
      ['a', 'b'],
      [
        [text, 'c'],
        ['d', text],
      ],
    ),
  blockOfEnd: (text) => blockOfEnd(text, 2000),
  'plan of a terminal': (text) => planTerminal(text, text, 1),
  filterOutput: (text) =>
    filterOutput({ inside: 'nothing', marks: 0, credit: 0 }, text, {
      width: 80,
      height: 24,
      inserts: false,
    }),
  plain: escapeText,
  'plain in little room': (text) => [escapeText(text, 30), fitsPlain(text, 30), escapeCode(text, 30)],
  'permission for Bash': (text) => permissionText('Bash', { command: text, description: text }, text, []),
  'permission for Edit': (text) =>
    permissionText('Edit', { file_path: text, old_string: text, new_string: text }, '/', []),
  'permission for any tool': (text) => permissionText(text, { a: { b: [text] } }, '/', []),
  'permission with rules': (text) =>
    permissionText('Bash', {}, '/', [{ type: 'addRules', rules: [{ toolName: text }] }]),
  questionText: (text) => questionText([question(text), question(text)], { chosen: [text] }),
};

function msOf(act: () => unknown): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('linear time', () => {
  it.each(Object.entries(FUNCTIONS))('%s', { timeout: 300_000 }, (_, act) => {
    const slow = [];
    for (const sign of SIGNS) {
      const text = (length: number) => sign.repeat(length / sign.length);
      msOf(() => act(text(10_000)));
      const small = msOf(() => act(text(20_000)));
      const large = msOf(() => act(text(200_000)));
      // Ten times the text; quadratic time would be a hundred times as long.
      if (large > 40 * small + 250) slow.push([sign, Math.round(small), Math.round(large)]);
    }
    expect(slow).toEqual([]);
  });

  it('permissionText for an input of many fields', { timeout: 120_000 }, () => {
    const [few, many] = [fields('x'.repeat(5_000)), fields('x'.repeat(50_000))];
    const ask = (input: object) => msOf(() => permissionText('mcp', { ...input }, '/', []));
    ask(few);
    expect(ask(many)).toBeLessThan(40 * ask(few) + 250);
  });

  it('an input is not made much longer by its indentation', () => {
    const deep = JSON.parse(`${'['.repeat(90)}${Array(200_000).fill(0).join()}${']'.repeat(90)}`);
    const { files } = permissionText('mcp', { deep }, '/', []);
    expect(files[0]?.data.length).toBeLessThan(1_000_000);
  });

  it('a prompt takes little more than spelling out the text that is attached', {
    timeout: 120_000,
  }, () => {
    for (const sign of ['x', '\u200b', '*']) {
      const text = sign.repeat(500_000);
      const once = msOf(() => neutralise(text.repeat(4)));
      const asked = msOf(() => questionText([question(text)], { chosen: [] }));
      expect([sign, asked < 4 * once + 250]).toEqual([sign, true]);
    }
  });
});
