// `!new --agent gemini` where its extension is not installed: it works by its screen alone, and the thread says what is missing.

import { expect, it, onTestFinished } from 'vitest';
import { startThreadmuxLab } from './threadmux-lab.ts';

it('Gemini CLI without our extension is typed into, and the thread says what is missing', async () => {
  const lab = await startThreadmuxLab(['gemini'], false);
  onTestFinished(() => lab.stop());
  const thread = await lab.start('gemini');
  const welcome = (await lab.person.messages(lab.channelId)).find(({ id }) => id === thread.thread);
  expect(welcome?.content).toContain('\n-# The extension of threadmux is not installed');
  expect(welcome?.content).toContain('Run "threadmux install --agent gemini" to add it.\n');
  const message = await thread.say('hello by the screen');
  await thread.marked(message, '✅');
  await thread.shows((now) => now.kind === 'empty' && thread.screen().includes('Echo: hello by the screen'));
  await thread.posted(message, /This Gemini runs without our hooks.*`threadmux install --agent gemini`/);
  const asking = await thread.say('run touch by-card.txt');
  const card = await thread.card(asking, 'Allow once');
  await thread.tap(card, 'Allow once');
  await thread.shows((now) => now.kind === 'empty' && !now.busy && thread.screen().includes('Done. The tool said'));
});
