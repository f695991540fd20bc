// A new user in the page, with the real Claude Code: what the dialogs, the list, the marks and the commands look like, on a
// desktop and on a phone. Everything is read from the page and answered there.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DESKTOP, openPage, person, see } from '../../../browser/browser.ts';
import { type ClaudeLab, startClaudeLab } from '../../../support/claude-lab.ts';
import { type LabSession, PATIENCE } from '../../../support/lab-session.ts';

const PHONE = { width: 390, height: 780 };
const LONG = 40_000;

let lab: ClaudeLab;
/** No hook answers its dialogs, so that they are cards. */
let demo: LabSession;

beforeAll(async () => {
  lab = await startClaudeLab();
  demo = await lab.start('demo', { unasked: true });
});
afterAll(() => lab?.stop());

async function open(viewport: { width: number; height: number }) {
  const { page } = await openPage({ viewport });
  await page.goto(lab.link());
  return { page, you: person(page), list: () => toList(page) };
}

async function toList(page: Page): Promise<void> {
  if (await page.locator('.back').isVisible()) await page.locator('.back').click();
}

/** Nothing of it is beyond the edge of the screen. */
async function fits(page: Page, one: Locator, width: number): Promise<void> {
  await one.scrollIntoViewIfNeeded();
  const box = await one.boundingBox();
  expect(box?.x).toBeGreaterThanOrEqual(0);
  expect((box?.x ?? 0) + (box?.width ?? width)).toBeLessThanOrEqual(width);
  const sideways = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(sideways).toBe(0);
}

describe.each([
  ['on a desktop', 'desktop', DESKTOP],
  ['on a phone', 'phone', PHONE],
])('%s', (_, size, viewport) => {
  it('the first dialogs of a session are answered by taps; a message waits for them, and its notice is gone afterwards', async () => {
    const { page, you, list } = await open(viewport);
    const folder = join(lab.dir, `stranger-${size}`);
    mkdirSync(folder);
    await you.openSession('agents');
    await you.write(`!new stranger-${size} ${folder}`);
    await see(page.locator('#messages').getByText(/waits for you/));
    await list();
    await see(you.session(`stranger-${size}`).getByText('needs you'));
    await you.openSession(`stranger-${size}`);
    await see(page.locator('#place-state', { hasText: 'needs you' }));
    const trust = you.button('Yes, I trust this folder');
    await see(trust);
    await fits(page, trust, viewport.width);

    await you.write('written before it was ready');
    await see(page.locator('.mine .delivery', { hasText: /wait/i }));
    await see(page.locator('#messages').getByText('📨 Your message waits'));
    await trust.click();
    await see(page.locator('#messages').getByText(/Yes, I trust this folder —/));
    // Newer versions ask one thing more.
    const manual = you.button('No, keep manual mode');
    await see(manual.or(page.locator('.mine .delivery.submitted')));
    if (await manual.isVisible()) await manual.click();
    await see(page.locator('.theirs').getByText('Echo: written before it was ready'));
    await see(page.locator('.mine .delivery.submitted'));
    await vi.waitFor(
      async () => expect(await page.locator('#messages').getByText('📨 Your message waits').count()).toBe(0),
      PATIENCE,
    );
    expect(await page.locator('#messages').getByText('Accessing workspace').count()).toBe(1);
    await see(page.locator('#place-state', { hasText: 'idle' }));
    await list();
    await see(you.session(`stranger-${size}`).getByText('idle'));
    lab.tmux('kill-session', '-t', `=stranger-${size}`);
  });

  it('what Claude says before a question is above it, and the question is answered in own words', async () => {
    const { page, you } = await open(viewport);
    await demo.idle();
    await you.openSession('demo');
    await you.write('ask');
    const own = you.button('✏️ Type something.');
    await see(own);
    await fits(page, own, viewport.width);
    const texts = await you.messages.allInnerTexts();
    const [said, asked] = [/I need one decision from you/, /Which database should we use/].map((words) =>
      texts.findLastIndex((text) => words.test(text)),
    );
    expect(said).toBeGreaterThanOrEqual(0);
    expect(said).toBeLessThan(asked ?? 0);
    await own.click();
    await page.getByRole('dialog').getByRole('textbox').fill(`1 plain file, from a ${size}`);
    await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
    await see(page.locator('.theirs').getByText(`="1 plain file, from a ${size}"`));
    await see(page.locator('#messages').getByText(`1 plain file, from a ${size} —`));
  });

  it('the menu lists the commands of Claude, a panel is posted, and a long list shows the rest', async () => {
    const { page, you } = await open(viewport);
    await demo.idle();
    await you.openSession('demo');
    await you.box.pressSequentially('/cos');
    const option = page.locator('#suggestions [role=option]', { hasText: 'Claude Code' });
    await see(option);
    await you.box.fill('');
    await you.write('/cost');
    await see(page.locator('#messages').getByText(/Total cost:/));
    await demo.idle();
    await you.write('/theme');
    const dark = page.getByText('Dark mode (ANSI colors only)', { exact: true }).last();
    for (let taps = 0; taps < 4 && !(await dark.isVisible()); taps++) {
      const more = you.button('More…');
      await see(more.or(dark));
      if (await dark.isVisible()) break;
      const before = demo.screen();
      await more.click();
      await vi.waitFor(() => expect(demo.screen()).not.toBe(before), PATIENCE);
    }
    await see(dark);
    await fits(page, dark, viewport.width);
    await you.button('Esc: cancel').click();
    await demo.idle();
  });

  it('!screen is text that fits', async () => {
    const { page, you } = await open(viewport);
    await demo.idle();
    await you.openSession('demo');
    await you.write('!screen');
    const shown = you.last.locator('pre');
    await see(shown);
    await fits(page, shown, viewport.width);
    const font = await shown.evaluate((one) => Number.parseFloat(getComputedStyle(one).fontSize));
    expect(font).toBeGreaterThanOrEqual(11);
  });

  it('plain text in a channel is answered', async () => {
    const { page, you } = await open(viewport);
    await you.openSession('agents');
    await you.write(`is anybody here, says a ${size}`);
    // Once an hour in words, otherwise with a mark.
    const mine = page.locator('#messages article', { hasText: `says a ${size}` }).last();
    const words = page.locator('#messages article').getByText('This was sent to nobody').last();
    await see(size === 'desktop' ? words : mine.getByText('❔'));
  });
});

it('the code of a login is written into its field, and is nowhere in the thread or the log', async () => {
  const { page, you } = await open(PHONE);
  await demo.idle();
  await you.openSession('demo');
  await you.write('/login');
  await you.button('Run /login').click({ timeout: LONG });
  await you.button(/^Claude account with subscription/).click({ timeout: LONG });
  await you.button('✏️ The code of the login page').click({ timeout: LONG });
  await page.getByRole('dialog').getByRole('textbox').fill('neverrepeated123#stateabcdef');
  await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
  // There is no network: Claude says that the code could not be checked.
  await vi.waitFor(() => expect(demo.screen()).toContain('OAuth error'), PATIENCE);
  await vi.waitFor(async () => {
    const said = (await lab.person.messages(demo.thread)).map(({ content }) => content).join('\n');
    expect(said).toContain('The code was entered.');
  }, PATIENCE);
  const said = (await lab.person.messages(demo.thread)).map(({ content }) => content).join('\n');
  for (const part of ['neverrepeated', 'bcdef']) expect(`${said}\n${lab.log()}`).not.toContain(part);
  demo.press('Escape');
  await demo.idle();
});
