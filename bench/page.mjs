// The page: time until the first message is visible, in a thread of ten thousand messages and in one of ten, and the
// total size of the page on the network.

import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { openAssets } from '../dist/workspace/assets.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { callAsBot, openBotPort } from '../test/support/workspace-access.mjs';
import { measure, median, printTable, spread, whole } from './support.mjs';

const ROUNDS = 11;
const RATIO_LIMIT = 1.5;
const WEIGHT_LIMIT = 150_000;
const SIZES = [10, 10_000];
const CHROMIUM = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => existsSync(path));

await measure(async ({ folder }) => {
  const threads = await prepare(folder);
  const workspace = await startWorkspace({ dir: folder });
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  });
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
  await context.addInitScript(() => {
    const watch = new MutationObserver(() => {
      if (document.querySelector('#messages article') === null) return;
      watch.disconnect();
      window.firstMessageAt = performance.now();
    });
    watch.observe(document, { childList: true, subtree: true });
  });
  const enter = await context.newPage();
  await enter.goto(workspace.newLink());
  await enter.waitForFunction(() => document.body.dataset.line === 'online');
  await enter.close();

  const times = SIZES.map(() => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [at, thread] of threads.entries()) {
      const page = await context.newPage();
      await page.goto(`${workspace.url}/#/${thread}`);
      await page.waitForFunction(() => window.firstMessageAt !== undefined);
      const took = await page.evaluate(() => window.firstMessageAt);
      if (round > 0) times[at].push(took); // the first round fills the browser's caches
      await page.close();
    }
  }
  await browser.close();
  await workspace.close();

  const ratio = median(times[1]) / median(times[0]);
  const weight = await pageWeight();
  printTable('The page: time to the first message', [
    ['messages in the thread', 'median ms', 'from to'],
    ...SIZES.map((size, at) => [whole(size), whole(median(times[at])), spread(times[at])]),
  ]);
  console.log(`\n  ratio ${ratio.toFixed(2)}, at most ${RATIO_LIMIT}`);
  console.log(
    `  page with every module and language, gzipped: ${whole(weight)} bytes, less than ${whole(WEIGHT_LIMIT)}`,
  );
  if (ratio > RATIO_LIMIT || weight >= WEIGHT_LIMIT) process.exitCode = 1;
});

/** Threads of each size, written directly into the journal because sending them one by one would take minutes. */
async function prepare(dir) {
  const workspace = await startWorkspace({ dir });
  const port = await openBotPort(workspace.api);
  const bot = callAsBot(port.api, workspace.token);
  const channel = `/channels/${workspace.channelId}`;
  const lines = [];
  const threads = [];
  for (const size of SIZES) {
    const welcome = await bot('POST', `${channel}/messages`, { content: 'welcome' });
    const thread = await bot('POST', `${channel}/messages/${welcome.id}/threads`, { name: `[agent] of-${size}` });
    threads.push(thread.id);
    const first = await bot('POST', `/channels/${thread.id}/messages`, { content: text(0) });
    for (let at = 1; at < size; at++) {
      const message = {
        id: String(BigInt(first.id) + BigInt(at)),
        channel_id: thread.id,
        author: workspace.botId,
        type: 0,
        content: text(at),
        edited_timestamp: null,
        attachments: [],
        embeds: [],
        components: [],
        mentions: [],
        mention_roles: [],
        mention_everyone: false,
        flags: 0,
        reactions: [],
      };
      lines.push(`${JSON.stringify({ t: 'message', message })}\n`);
    }
  }
  await workspace.close();
  appendFileSync(join(dir, 'journal.jsonl'), lines.join(''));
  return threads;
}

function text(at) {
  return `-# laptop · shop · web\nReply **${at}**: the cart keeps its items now.\n\n- one\n- two\n\n\`\`\`ts\nconst total = ${at};\n\`\`\``;
}

async function pageWeight() {
  const assets = openAssets();
  const loaded = await Promise.all(assets.paths.map((path) => assets.load(path)));
  return loaded.reduce((sum, { plain }) => sum + gzipSync(plain, { level: 9 }).length, 0);
}
