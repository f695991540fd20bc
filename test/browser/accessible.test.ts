// axe-core finds no violation, in light and dark mode, on a desktop and on a phone, with and without a dialog.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startTestWorkspace } from '../support/workspace.ts';
import { DESKTOP, openPage, PHONE, person, see } from './browser.ts';
import { buttons, openWorkspace, PROMPT } from './page.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** `only`: nothing but these rules. */
async function violations(page: Page, only?: readonly string[]): Promise<readonly string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  return page.evaluate(async (values) => {
    const { axe } = window as unknown as {
      axe: {
        run(
          options: object,
        ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
      };
    };
    const found = await axe.run(values === undefined ? {} : { runOnly: { type: 'rule', values } });
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  }, only);
}

/** In dark mode only the colours differ: the rules of `cat.color` that run by default. */
async function violationsInBothModes(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await violations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...light, ...(await violations(page, ['color-contrast', 'link-in-text-block']))];
}

describe.each([
  ['a desktop', DESKTOP],
  ['a phone', PHONE],
] as const)('in light and in dark mode on %s', (_, viewport) => {
  it('axe-core finds no violation', async () => {
    const { page, you, say, workspace, thread } = await openWorkspace({ viewport });
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
    expect(await violationsInBothModes(page)).toEqual([]);
    const state = { state: 'idle', since: Date.now() };
    const row = { label: 'web', host: 'laptop', thread, state, branch: 'main', isWorktree: true, at: Date.now() };
    workspace.tellPanel({
      rows: [row, { label: 'shop', host: 'mini', because: 'manual', isWorktree: false }],
      worktrees: [{ project: 'shop', name: 'old', branch: 'threadmux/old', host: 'mini', thread }],
      choices: {
        projects: [{ name: 'shop', directory: '~/shop', host: 'mini' }],
        hosts: ['laptop', 'mini'],
        defaultHost: 'laptop',
        models: ['opus'],
        modes: ['plan'],
      },
    });
    await page.getByRole('button', { name: 'All sessions' }).click();
    await see(page.getByRole('heading', { name: 'Worktrees without a session' }));
    expect(await violationsInBothModes(page)).toEqual([]);
    await page.getByRole('dialog', { name: 'Sessions' }).getByRole('button', { name: 'New session' }).click();
    await see(page.getByLabel('Host'));
    expect(await violationsInBothModes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await you.openSession('web');
    await see(page.locator('.hl-comment'));
    expect(await violationsInBothModes(page)).toEqual([]);
    await page.keyboard.press('Control+k');
    await see(page.getByRole('option', { name: 'web' }));
    expect(await violationsInBothModes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await you.box.fill('/');
    expect(await violationsInBothModes(page)).toEqual([]);
  });
});

it('a new user can read what to do', async () => {
  const workspace = await startTestWorkspace();
  const { page } = await openPage({ tolerate: /401|WebSocket/ });
  await page.goto(workspace.url);
  await see(page.getByText('Open the link'));
  expect(await violations(page)).toEqual([]);
  expect(await person(page).box.isVisible()).toBe(true);
});
