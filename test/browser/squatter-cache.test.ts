// Another user's program has our port while ours is down, and answers an open page like the workspace. Nothing of it stays in the browser: the next page
// that is opened there is ours.

import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { startTestWorkspace, type TestWorkspace } from '../support/workspace.ts';
import { openPage, person, see } from './browser.ts';
import { buttons, openWorkspace, sayIn, startThread } from './page.ts';

type GatewayEvent = readonly [type: string, data: object];

const KEEP = { 'Cache-Control': 'public, max-age=31536000, immutable' };
const TAKEN = 'document.documentElement.dataset.taken = "yes";';
/** As a picture it is loaded completely; as a page it would be a document of our origin. */
const PAGE = '<svg xmlns="http://www.w3.org/2000/svg" data-taken="yes" width="9" height="9"/>';

/** Everything that it answers may be kept for a year. `moved`: where it redirects a path to. */
async function squat({ url }: TestWorkspace, events: readonly GatewayEvent[], moved: Record<string, string> = {}) {
  const asked: string[] = [];
  const server = createServer(({ url: path = '' }, response) => {
    asked.push(path);
    const to = moved[path];
    const send = (type: string, body: string) => response.writeHead(200, { 'Content-Type': type, ...KEEP }).end(body);
    if (to !== undefined) return void response.writeHead(302, { Location: to }).end();
    if (path.endsWith('.js')) return void send('text/javascript', TAKEN);
    if (path === '/') return void send('image/svg+xml', PAGE);
    const list = path.includes('/messages');
    send('application/json', list ? '[]' : '{"nonce":"1.made-up.nonce","token":"made-up","threads":[]}');
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    const say = (frame: object) => socket.send(JSON.stringify({ s: null, t: null, d: null, ...frame }));
    socket.on('message', (data) => {
      const { op } = JSON.parse(String(data));
      if (op === 1) return say({ op: 11 });
      for (const [t, d] of [['RESUMED', {}] as const, ...events]) say({ op: 0, s: 1, t, d });
    });
    say({ op: 10, d: { heartbeat_interval: 20_000 } });
  });
  await new Promise<void>((listening) => server.listen(Number(new URL(url).port), '127.0.0.1', listening));
  const close = async () => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  };
  onTestFinished(close);
  return { asked, close };
}

/** A message of the bot with a picture at this address. */
function picture(workspace: TestWorkspace, thread: string, url: string): GatewayEvent {
  const author = { id: workspace.botId, username: 'bot', bot: true, discriminator: '0', avatar: null };
  const none = { attachments: [], embeds: [], components: [], mentions: [], mention_roles: [] };
  const now = { timestamp: new Date().toISOString(), edited_timestamp: null };
  const attachments = [{ id: '1', filename: 'x.png', url, size: 1 }];
  const message = { id: '999999999999999001', channel_id: thread, author, type: 0, flags: 0, content: 'look' };
  return ['MESSAGE_CREATE', { ...message, ...now, ...none, attachments }];
}

const thread = (id: string, name: string): GatewayEvent => [
  'THREAD_CREATE',
  { id, name, last_message_id: null, thread_metadata: { archived: false } },
];

describe('a process that has the port for a while, and answers an open page like the workspace', () => {
  it.each([
    ['a picture at the address of our page', '/', {}],
    ['a picture at the address of a script', '/theme.js', {}],
    ['a picture that leads to our page', '/attachments/1/2/x.png', { '/attachments/1/2/x.png': '/' }],
    ['a picture that leads to a script', '/attachments/1/2/x.png', { '/attachments/1/2/x.png': '/page.js' }],
    ['the page’s own sign, which leads to our page', '/none.png', { '/icon.svg': '/' }],
    ['the page’s own sign, which leads to a script', '/none.png', { '/icon.svg': '/theme.js' }],
  ])('leaves nothing in the cache with %s', async (_, address, moved) => {
    const opened = await openWorkspace({ tolerate: /./ });
    const { workspace, page, you, complaints } = opened;
    await you.openSession('web');
    await workspace.close();
    const events = [picture(workspace, opened.thread, address), thread('123', '[agent] shop')];
    const squatter = await squat(workspace, events, moved);
    await vi.waitFor(() => expect(squatter.asked).toContain(address), { timeout: 30_000 });
    await you.openSession('shop'); // the browser looks for the page's sign again
    await page.waitForTimeout(1_000);
    await squatter.close();

    await startTestWorkspace({ dir: workspace.dir, port: Number(new URL(workspace.url).port) });
    const fresh = await page.context().newPage();
    for (const load of [() => fresh.goto(workspace.url), () => page.reload()]) await load();
    for (const one of [fresh, page]) {
      await see(one.locator('#sessions li'));
      expect(await one.evaluate(() => document.documentElement.dataset.taken)).toBeUndefined();
    }
    complaints.length = 0;
  });

  it('leaves no answer in the cache: after the restart the page shows what is there', async () => {
    const { workspace, page, you, complaints } = await openWorkspace({ tolerate: /./ });
    await you.openSession('web');
    await workspace.close();
    const path = `/api/v10/channels/${workspace.channelId}/messages?limit=40`;
    const squatter = await squat(workspace, [thread('123', '[agent] shop')]);
    await see(you.session('shop'));
    await you.openSession('agents');
    await vi.waitFor(() => expect(squatter.asked).toContain(path));
    await page.waitForTimeout(500);
    await squatter.close();

    const again = await startTestWorkspace({ dir: workspace.dir, port: Number(new URL(workspace.url).port) });
    await again.person.say(again.channelId, 'what is there');
    const fresh = await page.context().newPage();
    await fresh.goto(`${workspace.url}/#/${workspace.channelId}`);
    await see(fresh.locator('#messages').getByText('what is there'));
    complaints.length = 0;
  });

  it.each(['1', 'made-up'])(
    'leaves no message %s, no button and no mark in the page that is open all the time',
    async (id) => {
      const opened = await openWorkspace({ tolerate: /./ });
      const { workspace, page, you, say, complaints } = opened;
      await say('the real question', { components: buttons('Allow', 'Deny') });
      await you.openSession('web');
      await see(you.button('Deny'));
      await workspace.close();
      // Only the user would see it, so the workspace has no message in its place. Its button is one of another message.
      const [type, made] = picture(workspace, opened.thread, '/none.png');
      const asked = { ...made, content: 'made up', components: buttons('Deny'), attachments: [] };
      const starter = { ...asked, type: 21, flags: 64, id, referenced_message: asked };
      const last = { ...asked, id: '18446744073709551615' };
      const state = { channel_id: opened.thread, state: 'needs_person', for: 'made up', since: 0 };
      const squatter = await squat(workspace, [
        [type, starter],
        [type, last],
        ['THREADMUX_STATES', { now: 0, states: [state] }],
      ]);
      await see(page.locator('#messages').getByText('made up'));
      const mark = () => page.evaluate(() => localStorage.getItem('threadmux:read'));
      await vi.waitFor(async () => expect(await mark()).toContain(last.id));
      await squatter.close();

      const again = await startTestWorkspace({ dir: workspace.dir, port: Number(new URL(workspace.url).port) });
      await page.locator('#offline').waitFor({ state: 'hidden' });
      await sayIn(again, opened.thread)('what is new');
      await see(page.locator('#messages').getByText('what is new'));
      expect(await page.getByText('made up').count()).toBe(0);
      await you.openSession('agents');
      await sayIn(again, opened.thread)('what is unread');
      await see(you.session('web').locator('.count', { hasText: '1' }));
      complaints.length = 0;
    },
  );

  it('cannot make it load another page by a session whose address looks like a link that signs in', async () => {
    const { workspace, page, you, complaints } = await openWorkspace({ tolerate: /./ });
    await you.openSession('web');
    await workspace.close();
    const squatter = await squat(workspace, [thread('enter/made-up', '[agent] shop')]);
    await you.session('shop').click();
    await page.waitForTimeout(1_000);
    expect(squatter.asked).not.toContain('/');
    expect(await page.evaluate(() => document.documentElement.dataset.taken)).toBeUndefined();
    complaints.length = 0;
  });
});

it('a link that is opened in a page that is not signed in signs it in, without loading it again', async () => {
  const workspace = await startTestWorkspace();
  await startThread(workspace, '[agent] web');
  const { page } = await openPage({ tolerate: /401/ });
  await page.goto(workspace.url);
  await see(page.getByText('This browser is not signed in'));
  await page.evaluate(() => {
    document.documentElement.dataset.same = 'yes';
  });
  await page.goto(workspace.link);
  await see(person(page).session('web'));
  expect(await page.evaluate(() => [document.documentElement.dataset.same, location.hash])).toEqual(['yes', '']);
});
