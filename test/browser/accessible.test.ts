// axe-core finds no violation, in light and dark mode, on a desktop and on a phone, with and without a dialog.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { closeBrowserAtTheEnd, DESKTOP, openPage, PHONE, person, see } from './browser.ts';
import { buttons, openWorkspace, PROMPT } from './page.ts';

closeBrowserAtTheEnd();

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    };
    const found = await axe.run();
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  });
}

describe.each([
  ['light', 'a desktop', DESKTOP],
  ['dark', 'a desktop', DESKTOP],
  ['light', 'a phone', PHONE],
  ['dark', 'a phone', PHONE],
] as const)('in %s mode on %s', (colorScheme, _, viewport) => {
  it('axe-core finds no violation', async () => {
    const { page, you, say, workspace, thread } = await openWorkspace({ colorScheme, viewport });
    await say(
      '# Head\n[link](https://example.com) `code` <@1>\n> quote\n-# small\n\n| a |\n| - |\n| 1 |\n\n```ts\nconst x = "a"; // note\n```\n```diff\n- a\n+ b\n```',
    );
    await workspace.person.say(thread, 'mine', { files: [{ name: 'a.txt', data: 'a' }] });
    await say('🔔 Claude wants', { components: buttons('Allow') });
    await say('which', {
      components: [
        {
          type: 1,
          components: [
            {
              type: 3,
              custom_id: `${PROMPT}:choose`,
              max_values: 2,
              options: [
                { label: 'a', value: 'a', description: 'about' },
                { label: 'b', value: 'b' },
              ],
            },
          ],
        },
      ],
    });
    expect(await violations(page)).toEqual([]);
    const state = { state: 'idle', since: Date.now() };
    const row = { label: 'web', host: 'laptop', thread, state, branch: 'main', isWorktree: true, at: Date.now() };
    workspace.tellPanel({
      rows: [row, { label: 'shop', host: 'mini', because: 'manual', isWorktree: false }],
      worktrees: [{ project: 'shop', name: 'old', branch: 'threadmux/old', host: 'mini', thread }],
      choices: {
        projects: [{ name: 'shop', directory: '~/shop', host: 'mini' }],
        ...{ hosts: ['laptop', 'mini'], defaultHost: 'laptop', models: ['opus'], modes: ['plan'] },
      },
    });
    await page.getByRole('button', { name: 'All sessions' }).click();
    await see(page.getByRole('heading', { name: 'Worktrees without a session' }));
    expect(await violations(page)).toEqual([]);
    await page.getByRole('dialog', { name: 'Sessions' }).getByRole('button', { name: 'New session' }).click();
    await see(page.getByLabel('Host'));
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await you.openSession('web');
    await see(page.locator('.hl-comment'));
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Control+k');
    await see(page.getByRole('option', { name: 'web' }));
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await you.box.fill('/');
    expect(await violations(page)).toEqual([]);
  });
});

it('a new user can read what to do', async () => {
  const { workspace } = await openWorkspace();
  const { page } = await openPage({ tolerate: /401|WebSocket/ });
  await page.goto(workspace.url);
  await see(page.getByText('Open the link'));
  expect(await violations(page)).toEqual([]);
  expect(await person(page).box.isVisible()).toBe(true);
});
