// What differs between browsers, in Firefox: the sign-in with a kept key, and what a browser forgets when it is told to.

import { createServer } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { startTestWorkspace } from '../support/workspace.ts';
import { openFirefox } from './firefox.ts';
import { startThread } from './page.ts';

const PATIENCE = { timeout: 40_000, interval: 1_000 };
const LINE = 'document.body.dataset.line';
const KEPT_FOR_A_YEAR = { 'Cache-Control': 'max-age=31536000, immutable' };
const WORKER = `addEventListener('install', () => skipWaiting());
  addEventListener('activate', (event) => event.waitUntil(clients.claim()));
  addEventListener('fetch', (event) => event.respondWith(new Response('taken')));`;

describe('Firefox', () => {
  it('signs in with a link, and again with the key that it keeps; what is written arrives', async () => {
    const workspace = await startTestWorkspace();
    await startThread(workspace, '[agent] web');
    const page = await openFirefox();
    await page.goto(workspace.link);
    await vi.waitFor(async () => expect(await page.value(LINE)).toBe('online'), PATIENCE);
    await page.goto(workspace.url);
    await vi.waitFor(async () => expect(await page.value(LINE)).toBe('online'), PATIENCE);
    await vi.waitFor(
      async () => expect(await page.value('document.querySelectorAll("#sessions li").length')).toBeGreaterThan(0),
      PATIENCE,
    );
    await page.value(`(() => {
      const box = document.getElementById('text');
      box.value = 'from Firefox';
      box.dispatchEvent(new Event('input'));
      document.getElementById('send').click();
    })()`);
    const said = async () => (await workspace.person.messages(workspace.channelId)).map(({ content }) => content);
    await vi.waitFor(async () => expect(await said()).toContain('from Firefox'), PATIENCE);
  });

  it('loses the service worker of a program that had the port, with its files and the key', async () => {
    const workspace = await startTestWorkspace();
    const page = await openFirefox();
    await page.goto(workspace.link);
    await vi.waitFor(async () => expect(await page.value(LINE)).toBe('online'), PATIENCE);
    await workspace.close();
    const server = createServer(({ url = '' }, response) => {
      const isScript = url.endsWith('.js');
      const keep = url === '/page.js' && KEPT_FOR_A_YEAR;
      response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html', ...keep });
      if (url === '/worker.js') response.end(WORKER);
      else response.end(isScript ? 'document.title = "taken";' : '<script src="/page.js"></script>');
    });
    const port = Number(new URL(workspace.url).port);
    await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
    await page.goto(workspace.url);
    await page.value(
      'navigator.serviceWorker.register("/worker.js").then(() => navigator.serviceWorker.ready).then(() => 1)',
    );
    await vi.waitFor(async () => {
      await page.goto(workspace.url);
      expect(await page.value('document.body.textContent')).toBe('taken');
    }, PATIENCE);
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));

    await startTestWorkspace({ dir: workspace.dir, port });
    await vi.waitFor(
      async () => {
        await page.goto(workspace.url);
        expect(await page.value('document.title')).toBe('threadmux');
        await vi.waitFor(async () => expect(await page.value(LINE)).toBe('stranger'), { timeout: 3_000 });
      },
      { ...PATIENCE, interval: 4_000 },
    );
    expect(await page.value('navigator.serviceWorker.getRegistrations().then((all) => all.length)')).toBe(0);
  });
});
