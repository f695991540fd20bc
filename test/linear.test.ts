// Hostile text takes about as long as plain words of the same length, in every function that reads text from outside.

import { describe, expect, it } from 'vitest';
import { parseAnsi } from '../agents/claude/ansi.ts';
import { cleanInbound, guardForPrompt } from '../core/clean-input.ts';
import { lineDiff } from '../core/line-diff.ts';
import { maskSecrets } from '../core/log.ts';
import { insideFence, neutralise } from '../core/neutralise.ts';
import { splitMessage } from '../core/split.ts';
import { tablesToCode } from '../core/tables.ts';
import { takeOutgoingFiles } from '../hooks/outgoing-files.ts';
import { stripBlocks } from '../hooks/stop.ts';

// @ts-expect-error: a script of the page, without types
import { oneLine } from '../workspace/page/session-state.js';

const RULES = { roots: [], home: '/nowhere', cwd: '/', homeDir: '/' };
const CELL = '|---|\n';

const FUNCTIONS: Readonly<Record<string, (text: string) => unknown>> = {
  cleanInbound,
  guardForPrompt,
  insideFence,
  lineDiff: (text) => lineDiff(text, `${text.slice(1)}\nx`),
  maskSecrets: (text) => maskSecrets(text),
  neutralise,
  oneLine: (content) => oneLine({ content }),
  parseAnsi,
  splitMessage: (text) => splitMessage(text),
  stripBlocks: (text) => stripBlocks(text, ['^header$']),
  tablesToCode,
  takeAttachments: (text) => takeOutgoingFiles(text, RULES),
};

/** For those that know code blocks and attachments the text also stands in an open one. */
const BEGINNINGS = ['', '[ATTACH:', '```\n'];
const FLAT = ['lineDiff', 'maskSecrets', 'oneLine', 'parseAnsi'];

const LENGTH = 60_000;
const HOSTILE = [
  ...[
    '`',
    '``` ',
    '```\n',
    '~~~',
    '[',
    '[a](b ',
    '![',
    '|',
    '|\n',
    `a|b\n${CELL}`,
    ' ',
    '\n',
    '\t\n',
    '@',
    '@a',
    '\\',
    '<#',
    '<@',
  ],
  ...[
    '**a ',
    '__a ',
    '_*\t_',
    '> ',
    '- ',
    '\u200d',
    '\u001b[',
    '\u001b]',
    '0-',
    'Bot ',
    '-# ',
    '[ATTACH:',
    '[ATTACH: a]\n',
    '\r',
    '\0',
  ],
  ...[
    `|${'**a '.repeat(240)}|\n|---|\n`,
    `|${'[a](b '.repeat(160)}|\n|---|\n`,
    `|${'`'.repeat(900)}a|\n|---|\n`,
    `| ${'**a '.repeat(LENGTH / 8)}|\n|---|\n| 1 |\n`,
    `|${' '.repeat(LENGTH / 4)}\n`,
    `| a |\n|${'-|'.repeat(LENGTH / 4)}\n`,
    `| a |\n|---|\n${'| 1 | 2 |\n'.repeat(LENGTH / 20)}`,
    '- > ',
  ],
];

/** Of the processor: other processes do not count. */
function tookMs(act: () => unknown): number {
  const from = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
}

describe.each(Object.entries(FUNCTIONS))('%s', (name, act) => {
  it('takes about as long for hostile text as for plain words', { timeout: 120_000 }, () => {
    const words = 'plain words of a reply\n'.repeat(LENGTH / 23);
    // What is quadratic takes seconds here, and all else a few milliseconds.
    const plainMs = Math.max(
      5,
      tookMs(() => act(words)),
    );
    const budget = 500 + 100 * plainMs;
    for (const piece of HOSTILE) {
      const text = piece.repeat(LENGTH / piece.length);
      for (const beginning of FLAT.includes(name) ? [''] : BEGINNINGS)
        expect([piece, tookMs(() => act(`${beginning}${text}x`)) < budget]).toEqual([piece, true]);
    }
  });
});
