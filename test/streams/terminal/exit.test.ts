import { expect, it } from 'vitest';
import { exitMessage } from '../../../streams/terminal/exit.ts';

it.each(['`', '\u200b', 'x', '\n'])(
  'the end of a terminal fits into a message, also if its last lines are full of %j',
  (one) => {
    const ending = { kind: 'exited' as const, code: 1, at: 5_000 };
    const content = exitMessage({ ending, startedAt: 0, lines: 10, lastLines: one.repeat(4_000), whole: 'end' });
    expect(content.length).toBeLessThanOrEqual(2_000);
    expect(content).toMatch(/^⏹️ Exited with code 1 after 5 s\./);
    expect(content).toContain('`!done` archives this thread');
  },
);
