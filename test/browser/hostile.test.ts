// Attacks by Claude, a terminal, a file name or another site. Nothing runs, and nothing gets access.

import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { shareAmongTests } from '../support/at-end.ts';
import { tempFolder } from '../support/temp-home.ts';
import { openPage, person, see } from './browser.ts';
import { buttons, sayIn, shareWorkspace, startThread } from './page.ts';
import { REBOUND } from './start-browser.ts';

const start = shareWorkspace();

const SCRIPT = '<img src=x onerror="window.__pwned=1"><script>window.__pwned=1</script>';

const pwned = (page: Page) => page.evaluate(() => (window as unknown as { __pwned?: unknown }).__pwned);

describe('hostile content never runs', () => {
  it.each([
    SCRIPT,
    `**${SCRIPT}**`,
    `\`\`\`html\n${SCRIPT}\n\`\`\``,
    `\`\`\`"><script>window.__pwned=1</script>\nx\n\`\`\``,
    `| a |\n| --- |\n| ${SCRIPT} |`,
    `-# ${SCRIPT}`,
    `> <svg onload=window.__pwned=1><math><mi xlink:href="javascript:window.__pwned=1">`,
    '\u001b]8;;javascript:window.__pwned=1\u0007click\u001b]8;;\u0007',
  ])('in Markdown: %s', async (text) => {
    const { page, you, name, say, workspace } = await start();
    await you.openSession(name);
    await say(`${text}\n\nthe end of ${name}`);
    await workspace.person.say(workspace.channelId, text);
    await see(page.locator('#messages').getByText(`the end of ${name}`));
    expect(await pwned(page)).toBeUndefined();
    const made = page.locator('#messages .body').locator('img, script, svg, math, iframe, object');
    expect(await made.count()).toBe(0);
  });

  it('as a character that nobody sees, written as an entity', async () => {
    const { page, you, name, say } = await start();
    await you.openSession(name);
    await say('one&rlm;&#8238;&ZeroWidthSpace;two');
    await see(page.locator('#messages').getByText('one&rlm;&#8238;&ZeroWidthSpace;two'));
  });

  it.each([
    '[click](javascript:window.__pwned=1)',
    '[click](JaVaScRiPt:window.__pwned=1)',
    '[click](java&#x0A;script:window.__pwned=1)',
    '[click](\u0001javascript:window.__pwned=1)',
    '[click](data:text/html,<script>window.__pwned=1</script>)',
    '[click](vbscript:window.__pwned=1)',
    '[click](file:///etc/passwd)',
    '<javascript:window.__pwned=1>',
    '[click][a]\n\n[a]: javascript:window.__pwned=1',
    '![click](javascript:window.__pwned=1)',
    '![click](https://example.invalid/track.png)',
  ])('as a link or picture: %s', async (text) => {
    const { page, you, name, say } = await start();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await you.openSession(name);
    await say(`${text}\n\nthe end of ${name}`);
    await see(page.locator('#messages').getByText(`the end of ${name}`));
    const links = await page
      .locator('#messages .body a')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
    expect(links.filter((href) => !/^(?:https?:\/\/|#\/)/.test(href))).toEqual([]);
    expect(asked.filter((url) => url.includes('invalid'))).toEqual([]);
    expect(await pwned(page)).toBeUndefined();
  });

  it('in the name of a session', async () => {
    const { page, you, workspace, name: own } = await start();
    const name = `[agent] <img src=x onerror=window.__pwned=1>${own}`;
    await sayIn(workspace, await startThread(workspace, name))('hello');
    await you.session(`=1>${own}`).click();
    await see(page.locator('#place-name', { hasText: '<img src=x' }));
    await sayIn(workspace, workspace.channelId)(`see <#${await startThread(workspace, `[agent] <img src=x>${own}`)}>`);
    await you.session('agents').click();
    await see(page.locator('#messages a.mention'));
    expect(await pwned(page)).toBeUndefined();
  });

  it('in the name of a file', async () => {
    const { page, you, name, workspace, thread } = await start();
    await you.openSession(name);
    await workspace.person.say(thread, 'files', {
      files: [
        { name: '"><img src=x onerror=window.__pwned=1>.png', data: 'no picture' },
        { name: 'x.html', data: '<script>window.__pwned=1</script>', type: 'text/html' },
        { name: 'x.svg', data: '<svg onload="window.__pwned=1"/>', type: 'image/svg+xml' },
      ],
    });
    await see(page.locator('.files button').getByText('x.html'));
    expect(await page.locator('.files img').count()).toBe(1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('.files button', { hasText: 'x.html' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('x.html');
    expect(await pwned(page)).toBeUndefined();
  });

  it('in buttons, menus and their answers', async () => {
    const { page, you, name, say } = await start();
    await you.openSession(name);
    await say('choose', { components: buttons('<img src=x onerror=window.__pwned=1>') });
    await say('link', {
      components: [{ type: 1, components: [{ type: 2, style: 5, label: 'go', url: 'javascript:window.__pwned=1' }] }],
    });
    await see(page.getByRole('button', { name: '<img src=x' }));
    expect(await page.locator('.components a').count()).toBe(0);
    await page.locator('.components', { hasText: 'go' }).getByText('go').click();
    expect(await pwned(page)).toBeUndefined();
  });

  it('with injected markup, because the policy forbids it', async () => {
    const { page, complaints } = await start();
    const outcome = await page.evaluate(() => {
      try {
        document.body.insertAdjacentHTML('beforeend', '<b>made</b>');
        return 'made';
      } catch (error) {
        return (error as Error).name;
      }
    });
    expect(outcome).toBe('TypeError');
    await page
      .evaluate(() => {
        const script = document.createElement('b');
        script.setAttribute('onclick', 'window.__pwned=1');
        document.body.append(script);
        script.click();
        script.remove();
      })
      .catch(() => {});
    expect(await pwned(page)).toBeUndefined();
    await vi.waitFor(() => expect(complaints.length).toBeGreaterThan(0));
    complaints.length = 0;
  });
});

describe('a folder that is dropped', () => {
  it('is refused, and the files beside it are sent', async () => {
    const { page, you, name, workspace, thread } = await start();
    await you.openSession(name);
    const dir = tempFolder();
    mkdirSync(join(dir, 'folder'));
    writeFileSync(join(dir, 'plain.txt'), 'plain');
    const cdp = await page.context().newCDPSession(page);
    const files = ['folder', 'plain.txt'].map((name) => join(dir, name));
    const box = await page.locator('#talk').boundingBox();
    const at = { x: (box?.x ?? 0) + 200, y: (box?.y ?? 0) + 200 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await cdp.send('Input.dispatchDragEvent', { type, ...at, data: { items: [], files, dragOperationsMask: 1 } });
    await see(page.getByText('folder is a folder.'));
    await you.write('with a file');
    await see(you.last.getByText('with a file'));
    const [last] = await workspace.person.messages(thread);
    expect(last?.attachments.map(({ filename }) => filename)).toEqual(['plain.txt']);
  });
});

describe('a file to send', () => {
  it('shows characters of its name that nobody sees, or that turn it around', async () => {
    const { page, you, name } = await start();
    await you.openSession(name);
    const file = { mimeType: 'text/plain', buffer: Buffer.from('x') };
    const evil = 'photo\u202egpj.\u200bexe';
    await page.setInputFiles('input[type=file]', [
      { ...file, name: evil },
      { ...file, name: '👩‍💻.txt' },
    ]);
    const shown = 'photo⟨U+202E⟩gpj.⟨U+200B⟩exe';
    await see(page.locator('#pending').getByText(shown, { exact: true }));
    await see(page.locator('#pending').getByText('👩‍💻.txt', { exact: true }));
    await page.setInputFiles('input[type=file]', { ...file, name: evil, buffer: Buffer.alloc(10 * 2 ** 20 + 1) });
    await see(page.getByText(`${shown} is larger than 10 MB.`));
    await page.getByRole('button', { name: `Remove ${shown}` }).click();
    await page.getByRole('button', { name: 'Remove 👩‍💻.txt' }).click();
    expect(await page.locator('#pending').isVisible()).toBe(false);
  });
});

/** Another site, in the same browser, that knows the address of the workspace. */
async function otherSite(html: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end(html);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}/`;
}

describe('another site gets nothing', () => {
  const other = shareAmongTests(async () => (await start()).page.context().newPage());

  it('by opening the socket, requesting or posting, with the cookie in the same browser', async () => {
    const { workspace } = await start();
    const evil = other();
    const target = workspace.url.replace('127.0.0.1', 'localhost');
    await evil.goto(workspace.link.replace('127.0.0.1', 'localhost')); // now same-site, other origin
    await see(evil.locator('#sessions li'));
    await evil.goto(await otherSite('<title>other</title>'));
    const outcome = await evil.evaluate(async (at) => {
      const socket = await new Promise((resolve) => {
        const tried = new WebSocket(`${at.replace('http', 'ws')}/gateway?v=10&encoding=json`);
        tried.onmessage = () => resolve('heard something');
        tried.onerror = () => resolve('refused');
      });
      const read = await fetch(`${at}/api/v10/users/@me`, { credentials: 'include' }).then(
        () => 'read',
        () => 'refused',
      );
      const post = await fetch(`${at}/api/v10/interactions`, {
        method: 'POST',
        mode: 'no-cors',
        credentials: 'include',
        body: '{}',
      }).then(
        ({ type }) => type,
        () => 'refused',
      );
      return { socket, read, post };
    }, target);
    expect(outcome).toMatchObject({ socket: 'refused', read: 'refused' });

    const form = await otherSite(
      `<form method="post" enctype="text/plain" action="${target}/api/v10/channels/${workspace.channelId}/messages"><input name='{"content":"forged","x":"' value='"}'></form><script>document.forms[0].submit()</script>`,
    );
    await evil.goto(form);
    await evil.waitForURL(/api\/v10/);
    expect(await evil.locator('body').textContent()).toContain('origin');
    const said = await workspace.person.messages(workspace.channelId);
    expect(said.map(({ content }) => content).join()).not.toContain('forged');
  });

  it('by its own name that resolves to this machine', async () => {
    const { workspace } = await start();
    const { port } = new URL(workspace.url);
    for (const path of ['/', '/page.js', '/api/v10/users/@me', new URL(workspace.link).pathname]) {
      const status = await new Promise((resolve, reject) => {
        httpRequest({ host: '127.0.0.1', port, path, headers: { host: `rebound.example:${port}` } })
          .on('response', ({ statusCode }) => resolve(statusCode))
          .on('error', reject)
          .end();
      });
      expect(status).toBe(403);
    }
  });

  it('by showing the page in a frame', async () => {
    const { workspace, complaints } = await start();
    const evil = other();
    await evil.goto(await otherSite(`<iframe src="${workspace.url}/"></iframe>`));
    await vi.waitFor(() => expect(evil.frames().length).toBe(2));
    expect(await evil.frames()[1]?.locator('#composer').count()).toBe(0);
    complaints.length = 0;
  });

  it('by opening the page in a window, whose messages and address it would like to use', async () => {
    const { workspace, page, complaints } = await start();
    const evil = other();
    await evil.goto(await otherSite('<title>other</title>'));
    const [opened, isLost] = await Promise.all([
      page.context().waitForEvent('page'),
      evil.evaluate(async (at) => {
        const other = window.open(at) as Window;
        const isCut = () => other.closed;
        for (let tries = 0; tries < 200 && !isCut(); tries++) await new Promise((next) => setTimeout(next, 50));
        other.postMessage({ t: 'MESSAGE_CREATE', op: 0 }, '*');
        return isCut();
      }, `${workspace.url}/`),
    ]);
    expect(isLost).toBe(true);
    await see(opened.locator('#sessions li'));
    expect(await opened.evaluate(() => window.opener)).toBeNull();
    expect(complaints).toEqual([]);
    await opened.close();
  });

  it('and the page works again after a visit there and back', async () => {
    const { page, you, name } = await start();
    await you.openSession(name);
    await page.goto(await otherSite('<title>other</title>'));
    await page.goBack();
    await see(page.locator('#place-name', { hasText: name }));
    await you.write('back again');
    await see(you.last.getByText('back again'));
  });
});

describe('a browser that has opened no link', () => {
  const stranger = shareAmongTests(() => openPage({ tolerate: /401|WebSocket/ }));

  it('gets no page, no cookie, no answer and no socket from a foreign name that resolves to this machine, even with the secret link', async () => {
    const { workspace } = await start();
    const { page, complaints } = stranger();
    const there = new URL(workspace.url);
    there.hostname = REBOUND;
    for (const path of ['/', new URL(workspace.link).pathname, '/api/v10/users/@me'])
      expect((await page.goto(new URL(path, there).href))?.status()).toBe(403);
    expect(await page.context().cookies()).toEqual([]);
    const socket = `ws://${there.host}/gateway/?v=10&encoding=json`;
    const said = await page.evaluate(
      (url) =>
        new Promise((resolve) => {
          const line = new WebSocket(url);
          line.onopen = () => resolve('open');
          line.onerror = () => resolve('refused');
        }),
      socket,
    );
    expect(said).toBe('refused');
    complaints.length = 0; // the browser's own errors about these refusals
  });

  it('sees no message and is told what to do', async () => {
    const { workspace } = await start();
    const { page } = stranger();
    await page.goto(workspace.url);
    await see(page.getByText('Open the link that `threadmux link` prints'));
    expect(await person(page).messages.count()).toBe(0);
  });
});
