// The state of sessions in the page: true panes of the real program, at both sizes.

import { describe, expect, it, vi } from 'vitest';
import { startPromptPane } from '../support/prompt-pane.ts';
import { DESKTOP, openPage, PHONE, person, see } from './browser.ts';
import { openWorkspace } from './page.ts';
import { startProgram } from './program.ts';

describe.each([
  ['on a desktop', DESKTOP],
  ['on a phone', PHONE],
])('%s', (_, viewport) => {
  it('the list and the header say what the pane shows, and count by themselves', async () => {
    const program = await startProgram();
    const { machine } = program;
    const pane = await startPromptPane(machine, 'web', { report: (env, input) => machine.write(env, input) });
    const { page } = await openPage({ viewport });
    const you = person(page);
    await page.goto(program.link);
    const row = you.session('web').locator('.word');
    const says = (words: string) =>
      vi.waitFor(async () => expect(await row.textContent()).toMatch(new RegExp(`^${words}`)), 10_000);
    await pane.show('empty-fresh');
    await says('idle$');
    await pane.show('busy-empty-box');
    await says('working\\d+ s');
    const clock = row.locator('.clock');
    const before = await clock.textContent();
    await vi.waitFor(async () => expect(await clock.textContent()).not.toBe(before), 5_000);
    await pane.show('dialog-model');
    await says('needs you · Select model');
    await vi.waitFor(async () => expect(await page.title()).toMatch(/^\(1\) /), 5_000);
    // It fits: nothing of the row is cut off at its right edge.
    const width = await you.session('web').evaluate((one) => {
      const element = one as unknown as { scrollWidth: number; clientWidth: number };
      return element.scrollWidth - element.clientWidth;
    });
    expect(width).toBeLessThanOrEqual(0);
    await you.openSession('web');
    await see(page.locator('#place-state', { hasText: 'needs you · Select model' }));
    await pane.show('empty-fresh');
    await see(page.locator('#place-state', { hasText: 'idle' }));
    expect(await page.locator('#typing').isVisible()).toBe(false);
    machine.tmux.call('kill-session', '-t', '=web');
    await see(page.locator('#place-state', { hasText: /ended|closed/ }));
  });
});

it('a page that is opened later knows the states, and bots never hear of them', async () => {
  const { workspace, thread, page, you } = await openWorkspace();
  workspace.tellState(thread, { state: 'delivering', since: Date.now() - 5_000 });
  await see(you.session('web').getByText('message waits'));
  await page.reload();
  await see(you.session('web').getByText('message waits'));
});
