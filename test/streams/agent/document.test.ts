import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HeadlessEvent, HeadlessResult } from '../../../agents/headless.ts';
import { EMPTY_DOCUMENT, lastWords, partsOf, withEvent, withResult } from '../../../streams/agent/document.ts';

const documentOf = (...events: HeadlessEvent[]) => events.reduce(withEvent, EMPTY_DOCUMENT);
const shown = (...events: HeadlessEvent[]) => partsOf(documentOf(...events), false).map(({ content }) => content);
const text = (said: string): HeadlessEvent => ({ kind: 'text', text: said });
const delta = (said: string): HeadlessEvent => ({ kind: 'delta', text: said });
const tool = (label: string): HeadlessEvent => ({ kind: 'tool', label });
const result: HeadlessResult = {
  kind: 'result',
  turns: 3,
  durationMs: 12_345,
  costUsd: 0.04213,
  isError: false,
  ownCostUsd: undefined,
  text: 'Done.',
};

describe('the document of a turn', () => {
  it('shows partial text, and the same when it is complete', () => {
    expect(shown({ kind: 'begin' }, delta('Hel'), delta('lo'))).toEqual(['Hello']);
    expect(shown({ kind: 'begin' }, delta('Hel'), delta('lo'), text('Hello'))).toEqual(['Hello']);
    expect(shown(text('Hello'))).toEqual(['Hello']);
  });

  it('drops text that never became complete', () => {
    expect(shown(text('one'), delta('half a sen'), { kind: 'begin' }, delta('tw'))).toEqual(['one\n\ntw']);
  });

  it('stops growing, and says so', () => {
    const most = { ...EMPTY_DOCUMENT, length: 15_999_990 };
    const full = [text('x'.repeat(20)), text('more'), tool('Bash')].reduce(withEvent, most);
    expect(partsOf(full, true).map(({ content }) => content)).toEqual([
      '-# ✘ Too much output: the rest of this turn is not shown.',
    ]);
    const answered: HeadlessEvent = { kind: 'answered', requestId: 'r' };
    const many = documentOf(...Array<HeadlessEvent>(20_000).fill(answered), text('one'), text('two'));
    expect(partsOf(many, true).map(({ content }) => content)).toEqual([
      '-# ✘ Too much output: the rest of this turn is not shown.',
    ]);
    const draft = { ...EMPTY_DOCUMENT, draft: 'x'.repeat(16_000_001) };
    expect(withEvent(draft, delta('more')).draft).toHaveLength(16_000_001);
  });

  it('has one line per tool, whatever its label contains', () => {
    const failed: HeadlessEvent = { kind: 'tool failed', text: '<tool_use_error>no\nway</tool_use_error>' };
    expect(shown(text('a'), tool('Bash · rm *.ts\n# x\u202e'), failed, text('b'))).toEqual([
      'a\n\n-# 🔧 Bash · rm \\*.ts \\# x⟨U+202E⟩\n-# ✘ no way\n\nb',
    ]);
    expect(shown(tool('x'.repeat(5_000)))[0]?.length).toBeLessThan(200);
  });

  it('closes a fence that Claude left open, and aligns its tables', () => {
    expect(shown(text('```ts\nconst x'), tool('Read'))).toEqual(['```ts\nconst x\n```\n\n-# 🔧 Read']);
    expect(shown(text('| a | b |\n|---|---|\n| 1 | 2 |'))[0]).toMatch(/^```\na/);
  });

  it('starts a new message after the message of another user, and none that is empty', () => {
    const answered: HeadlessEvent = { kind: 'answered', requestId: 'r' };
    expect(shown(answered, text('a'), answered, answered, text('b'))).toEqual(['a', 'b']);
    expect(shown(answered, text('  \n'))).toEqual([]);
  });

  it('keeps every full message unchanged while more is added', () => {
    const words = fc.array(fc.lorem({ maxCount: 40 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(words, words, (before, after) => {
        const early = shown(...before.map(text));
        const late = shown(...[...before, ...after].map(text));
        expect(late.slice(0, early.length - 1)).toEqual(early.slice(0, -1));
        expect(late.every((one) => one.length <= 2_000)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('takes no longer with 16 MB of tables than with twenty messages of them', () => {
    const table = `${'|a'.repeat(300)}|\n${'|-'.repeat(300)}|\n${`${'|b'.repeat(300)}|\n`.repeat(160)}`;
    const cpuMs = (...events: HeadlessEvent[]) => {
      const document = documentOf(...events);
      const before = process.cpuUsage().user;
      partsOf(document, false);
      return (process.cpuUsage().user - before) / 1_000;
    };
    cpuMs(text(table));
    const few = cpuMs(text(table));
    expect(cpuMs(...Array<HeadlessEvent>(160).fill(text(table)))).toBeLessThan(10 * few + 50);
    expect(cpuMs(text(table.repeat(160)))).toBeLessThan(10 * few + 50);
    expect(cpuMs(delta(table.repeat(160)))).toBeLessThan(10 * few + 50);
  });

  it('past twenty messages says how much more there is, and attaches all of it at the end', () => {
    const long = 'ä line of text\n'.repeat(600_000);
    const document = documentOf(text(long));
    const running = partsOf(document, false);
    expect(running).toHaveLength(20);
    expect(running.at(-1)).toEqual({
      content: expect.stringMatching(/^\*… 8,9\d\d,\d{3} more characters so far; .* at the end\.\*$/),
    });
    const { files = [] } = partsOf(document, true).at(-1) ?? {};
    expect(files.map(({ name }) => name)).toEqual(['agent.md', 'agent-2.md']);
    const whole = Buffer.concat(files.map(({ data }) => data)).toString('utf8');
    expect(whole === long).toBe(true);
  });
});

describe('the last line of a turn', () => {
  const ended = { title: 'Claude', tookMs: 61_000, results: [result], status: 0, stderr: '' };

  it.each([1e308, -1, 1e12, Number.POSITIVE_INFINITY, Number.NaN])('leaves out a number that cannot be: %d', (odd) => {
    const said = { ...result, turns: odd, durationMs: odd, costUsd: odd };
    expect(lastWords({ ...ended, tookMs: 5_000, results: [said] })).toBe('✅ 5 s');
    expect(lastWords({ ...ended, tookMs: 5_000, results: [{ ...said, ownCostUsd: odd }] })).toBe('✅ 5 s');
    expect(lastWords({ ...ended, results: [{ ...result, turns: 0.1 }] })).toBe('✅ 12 s · $0.0421');
  });

  it('shows turns, duration and cost', () => {
    expect(lastWords(ended)).toBe('✅ 3 turns · 12 s · $0.0421');
    expect(lastWords({ ...ended, results: [{ ...result, turns: 1, durationMs: 3_725_000 }] })).toBe(
      '✅ 1 turn · 1 h 2 min · $0.0421',
    );
  });

  it('shows only what the agent has told, and how long its process ran', () => {
    const bare = { kind: 'result', isError: false, text: '' } as const;
    expect(lastWords({ ...ended, results: [bare] })).toBe('✅ 1 min 1 s');
    expect(lastWords({ ...ended, title: 'Codex', results: [], status: 2 })).toBe(
      '⚠️ Codex ended with exit code 2 before it was done.',
    );
  });

  it('counts what Claude did after its first result, and the cost once', () => {
    const more = { ...result, turns: 1, durationMs: 1_000, costUsd: 0.05 };
    expect(lastWords({ ...ended, results: [result, more] })).toBe('✅ 4 turns · 13 s · $0.0500');
  });

  it('shows the cost of this turn, where Claude Code reports that of the whole conversation', () => {
    const one = { ...result, costUsd: 7.5, ownCostUsd: 0.25 };
    expect(lastWords({ ...ended, results: [one] })).toContain('$0.2500');
    expect(lastWords({ ...ended, results: [one, { ...one, costUsd: 8 }] })).toContain('$0.5000');
  });

  it('fits into a message, whatever went wrong', () => {
    const long = `${'x'.repeat(10_000)}\n`.repeat(20);
    const wrong = { ...result, isError: true, text: long };
    expect(lastWords({ ...ended, results: [wrong], status: 1, stderr: long }).length).toBeLessThan(2_000);
    for (const stderr of [long, '\u200b'.repeat(800), '`'.repeat(800)])
      expect(lastWords({ ...ended, results: [], status: 1, stderr }).length).toBeLessThan(2_000);
  });

  it('contains no secret that was printed beside it', () => {
    const stderr = 'key sk-ant-api03-abcdefghijklmnop is wrong';
    expect(lastWords({ ...ended, results: [], status: undefined, stderr })).toBe(
      '⚠️ Claude was killed before it was done.\n```\nkey [secret] is wrong\n```',
    );
  });
});

it('keeps only so many results of a turn, and the last one counts', () => {
  const bad = { ...result, isError: true, text: 'x'.repeat(1_000_000) };
  let results: readonly HeadlessResult[] = [];
  for (let at = 0; at < 200_000; at++) results = withResult(results, at % 1_000 === 0 ? bad : result);
  results = withResult(results, { ...bad, text: 'the last word' });
  expect(results.length).toBe(100);
  expect(JSON.stringify(results).length).toBeLessThan(100_000);
  expect(lastWords({ title: 'Claude', tookMs: 0, results, status: 1, stderr: '' })).toContain('the last word');
});
