// Another user of the machine takes our port while the program is down. Everything that the browser sends there is useless.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { freePort } from '../support/free-port.ts';
import { startTestWorkspace, type TestWorkspace } from '../support/workspace.ts';
import { openPage, person, see } from './browser.ts';
import { openWorkspace, startThread } from './page.ts';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Accepts everything, and records everything. */
async function squat(port: number, host = '127.0.0.1') {
  const requests: Sent[] = [];
  const frames: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', url: path = '', headers } = request;
    requests.push({ method, path, headers, body });
    const answer = { nonce: '1.made-up.nonce', token: 'made-up', key: 'made-up', id: '1' };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('message', (data) => void frames.push(String(data)));
    socket.send(JSON.stringify({ op: 10, s: null, t: null, d: { heartbeat_interval: 500 } }));
  });
  await new Promise<void>((listening, failed) => {
    sockets.on('error', failed); // also the errors of its server
    server.listen(port, host, listening);
  });
  const close = async () => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  };
  onTestFinished(close);
  return { requests, frames, close };
}

const restart = ({ dir, url }: TestWorkspace) => startTestWorkspace({ dir, port: Number(new URL(url).port) });

describe('after a restart', () => {
  it('the page is signed in again, open or reloaded, the old token is refused, and a picture is shown from its new address', async () => {
    const { workspace, thread, page, you } = await openWorkspace({ tolerate: /401|ERR_|WebSocket/ });
    let old: string | undefined;
    page.on('request', (request) => {
      old ??= request.headers().authorization;
    });
    await you.openSession('web');
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    await workspace.person.say(thread, '', {
      files: [{ name: 'a.png', data: new Uint8Array(png), type: 'image/png' }],
    });
    const picture = page.locator('.picture img');
    await see(picture);
    const before = await picture.getAttribute('src');
    await you.write('before');
    await see(page.locator('.mine', { hasText: 'before' }));
    expect(old).toMatch(/^Session /);
    expect(await page.context().cookies()).toEqual([]);
    await workspace.close();
    await see(page.getByText('Offline'));
    const again = await restart(workspace);
    await page.locator('#offline').waitFor({ state: 'hidden' });
    await vi.waitFor(async () => expect(await picture.getAttribute('src')).not.toBe(before), 30_000);
    await vi.waitFor(async () =>
      expect(await picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1),
    );
    await you.write('open all the time');
    await see(page.locator('.mine', { hasText: 'open all the time' }));
    await page.reload();
    await see(page.locator('.mine', { hasText: 'open all the time' }));
    await you.write('reloaded');
    await see(page.locator('.mine', { hasText: 'reloaded' }));
    const headers = { authorization: old ?? '', origin: again.url };
    expect((await fetch(`${again.url}/api/v10/users/@me`, { headers })).status).toBe(401);
  });
});

describe('a process that takes the port while the program is down', () => {
  it('gets nothing that is valid once the program is up again', async () => {
    const { workspace, page, you, complaints } = await openWorkspace();
    await you.openSession('web');
    await workspace.close();
    const squatter = await squat(Number(new URL(workspace.url).port));
    await vi.waitFor(() => expect(squatter.frames.join()).toContain('"op":6'), { timeout: 30_000 });
    await you.write('written while he listens');
    await vi.waitFor(() => expect(squatter.requests.some(({ body }) => body.includes('written while'))).toBe(true));
    await page.close();
    await squatter.close();
    complaints.length = 0;

    const again = await restart(workspace);
    const paths = squatter.requests.map(({ path }) => path);
    expect(paths).toContain('/sign-in/session');
    const signed = squatter.requests.find(({ path }) => path === '/sign-in/session');
    expect(JSON.parse(signed?.body ?? '{}')).toMatchObject({ signature: expect.any(String) });
    for (const { method, path, headers, body } of squatter.requests) {
      if (path === '/sign-in/nonce') continue; // anyone may request one
      const sent = Object.fromEntries(
        ['authorization', 'cookie', 'content-type', 'origin'].flatMap((name) =>
          typeof headers[name] === 'string' ? [[name, headers[name]]] : [],
        ),
      );
      const replayed = await fetch(again.url + path, { method, headers: sent, ...(method === 'GET' ? {} : { body }) });
      expect([path, replayed.status]).toEqual([path, 401]);
    }
    for (const frame of squatter.frames) expect(frame).not.toContain(workspace.person.token);
    const said = await again.person.messages(again.channelId);
    expect(said.map(({ content }) => content).join()).not.toContain('written while');
  });

  it('runs no script in a page that is still open, even if it answers like the workspace', async () => {
    const { workspace, thread, page, you, complaints } = await openWorkspace({
      tolerate: /401|ERR_|WebSocket|40\d|fail/i,
    });
    await you.openSession('web');
    await workspace.close();
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      const isScript = request.url?.endsWith('.js');
      const script = 'document.title = "taken"; export default () => ({ name: "x" });';
      const answer = { nonce: '1.made-up.nonce', token: 'made-up', key: 'made-up', id: '1' };
      response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'application/json' });
      response.end(isScript ? script : JSON.stringify(answer));
    });
    const sockets = new WebSocketServer({ server });
    const author = { id: workspace.botId, username: 'bot', bot: true, discriminator: '0', avatar: null };
    const message = (at: number, language: string) => ({
      id: `999999999999999${String(at).padStart(3, '0')}`,
      channel_id: thread,
      author,
      type: 0,
      flags: 0,
      timestamp: new Date().toISOString(),
      edited_timestamp: null,
      attachments: [],
      embeds: [],
      components: [],
      mentions: [],
      mention_roles: [],
      content: `\`\`\`${language}\nlet squatted = 1;\n\`\`\``,
    });
    sockets.on('connection', (socket) => {
      let s = 0;
      const send = (t: string, d: unknown) => socket.send(JSON.stringify({ op: 0, s: ++s, t, d }));
      socket.on('message', (data) => {
        const { op } = JSON.parse(String(data));
        if (op === 1) return socket.send(JSON.stringify({ op: 11, s: null, t: null, d: null }));
        if (op !== 2 && op !== 6) return undefined;
        send('RESUMED', {});
        for (const [at, language] of ['rust', 'python', 'sql', 'java'].entries())
          send('MESSAGE_CREATE', message(at, language));
        return undefined;
      });
      socket.send(JSON.stringify({ op: 10, s: null, t: null, d: { heartbeat_interval: 20_000 } }));
    });
    await new Promise<void>((listening) => server.listen(Number(new URL(workspace.url).port), '127.0.0.1', listening));
    onTestFinished(async () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    });
    await vi.waitFor(() => expect(asked).toContain('/sign-in/session'), { timeout: 30_000 });
    await see(page.getByText('squatted').first());
    await page.waitForTimeout(1_000);
    expect(asked.filter((path) => path.endsWith('.js'))).toEqual([]);
    expect(await page.title()).not.toBe('taken');
    complaints.length = 0;
  });

  it('loses the service worker that it installed, with the key, when the program is up again', async () => {
    const { workspace, page, complaints } = await openWorkspace({ tolerate: /./ });
    await workspace.close();
    const port = Number(new URL(workspace.url).port);
    const server = createServer((request, response) => {
      const isWorker = request.url === '/worker.js';
      response.writeHead(200, { 'Content-Type': isWorker ? 'text/javascript' : 'text/html' });
      const worker = `addEventListener('install', () => skipWaiting());
        addEventListener('activate', (event) => event.waitUntil(clients.claim()));
        addEventListener('fetch', (event) => event.respondWith(new Response('<h1>taken</h1>', { headers: { 'Content-Type': 'text/html' } })));`;
      response.end(isWorker ? worker : '<h1>wait</h1><script>navigator.serviceWorker.register("/worker.js")</script>');
    });
    await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
    await page.goto(workspace.url);
    await vi.waitFor(
      async () => {
        await page.goto(workspace.url);
        expect(await page.textContent('body')).toBe('taken');
      },
      { timeout: 20_000 },
    );
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    await restart(workspace);
    // Each visit makes the browser look for a new version of the worker, and that request reaches the program.
    await vi.waitFor(
      async () => {
        await page.goto(workspace.url);
        expect(await page.title()).toContain('threadmux');
      },
      { timeout: 40_000, interval: 4_000 },
    );
    expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0);
    await see(page.getByText('threadmux link'));
    complaints.length = 0;
  });
});

// Chromium looks for "localhost" at ::1 first, also where /etc/hosts does not say so.
it('while the program runs, a process cannot answer for it at the other address of localhost', async () => {
  const workspace = await startTestWorkspace({ port: await freePort() });
  await startThread(workspace, '[agent] web');
  const { page } = await openPage();
  await expect(squat(Number(new URL(workspace.url).port), '::1')).rejects.toThrow(/EADDRINUSE|EADDRNOTAVAIL/);
  const answer = await page.goto(workspace.link.replace('127.0.0.1', 'localhost'));
  expect(await answer?.serverAddr()).toMatchObject({ ipAddress: expect.stringMatching(/^(?:\[::1\]|127\.0\.0\.1)$/) });
  await see(person(page).session('web'));
});

it('the key that a browser keeps cannot be read, and the link does not sign in a second browser', async () => {
  const workspace = await startTestWorkspace();
  await startThread(workspace, '[agent] web');
  const { link } = workspace;
  const first = await openPage();
  await first.page.goto(link);
  await see(person(first.page).session('web'));
  expect(await readKey(first.page)).toEqual([false, 'rejected', 'rejected']);
  const second = await openPage({ tolerate: /401/ });
  await second.page.goto(link);
  await see(second.page.getByText('This browser is not signed in'));
});

/** What a script in the page gets when it asks for the private key. */
function readKey(page: Page): Promise<unknown> {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        const opening = indexedDB.open('threadmux', 1);
        opening.onsuccess = () => {
          const asked = opening.result.transaction('keys').objectStore('keys').get('mine');
          asked.onsuccess = async () => {
            const { privateKey } = asked.result;
            const read = await Promise.allSettled(
              (['pkcs8', 'jwk'] as const).map((form) => crypto.subtle.exportKey(form, privateKey)),
            );
            resolve([privateKey.extractable, ...read.map(({ status }) => status)]);
          };
        };
      }),
  );
}
