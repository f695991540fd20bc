// What the user presses stays where it is until they let go, although the page learns something new in between.

import { expect, it } from 'vitest';
import { startRestClient } from './bot.ts';
import { see } from './browser.ts';
import { buttons, openWorkspace, sayIn, startThread } from './page.ts';

it('a press opens the session it began on, although the list changes before it ends', async () => {
  const { workspace, page, you } = await openWorkspace();
  const other = await startThread(workspace, '[agent] other');
  await you.openSession('other');
  await you.session('web').locator('.name').hover();
  await page.mouse.down();
  workspace.tellState(other, { state: 'working', since: Date.now() });
  await startThread(workspace, '[agent] newest');
  await sayIn(workspace, other)('heard while pressed');
  await page.locator('#announce', { hasText: 'heard while pressed' }).waitFor({ state: 'attached' });

  await page.mouse.up();

  await see(page.locator('#place-name', { hasText: 'web' }));
  await see(you.session('newest'));
  await see(you.session('other').locator('.word', { hasText: 'working' }));
});

it('a press on a button counts once, although its message is edited before it ends', async () => {
  const { workspace, thread, page, you, say } = await openWorkspace();
  const bot = await startRestClient(workspace);
  await you.openSession('web');
  const message = await say('allow it?', { components: buttons('Allow', 'Deny') });
  await you.button('Deny').hover();
  await page.mouse.down();
  const body = { content: 'allow it, after all?', components: buttons('Allow', 'Deny') };
  await workspace.bot('PATCH', `/channels/${thread}/messages/${message.id}`, body);
  await say('heard while pressed');
  await page.locator('#announce', { hasText: 'heard while pressed' }).waitFor({ state: 'attached' });

  await page.mouse.up();

  expect(await bot.next('tap')).toMatchObject({ name: expect.stringMatching(/:pick:1$/) });
  await see(page.locator('#messages').getByText('allow it, after all?'));
  expect(bot.heard('tap')).toHaveLength(1);
});
