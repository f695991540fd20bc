// The page loses the program and reconnects by itself, with nothing missing and nothing repeated.

import { describe, expect, it, vi } from 'vitest';
import { shareAmongTests } from '../support/at-end.ts';
import { startTestWorkspace } from '../support/workspace.ts';
import { DESKTOP, openPage, PHONE, person, see } from './browser.ts';
import { openWorkspace, sayIn, startThread } from './page.ts';
import { startProgram } from './program.ts';

const shared = shareAmongTests(async () => {
  const program = await startProgram();
  const { page } = await openPage();
  await page.goto(program.link);
  return { program, page };
});

describe.each([
  ['on a desktop', DESKTOP, 'first'],
  ['on a phone', PHONE, 'second'],
])('%s', (_, viewport, name) => {
  it('the page says that it is offline, keeps what is typed, and catches up when the program is back', async () => {
    const { program, page } = shared();
    const you = person(page);
    await page.setViewportSize(viewport);
    await you.openSession('agents');
    await you.write(`!new ${name} -- bash`);
    await see(page.locator('#messages').getByText(`${name} is up (bash)`));
    await you.openSession(name);
    await you.write('echo one-$((1))');
    await see(you.last.getByText('one-1'));

    await program.kill();
    await see(page.getByText('Offline: the workspace cannot be reached.'));
    await you.write('echo two-$((2))');
    await see(page.locator('#send-trouble', { hasText: 'It is still here' }));
    expect(await you.box.inputValue()).toBe('echo two-$((2))');

    await program.start();
    await page.locator('#offline').waitFor({ state: 'hidden' });
    await page.locator('#send-trouble').waitFor({ state: 'hidden' });
    // A text for a shell that was written before the bridge listens again would be refused as late.
    const thread = page.url().split('/').at(-1) ?? '';
    const asked = await program.person.say(thread, '!help');
    await vi.waitFor(async () => expect((await program.person.messages(thread, `after=${asked.id}`)).length).toBe(1));
    await you.box.press('Enter');
    await see(page.locator('.mine', { hasText: 'echo two' }));
    await see(you.last.getByText('two-2'));
    const said = await program.person.messages(thread);
    await vi.waitFor(async () => expect(await you.messages.count()).toBe(said.length));
  });
});

describe('after a gap', () => {
  it('new, edited, marked and deleted messages match the workspace', async () => {
    const { workspace, thread, page, you, say } = await openWorkspace();
    await you.openSession('web');
    const edited = await say('will be edited');
    const deleted = await say('will be deleted');
    await see(you.last.getByText('will be deleted'));
    // Down so long that nothing can be resumed: the socket is cut and its session is gone.
    await page.context().setOffline(true);
    await page.evaluate(() => dispatchEvent(new Event('offline')));
    const dir = workspace.dir;
    await workspace.close();
    await see(page.getByText('Offline'));
    const again = await startTestWorkspace({ dir, port: Number(new URL(workspace.url).port) });
    const path = `/channels/${thread}/messages`;
    await again.bot('PATCH', `${path}/${edited.id}`, { content: 'was edited' });
    await again.bot('DELETE', `${path}/${deleted.id}`);
    for (let at = 0; at < 130; at++) await sayIn(again, thread)(`meanwhile ${at}`);
    await page.context().setOffline(false);
    await see(you.last.getByText('meanwhile 129'));
    await see(page.getByText('was edited'));
    expect(await page.getByText('will be deleted').count()).toBe(0);
    const shown = await page.locator('#messages article').allTextContents();
    const lines = shown.map((text) => /meanwhile (\d+)/.exec(text)?.[1]).filter(Boolean);
    expect(lines).toEqual(Array.from({ length: 130 }, (__, at) => String(at)));
    expect(await page.locator('#offline').isVisible()).toBe(false);
  });
});

it('two tabs keep each other’s drafts, and both go on after a restart', async () => {
  const { workspace, thread, page, you } = await openWorkspace({ tolerate: /401|ERR_|WebSocket/ });
  const second = await startThread(workspace, '[agent] shop');
  const tab = await page.context().newPage();
  const other = person(tab);
  await tab.goto(`${workspace.url}/#/${second}`);
  await see(tab.locator('#place-name', { hasText: 'shop' }));
  await you.openSession('web');
  await you.box.fill('a draft for web');
  await other.box.fill('a draft for shop');
  await page.goto(`${workspace.url}/#/${thread}`);
  await page.reload();
  await see(page.locator('#place-name', { hasText: 'web' }));
  await vi.waitFor(async () => expect(await you.box.inputValue()).toBe('a draft for web'));

  await workspace.close();
  for (const one of [page, tab]) await see(one.getByText('Offline'));
  const again = await startTestWorkspace({ dir: workspace.dir, port: Number(new URL(workspace.url).port) });
  for (const one of [page, tab]) await one.locator('#offline').waitFor({ state: 'hidden' });
  await you.box.press('Enter');
  await other.box.press('Enter');
  await see(you.last.getByText('a draft for web'));
  await see(other.last.getByText('a draft for shop'));
  for (const [id, text] of [
    [thread, 'a draft for web'],
    [second, 'a draft for shop'],
  ] as const)
    expect((await again.person.messages(id)).filter(({ content }) => content === text)).toHaveLength(1);
});
