// Functions that read untrusted text take linear time, whatever the text is: a quadratic one would freeze the process.

import { describe, expect, it } from 'vitest';
import { parseAnsi } from '../agents/claude/screen/box.ts';
import { findDialog } from '../agents/claude/screen/dialog.ts';
import { table } from '../bin/print.ts';
import { panelDraft } from '../bridge/panel/panel-text.ts';
import { lineDiff } from '../core/line-diff.ts';
import { displayWidth, tablesToCode } from '../core/markdown-tables.ts';
import { maskSecrets } from '../core/mask-secrets.ts';
import { splitMessage } from '../core/split.ts';
import { cleanInbound, guardForPrompt, insideFence, neutralise } from '../core/untrusted-text.ts';
import { takeOutgoingFiles } from '../hooks/outgoing-files.ts';
import { stripBlocks } from '../hooks/post-texts.ts';
import { filterOutput } from '../streams/emulator/filter.ts';
import { blockOfEnd, planTextMessages as planTerminal, slicesOf } from '../streams/terminal/message-plan.ts';
import { escapeCode, escapeText, fitsPlain } from '../threads/prompts/preview.ts';
import { hidesPart, planText, questionText } from '../threads/prompts/prompt-text.ts';
import { reconcile } from '../threads/reconcile.ts';
import { threadRecordSchema } from '../threads/registry.ts';
// @ts-expect-error: a script of the page, without types
import { oneLine } from '../workspace/page/session-state.js';
import { textOfRequest } from './support/asked.ts';

type TextFunction = (text: string) => unknown;

/** CPU time, so that other processes do not count. */
function cpuMs(act: () => unknown): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('compared with plain words of the same length, hostile text does not slow down', () => {
  const OUTGOING = { roots: [], home: '/nowhere', cwd: '/', homeDir: '/' };
  const functions: Readonly<Record<string, TextFunction>> = {
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
    takeOutgoingFiles: (text) => takeOutgoingFiles(text, OUTGOING),
  };
  /** Functions that parse code blocks or attachments also get the text inside an open one. */
  const BEGINNINGS = ['', '[ATTACH:', '```\n'];
  const WITHOUT_BLOCKS = ['lineDiff', 'maskSecrets', 'oneLine', 'parseAnsi'];
  const LENGTH = 60_000;
  const PIECES = [
    ...['`', '``` ', '```\n', '~~~', '[', '[a](b ', '![', '|', '|\n', 'a|b\n|---|\n', ' ', '\n', '\t\n', '@', '@a'],
    ...['\\', '<#', '<@', '**a ', '__a ', '_*\t_', '> ', '- ', '\u200d', '\u001b[', '\u001b]', '0-', 'Bot ', '-# '],
    ...['[ATTACH:', '[ATTACH: a]\n', '\r', '\0'],
    `|${'**a '.repeat(240)}|\n|---|\n`,
    `|${'[a](b '.repeat(160)}|\n|---|\n`,
    `|${'`'.repeat(900)}a|\n|---|\n`,
    `| ${'**a '.repeat(LENGTH / 8)}|\n|---|\n| 1 |\n`,
    `|${' '.repeat(LENGTH / 4)}\n`,
    `| a |\n|${'-|'.repeat(LENGTH / 4)}\n`,
    `| a |\n|---|\n${'| 1 | 2 |\n'.repeat(LENGTH / 20)}`,
    '- > ',
    '> - ',
    'x',
    'a\n',
  ];

  it.each(Object.entries(functions))('%s', (name, act) => {
    const words = 'plain words of a reply\n'.repeat(LENGTH / 23);
    const plainMs = Math.max(
      5,
      cpuMs(() => act(words)),
    );
    // A quadratic function takes seconds here, and a linear one a few milliseconds.
    const budgetMs = 500 + 100 * plainMs;
    for (const piece of PIECES) {
      const text = piece.repeat(LENGTH / piece.length);
      for (const beginning of WITHOUT_BLOCKS.includes(name) ? [''] : BEGINNINGS)
        expect([piece, cpuMs(() => act(`${beginning}${text}x`)) < budgetMs]).toEqual([piece, true]);
    }
  });
});

const question = (text: string) => ({
  question: text,
  header: text,
  multiSelect: false,
  options: [{ label: text, description: text }],
});

describe('for ten times the text, about ten times the time is needed by', () => {
  const PIECES = [
    ...['x', '\n', '`', '```a\n', '\u200b', '\u0301', '👩‍🚀', '🇩', '漢', '\r\n', ' ', '*', '\ud800', '\x1b[1m'],
    '⟨U+0060⟩',
  ];
  const rows = (text: string) => ['c', 'd'].map((other, at) => (at === 0 ? [text, other] : [other, text]));
  const size = { width: 80, height: 24 };
  const functions: Readonly<Record<string, TextFunction>> = {
    displayWidth,
    neutralise,
    slicesOf,
    hidesPart,
    planText: (text) => planText(text, 'Claude'),
    blockOfEnd: (text) => blockOfEnd(text, 2000),
    filterOutput: (text) => filterOutput({ inside: 'nothing', marks: 0 }, text, size),
    escapeText,
    questionText: (text) => questionText([question(text), question(text)], { chosen: [text] }),
    'escapeText, fitsPlain and escapeCode with a low limit': (text) => [
      escapeText(text, 30),
      fitsPlain(text, 30),
      escapeCode(text, 30),
    ],
    'table of the command line': (text) => table(['a', 'b'], rows(text)),
    'planTextMessages of a terminal': (text) => planTerminal(text, text, 1),
    'permissionText for Bash': (text) => textOfRequest('Bash', { command: text, description: text }, text, []),
    'permissionText for Edit': (text) =>
      textOfRequest('Edit', { file_path: text, old_string: text, new_string: text }, '/', []),
    'permissionText for any tool': (text) => textOfRequest(text, { a: { b: [text] } }, '/', []),
    'permissionText with rules': (text) =>
      textOfRequest('Bash', {}, '/', [{ type: 'addRules', rules: [{ toolName: text }] }]),
  };

  it.each(Object.entries(functions))('%s', (_, act) => {
    const slow = [];
    for (const piece of PIECES) {
      const text = (length: number) => piece.repeat(length / piece.length);
      cpuMs(() => act(text(5_000)));
      const small = cpuMs(() => act(text(10_000)));
      const large = cpuMs(() => act(text(100_000)));
      // Quadratic time would be a hundred times as long.
      if (large > 40 * small + 250) slow.push([piece, Math.round(small), Math.round(large)]);
    }
    expect(slow).toEqual([]);
  });

  it('permissionText for an input of many fields', () => {
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, 1]));
    const [few, many] = [fields(5_000), fields(50_000)];
    const ask = (input: object) => cpuMs(() => textOfRequest('mcp', { ...input }, '/', []));
    ask(few);
    expect(ask(many)).toBeLessThan(40 * ask(few) + 250);
  });
});

describe('for ten times the sessions, about ten times the time is needed by', () => {
  it('the panel', () => {
    const nothing = { agent: undefined, branch: undefined, model: undefined, context: undefined, at: undefined };
    const row = (at: number) => ({
      label: `s${at}`,
      host: 'mini',
      thread: '1',
      state: { state: 'idle', since: 0 } as const,
      because: undefined,
      session: '',
      isWorktree: false,
      ...nothing,
    });
    const rows = (count: number) => Array.from({ length: count }, (_, at) => row(at));
    const draw = (all: ReturnType<typeof rows>) => cpuMs(() => panelDraft({ rows: all, worktrees: [] }, String));
    draw(rows(500));
    expect(draw(rows(16_000))).toBeLessThan(40 * draw(rows(1_600)) + 250);
  });
});

describe('many sessions of one name', () => {
  it.each(['c', 'another'])('are matched with as many threads of channel %s with little work', (channel) => {
    const pane = { host: 'far', socket: '/s', paneId: '%1', panePid: 1, command: 'sh' };
    let asked = 0;
    const count = 2_000;
    const sessions = Array.from({ length: count }, (_, at) => ({
      ...pane,
      serverPid: 8,
      sessionName: 'web',
      group: undefined,
      path: '/',
      get sessionId() {
        asked++;
        return `$${at}`;
      },
    }));
    const records = sessions.map(({ sessionId, sessionName }, at) =>
      threadRecordSchema.parse({
        ...pane,
        thread: `${at}`,
        title: '[agent] web@far',
        serverPid: 7,
        sessionId,
        sessionName,
        channel,
        cwd: '/',
        claudeSession: '',
        transcript: '',
        state: 'idle',
        at,
      }),
    );
    const channelOf = () => {
      asked++;
      return 'c';
    };
    const places = { channelOf, strays: [], ignore: [], auto: true };
    asked = 0;
    const changes = reconcile({ host: 'far', defaultHost: 'laptop', sessions, records, ...places });
    expect(changes.filter((one) => one.do === 'adopt')).toHaveLength(channel === 'c' ? count : 0);
    expect(asked).toBeLessThan(20 * count); // it was a million times
  });
});

describe('a dialog of Claude Code', () => {
  it('is found in less time than the screen is parsed', () => {
    const text = `x${' '.repeat(240_000)}x`;
    let rows = parseAnsi('');
    const parsing = cpuMs(() => {
      rows = parseAnsi(text);
    });
    expect(cpuMs(() => findDialog(rows, 80))).toBeLessThan(parsing + 100); // it was several times as long
  });
});

describe('the text of a prompt', () => {
  it('does not become much longer by indentation', () => {
    const deep = JSON.parse(`${'['.repeat(90)}${Array(200_000).fill(0).join()}${']'.repeat(90)}`);
    const { files } = textOfRequest('mcp', { deep }, '/', []);
    expect(files[0]?.data.length).toBeLessThan(1_000_000);
  });

  it('takes little more time than neutralising the attached text', () => {
    for (const piece of ['x', '\u200b', '*']) {
      const text = piece.repeat(500_000);
      const once = cpuMs(() => neutralise(text.repeat(4)));
      const asked = cpuMs(() => questionText([question(text)], { chosen: [] }));
      expect([piece, asked < 4 * once + 250]).toEqual([piece, true]);
    }
  });
});
