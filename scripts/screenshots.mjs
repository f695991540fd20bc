// Makes the pictures of the README and of docs/projects.md: a scripted workspace in a real Chromium.
// usage: npm run build && node scripts/screenshots.mjs

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { cardDraft } from '../dist/bridge/dialogs/card-text.js';
import { panelDraft } from '../dist/bridge/panel/panel-text.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { openBotPort, signIn } from '../test/support/workspace-access.mjs';

const CHROMIUM = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => existsSync(path));
const DESKTOP = { viewport: { width: 1180, height: 860 } };
const PHONE = {
  viewport: { width: 390, height: 780 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
};
const MINUTE = 60_000;
const TESTED = [
  ' ✓ prices (9 tests) 14ms',
  ' ✓ checkout (26 tests) 212ms',
  ' ✗ cart (12 tests) 40ms',
  '   → keeps its items on reload',
  '',
  ' 46 passed, 1 failed',
];

const TRUST = {
  ...{ which: 'trust', full: false, form: 'choice', hasMore: false, field: undefined, help: '' },
  title: 'Accessing workspace:',
  text: [
    '~/notes',
    '',
    'Quick safety check: is this a project that you created, or one that you trust?',
    '',
    'Claude Code can read, edit and run files here.',
  ],
  options: ['Yes, I trust this folder', 'No, exit'].map((label, at) => ({
    ...{ number: at + 1, label, about: '', selected: at === 0 },
  })),
};

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
const story = await tell(workspace);
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

function allSessions({ shop, api, training }) {
  const ago = (minutes) => Date.now() - minutes * MINUTE;
  const row = (label, host, thread, more) => ({
    ...{ label, host, thread, because: undefined, branch: undefined, isWorktree: false },
    ...{ model: undefined, context: undefined, at: undefined, state: undefined, ...more },
  });
  return {
    rows: [
      row('shop', 'laptop', shop, {
        state: { state: 'needs_person', since: ago(1), for: 'permission' },
        ...{ branch: 'main', model: 'Opus', context: 23, at: ago(1) },
      }),
      row('api', 'laptop', api, {
        state: { state: 'working', since: ago(0.7) },
        ...{ branch: 'threadmux/api', isWorktree: true, model: 'Sonnet', context: 58, at: ago(0.7) },
      }),
      row('training@mini', 'mini', training, {
        state: { state: 'idle', since: ago(14) },
        ...{ branch: 'sweep', model: 'Opus', context: 71, at: ago(14) },
      }),
      row('review', 'laptop', undefined, { because: 'manual' }),
      row('nightly@mini', 'mini', undefined, { because: 'stopped' }),
    ],
    worktrees: [{ project: 'shop', name: 'coupons', branch: 'threadmux/coupons', host: 'laptop', thread: api }],
    choices: {
      projects: [{ name: 'shop', directory: '~/shop', host: 'laptop' }],
      ...{ hosts: ['laptop', 'mini'], defaultHost: 'laptop', models: ['opus'], modes: ['plan'] },
    },
  };
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

async function bot(method, path, body) {
  const response = await fetch(port.api + path, {
    method,
    headers: {
      authorization: `Bot ${workspace.token}`,
      'user-agent': 'DiscordBot (https://example.com, 1.0)',
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

function block(lines) {
  return `\`\`\`text\n${lines.join('\n')}\n\`\`\``;
}

/** The messages of this workspace, and their times. */
async function tell({ channelId, newLink, url }) {
  const say = (channel, content, more = {}) => bot('POST', `/channels/${channel}/messages`, { content, ...more });
  const write = async (channel, content, mark) => {
    const { headers } = await signIn(newLink()); // a token does not live as long as this story
    const response = await fetch(`${url}/api/v10/channels/${channel}/messages`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ content }),
    });
    const { id } = await response.json();
    const path = `/channels/${channel}/messages/${id}/reactions`;
    if (mark) await bot('PUT', `${path}/${encodeURIComponent(mark)}/@me`);
  };
  const session = async (name, host, cwd, kind = 'agent') => {
    const title = `[${kind}] ${name}${host === 'laptop' ? '' : `@${host}`}`;
    const welcome = await say(
      channelId,
      `**\`${name}\`** on \`${host}\`, in \`${cwd}\`\nWhat you write in its thread is typed into the session: 👀 typed, ✅ submitted, 📨 waiting, ⚠️ failed.`,
    );
    const path = `/channels/${channelId}/messages/${welcome.id}/threads`;
    return (await bot('POST', path, { name: title })).id;
  };

  at(26 * 60);
  const docs = await session('docs', 'laptop', '~/handbook');
  await say(docs, '-# laptop · handbook · docs\nAll 14 links in the handbook work again.');
  at(190);
  const train = await session('training', 'mini', '~/vision');
  await say(train, '-# mini · vision · training\nEpoch 12 is done: accuracy 0.941, loss 0.183.');
  at(41);
  const apiThread = await session('api', 'laptop', '~/shop/api');
  await write(apiThread, 'Move the rate limiter into its own module', '✅');
  at(14);
  const terminal = await session('shop-npm', 'laptop', '~/shop', 'terminal');
  await say(terminal, block(['> shop@2.3.0 test', '> vitest run', '', ...TESTED, '']));
  await write(terminal, 'r', '✅');
  await say(terminal, block(['r', ' RERUN  cart', '', ' ✓ cart (12 tests) 31ms', '', ' 47 passed']));
  at(12);
  const shop = await session('shop', 'laptop', '~/shop');
  at(9);
  await write(shop, 'The cart forgets its items on reload. Find out why and fix it.', '✅');
  at(6);
  await say(
    shop,
    [
      '-# laptop · shop · shop',
      'Found it: the cart is written **before** the last item is added, so a reload loses that one. The fix saves after the change, and a test covers it.',
      '',
      '```ts',
      'export function addItem(cart: Cart, item: Item): Cart {',
      '  const next = { ...cart, items: [...cart.items, item] };',
      '  save(next); // after the change, not before',
      '  return next;',
      '}',
      '```',
      '| file | change |',
      '| --- | ---: |',
      '| `cart.ts` | +4 −3 |',
      '| `cart.test.ts` | +18 |',
      '-# opus · context 23 % · $0.31',
    ].join('\n'),
  );
  at(2);
  await write(shop, 'Good. Run the tests and commit.', '✅');
  at(1);
  const id = 'p:aaaaaaaaaaaaaaaaaaaaaa';
  const button = (label, style, action) => ({
    type: 2,
    style,
    label,
    custom_id: `${id}:${action}`,
  });
  await say(
    shop,
    [
      '🔔 Claude wants to use **Bash**: Run the tests, then commit',
      '```bash',
      'npm test -- cart && git commit -am "cart: save after adding"',
      '```',
      'in `~/shop`',
      '-# `allow` or `yes` allows it once; anything else you write denies it, with your words as the reason.',
    ].join('\n'),
    {
      components: [
        {
          type: 1,
          components: [
            button('Allow', 3, 'allow'),
            button('Always allow', 2, 'always'),
            button('Deny', 4, 'deny'),
            button('Deny with a reason…', 2, '~reason'),
          ],
        },
      ],
    },
  );
  at(0.5);
  const notes = await session('notes', 'laptop', '~/notes');
  const card = cardDraft(TRUST, 'aaaaaaaaaaaaaaaa', 'Claude');
  await say(notes, card.content, { components: card.components });
  await write(notes, 'Sum up what I wrote last week', '📨');
  at(0);
  const since = Math.floor(Date.now() / 1000) - 41;
  await say(apiThread, `-# working · Edit: limiter.ts · started <t:${since}:R>`, { flags: 4096 });
  const tell = (thread, state, seconds, more = {}) =>
    workspace.tellState(thread, { state, since: Date.now() - seconds * 1_000, ...more });
  tell(shop, 'needs_person', 48, { for: 'permission' });
  tell(notes, 'needs_person', 30, { for: 'dialog: Accessing workspace' });
  tell(apiThread, 'working', 41);
  tell(train, 'idle', 60);
  tell(terminal, 'shell', 600);
  return { shop, notes, terminal, api: apiThread, training: train };
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
