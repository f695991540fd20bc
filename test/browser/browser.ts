// Pages in a real Chromium. A page that throws, or that violates its own policy, fails its test.

/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import { atEnd } from '../support/at-end.ts';

export const DESKTOP = { width: 1200, height: 800 };
export const PHONE = { width: 360, height: 740 };

let connected: Promise<Browser> | undefined;

function browser(): Promise<Browser> {
  const at = inject('browser');
  if (at === undefined) throw new Error('these tests need Chromium: install it');
  connected ??= chromium.connect(at);
  return connected;
}

interface Sheet {
  readonly page: Page;
  /** Errors of the page; a test that expects one removes it. */
  readonly complaints: string[];
}

export async function openPage(options: BrowserContextOptions & { readonly tolerate?: RegExp } = {}): Promise<Sheet> {
  const { tolerate = /ERR_(?:CONNECTION|INTERNET|SOCKET|EMPTY_RESPONSE|NETWORK)|WebSocket connection/, ...rest } =
    options;
  const context = await (await browser()).newContext({ viewport: DESKTOP, ...rest });
  context.setDefaultTimeout(60_000); // for what hangs, not for what is slow on a busy machine
  const complaints: string[] = [];
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(`threw: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !tolerate.test(message.text())) complaints.push(message.text());
  });
  atEnd(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  return { page, complaints };
}

/** A user of the page: what they see and do, by its accessible name. */
export function person(page: Page) {
  const box = page.getByRole('textbox', { name: 'Message' });
  return {
    page,
    box,
    messages: page.locator('#messages article'),
    last: page.locator('#messages article').last(),
    session: (name: string): Locator =>
      page.locator('#sessions a').filter({ has: page.locator('.name', { hasText: name }) }),
    async openSession(name: string) {
      if (await page.locator('.back').isVisible()) await page.locator('.back').click();
      await page
        .locator('#list a')
        .filter({ has: page.locator('.name', { hasText: name }) })
        .click();
      await page.locator('#place-name', { hasText: name }).waitFor();
    },
    async write(text: string) {
      await box.fill(text);
      await box.press('Enter');
    },
    button: (label: string | RegExp): Locator => page.getByRole('button', { name: label, exact: true }).last(),
  };
}

export async function see(locator: Locator): Promise<void> {
  await locator.first().waitFor({ state: 'visible' });
}
