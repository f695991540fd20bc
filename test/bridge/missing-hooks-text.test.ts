import { expect, it } from 'vitest';
import { driverOf } from '../../agents/list.ts';
import { unheardText } from '../../bridge/without-hooks.ts';

it.each([
  ['claude', '', /Run `threadmux install` on laptop once and restart it \(`claude --continue`\)/],
  ['gemini', '', /^This Gemini runs without our hooks.*Run `threadmux install --agent gemini` on laptop once/],
  ['opencode', ' --host mini', /Run `threadmux install --host mini --agent opencode` on laptop once/],
  ['pi', '', /Run `threadmux install --agent pi`/],
  ['codex', '', /They do if threadmux starts it: `!new <name> --agent codex`/],
])('says what is missing for %s%s', (agent, on, says) => {
  expect(unheardText(driverOf(agent), on, 'laptop')).toMatch(says);
});
