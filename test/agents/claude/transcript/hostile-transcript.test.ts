// A transcript is written by the agent, or by another host: whatever it contains, reading it takes little time and memory.

import { describe, expect, it } from 'vitest';
import { readTurn, toolAnswered } from '../../../../agents/claude/transcript/transcript.ts';
import { textsOf } from '../../../../agents/turn.ts';
import { tempFile } from '../../../support/temp-home.ts';

const fileWith = (...lines: readonly object[]) =>
  tempFile('session.jsonl', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
const asked = (content: unknown = 'go', uuid = 'u') => ({ type: 'user', uuid, promptId: 'p', message: { content } });
const said = (content: readonly object[], more: object = {}) => ({
  type: 'assistant',
  uuid: 'a',
  message: { id: 'm', content, stop_reason: 'tool_use' },
  ...more,
});
const tool = (id: string) => ({ type: 'tool_use', id, name: 'Bash', input: {} });
const text = (words: string) => ({ type: 'text', text: words });

async function cpuMs(act: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('a hostile transcript', () => {
  it('does not make the search for a tool slow by a long id', async () => {
    // The worst case of looking for one text in another: all of the id is compared at each place of the line.
    const id = `aab${'a'.repeat(8_000)}`;
    const path = fileWith(said([tool(id)]), said([text('a'.repeat(2_000_000))]));
    expect(await toolAnswered(path, 'another')).toBe(undefined);
    const short = await cpuMs(() => toolAnswered(path, 'aab'));
    expect(await cpuMs(() => toolAnswered(path, id))).toBeLessThan(20 * short + 250); // it was seconds, and hours with as long an id and line as there can be
  });

  it('still tells how a tool with a long id ended', async () => {
    const id = 'x'.repeat(5_000);
    const result = (of: string) => asked([{ type: 'tool_result', tool_use_id: of, is_error: true }], `r${of.length}`);
    expect(await toolAnswered(fileWith(said([tool(id)]), result(id)), id)).toBe('error');
    expect(await toolAnswered(fileWith(said([tool(id)]), result(`${id}x`)), id)).toBe(undefined);
  });

  it('cannot bring ids of megabytes: such a line is ignored', async () => {
    const long = 'x'.repeat(1_000_000);
    const path = fileWith(
      ...[asked(), said([text('1')], { uuid: long }), said([tool(long), text('2')]), said([text('3')], { uuid: 'c' })],
    );
    const turn = await readTurn(path);
    expect(textsOf(turn).map(({ uuid, text }) => [uuid, text])).toEqual([['c', '3']]);
  });

  it('has its texts and prompts cut, as those of a report are', async () => {
    const path = fileWith(asked('p '.repeat(3_000_000)), said([text('t '.repeat(1_000_000))]));
    const turn = await readTurn(path);
    expect(
      [turn?.prompts[0]?.length, textsOf(turn)[0]?.text.length].map((length) => Math.round((length ?? 0) / 1e5)),
    ).toEqual([40, 10]);
    expect(textsOf(turn)[0]?.text).toMatch(/… \(1000000 more characters were left out\)$/);
  });

  it('cannot bring many long prompts: the newest 10 million characters are read', async () => {
    const prompt = (_: unknown, at: number) => asked('p '.repeat(1_500_000), `u${at}`);
    const turn = await readTurn(fileWith(...Array.from({ length: 6 }, prompt), said([text('1')])));
    expect(turn?.prompts).toHaveLength(3);
  });

  it('cannot bring millions of texts: the newest 50,000 are read', async () => {
    const many = (at: number) =>
      said(
        Array.from({ length: 8_000 }, () => text('t')),
        { uuid: `a${at}` },
      );
    const turn = await readTurn(fileWith(asked(), ...Array.from({ length: 10 }, (_, at) => many(at))));
    expect(textsOf(turn).length).toBeLessThanOrEqual(50_000);
  });
});
