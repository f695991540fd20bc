// Whether the end of a turn is believed: what was submitted may not be reported yet.

import { expect, it } from 'vitest';
import { isOutdatedIdle } from '../../bin/acts/wait-session.ts';

const TYPED = 1_000_000;
const record = (at: number, submitted?: number) => ({
  claudeSession: 'x',
  state: 'idle' as const,
  at,
  ...(submitted === undefined ? {} : { submitted: [{ letter: '1', print: '', at: submitted }] }),
});

it.each([
  ['nothing was reported since', record(TYPED - 5_000), TYPED + 1_000, true],
  ['the agent has only reported its start', record(TYPED + 500), TYPED + 1_000, true],
  ['the turn was reported, and its end', record(TYPED + 900, TYPED + 100), TYPED + 1_000, false],
  ['the text was reported, but not its end', record(TYPED - 5_000, TYPED + 100), TYPED + 1_000, true],
  ['a command that no hook reports is long over', record(TYPED + 500), TYPED + 6_000, false],
])('after a text was typed, "idle" while %s', (_, known, now, isOutdated) => {
  expect(isOutdatedIdle({ since: TYPED - 60_000 }, known, TYPED, now)).toBe(isOutdated);
});

it('believes "idle" if nothing was submitted', () => {
  expect(isOutdatedIdle({ since: TYPED - 60_000 }, record(TYPED), 0, TYPED + 1)).toBe(false);
});
