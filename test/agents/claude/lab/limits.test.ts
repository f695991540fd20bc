// What happens when a usage limit of the real Claude Code resets. Claude states whole minutes, and messages are typed two minutes later, so this
// takes some minutes.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { claudeVersion, startClaudeLab } from '../../../support/claude-lab.ts';
import { PATIENCE } from '../../../support/lab-session.ts';

it('a turn that was cut off goes on once, and a message that waited is typed', { timeout: 600_000 }, async () => {
  const lab = await startClaudeLab();
  onTestFinished(() => lab.stop());
  const alone = await lab.start('alone', { subscriber: true });
  const written = await lab.start('written', { subscriber: true });
  for (const session of [alone, written]) {
    await session.next('▶️ Claude started.');
    await session.submit('limit 20');
    await session.next(/^⚠️ Claude stopped: a usage limit was reached\.[\s\S]*told to continue\.$/);
  }
  const message = await written.say('go on');
  await written.marked(message, '📨');

  const reset = { ...PATIENCE, timeout: 300_000 };
  await vi.waitFor(() => expect(written.prompts()).toContain('go on'), reset);
  await written.marked(message, '✅');
  const texts = async () => (await alone.news()).map(({ content }) => content);
  await vi.waitFor(async () => expect((await texts()).at(-1)).toMatch(/\nEcho: limit 20\n/), PATIENCE);
  await sleep(15_000);
  // A person wrote, so nobody continues for them. Newer versions continue by themselves, so nothing is sent there at all.
  const isOld = claudeVersion() === '2.1.197';
  expect(written.prompts()).toEqual(['limit 20', 'go on']);
  expect(alone.prompts()).toEqual(isOld ? ['limit 20', 'continue'] : ['limit 20']);
  expect((await texts()).filter((text) => text.includes('Sent by threadmux'))).toHaveLength(isOld ? 1 : 0);
  expect((await texts()).filter((text) => text.includes('Echo: limit 20'))).toHaveLength(1);
});
