// Makes the pictures of the README and of docs/projects.md: a scripted workspace in a real Chromium.
// usage: npm run build && node scripts/screenshots.mjs

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { panelDraft } from '../dist/bridge/panel/panel-text.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { callAsBot, openBotPort } from '../test/support/workspace-access.mjs';
import { allSessions, tellStory } from './screenshots/story.mjs';

const CHROMIUM = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => existsSync(path));
const DESKTOP = { viewport: { width: 1180, height: 860 } };
const PHONE = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
const MINUTE = 60_000;
/** Sets the clock of the workspace, which runs in this process, back while the messages are created. */
let ago = 0;
const now = Date.now;
Date.now = () => now() - ago * MINUTE;
const at = (minutesAgo) => {
  ago = minutesAgo;
};

const folder = mkdtempSync(join(tmpdir(), 'threadmux-pictures-'));
at(27 * 60);
const workspace = await startWorkspace({ dir: join(folder, 'workspace') });
const port = await openBotPort(workspace.api);
const bot = callAsBot(port.api, workspace.token);
const story = await tellStory({ workspace, bot, at });
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  env: { ...process.env, FONTCONFIG_FILE: fonts(folder) },
});
mkdirSync('docs/images', { recursive: true });
await picture('page-light', { ...DESKTOP, colorScheme: 'light' }, `/#/${story.shop}`);
await picture('page-dark', { ...DESKTOP, colorScheme: 'dark' }, `/#/${story.shop}`);
await picture('phone-prompt', { ...PHONE, colorScheme: 'light' }, `/#/${story.shop}`);
await picture('phone-terminal', { ...PHONE, colorScheme: 'dark' }, `/#/${story.terminal}`);
await picture('phone-list', { ...PHONE, colorScheme: 'dark' }, '/');
await picture('phone-card', { ...PHONE, colorScheme: 'light' }, `/#/${story.notes}`);
await panelPictures();
await browser.close();
port.close();
await workspace.close();
rmSync(folder, { recursive: true, force: true });

async function open(look, path) {
  const context = await browser.newContext(look);
  const page = await context.newPage();
  await page.goto(workspace.newLink());
  await page.waitForFunction(() => document.body.dataset.line === 'online');
  await page.goto(workspace.url + path);
  return { context, page };
}

/** The view of all sessions, its form, and the message that Discord shows. */
async function panelPictures() {
  const view = allSessions(story);
  workspace.tellPanel(view);
  const { context, page } = await open({ ...DESKTOP, deviceScaleFactor: 2, colorScheme: 'light' }, '/');
  await page.getByRole('button', { name: 'All sessions' }).click();
  await page.getByRole('heading', { name: 'Worktrees without a session' }).waitFor();
  await page.locator('#panel').screenshot({ path: 'docs/images/panel.png' });
  await page.locator('#panel-new').click();
  await page.locator('#new-name').fill('checkout');
  await page.locator('#new-prompt').fill('The total is wrong if a coupon is used twice. Find out why.');
  await page.locator('#new').screenshot({ path: 'docs/images/new-session.png' });
  await page.keyboard.press('Escape');
  const draft = panelDraft(view, (thread) => `https://discord.com/channels/1/${thread}`);
  const { id } = await bot('POST', `/channels/${workspace.channelId}/messages`, {
    content: draft.content,
    components: draft.components,
  });
  await page.goto(`${workspace.url}/#/${workspace.channelId}`);
  const message = page.locator(`#messages [data-id="${id}"] article`);
  await message.waitFor();
  await page.waitForTimeout(500); // until links have the names of their threads
  await message.screenshot({ path: 'docs/images/panel-message.png' });
  await bot('DELETE', `/channels/${workspace.channelId}/messages/${id}`);
  await context.close();
}

async function picture(name, look, path) {
  const { context, page } = await open(look, path);
  await page.locator('#sessions .word.needs_person').first().waitFor({ state: 'attached' });
  await page.locator('#messages li').first().waitFor({ state: 'attached' });
  await bot('POST', `/channels/${story.api}/typing`);
  const news = await bot('POST', `/channels/${story.training}/messages`, {
    content: '-# mini · vision · training\nEpoch 13 is done: accuracy 0.944, loss 0.171.',
  });
  await page.locator('#sessions .word.working').first().waitFor({ state: 'attached' });
  await page.waitForTimeout(1200); // until code is highlighted and pictures are loaded
  await page.screenshot({ path: `docs/images/${name}.png` });
  await bot('DELETE', `/channels/${story.training}/messages/${news.id}`);
  await context.close();
}

/** The system's own font where it is a good one; a machine without a desktop has none. */
function fonts(dir) {
  const file = join(dir, 'fonts.conf');
  const prefer = (family) =>
    `<match target="pattern"><test name="family"><string>${family}</string></test><edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>`;
  writeFileSync(
    file,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><include ignore_missing="yes">/etc/fonts/fonts.conf</include>${prefer('system-ui')}${prefer('sans-serif')}${prefer('sans')}</fontconfig>`,
  );
  return file;
}
