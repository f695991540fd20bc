// What is kept of a turn that an agent reports: enough for its summary, and never what a hostile host could fill the memory with.

import { expect, it } from 'vitest';
import { textsOf } from '../../agents/turn.ts';
import { createReportedTurns } from '../../hooks/reported-turns.ts';

const place = { session: 's', cwd: '/', transcript: '' };
const text = (uuid: string, length: number) => ({ uuid, text: 'x'.repeat(length), at: 0, writtenAt: 0 });

it('keeps no input of a tool, only a limited amount of text, and the id of every text', () => {
  const turns = createReportedTurns();
  turns.begin('key', 'p'.repeat(300_000));
  const input = { content: 'x'.repeat(1_000_000) };
  for (let at = 0; at < 20; at++) {
    turns.tool('key', { ...place, event: 'tool', name: 'Write', input }, `tool ${at}`);
    turns.said('key', text(`text ${at}`, 50_000));
  }
  const turn = turns.of('key');
  expect(JSON.stringify(turn).length).toBeLessThan(250_000);
  expect(turn.tools).toHaveLength(20);
  expect(textsOf(turn).map(({ uuid }) => uuid)).toEqual(Array.from({ length: 20 }, (_, at) => `text ${at}`));
  expect(textsOf(turn).filter((one) => one.text !== '')).toHaveLength(4);
});
