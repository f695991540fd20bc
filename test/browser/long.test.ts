// A thread of ten thousand messages, of which only a small part is in the document, so that reading it never jumps; and thousands of sessions.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { startTestWorkspace } from '../support/workspace.ts';
import { openPage, person, see } from './browser.ts';
import { sayIn, startThread } from './page.ts';

const COUNT = 10_000;

/** Written directly into the journal because sending them one by one would take minutes. */
async function longThread() {
  const first = await startTestWorkspace();
  const thread = await startThread(first, '[agent] long');
  const sample = await sayIn(first, thread)('line 0');
  await first.close();
  const base = BigInt(sample.id);
  const lines = Array.from({ length: COUNT - 1 }, (_, at) => {
    const message = {
      id: String(base + BigInt(at + 1)),
      channel_id: thread,
      author: first.botId,
      type: 0,
      content: `line ${at + 1}${'\nmore'.repeat((at + 1) % 4)}`,
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
    return `${JSON.stringify({ t: 'message', message })}\n`;
  });
  appendFileSync(join(first.dir, 'journal.jsonl'), lines.join(''));
  return startTestWorkspace({ dir: first.dir });
}

it('a long thread shows its end at once, loads older messages on scrolling, and does not jump', async () => {
  const workspace = await longThread();
  const { page } = await openPage();
  const you = person(page);
  await page.goto(workspace.link);
  await you.openSession('long');
  await see(you.last.getByText(`line ${COUNT - 1}`));
  const oldest = async () => Number(/line (\d+)/.exec((await you.messages.first().textContent()) ?? '')?.[1]);
  const shown = () => you.messages.count();
  expect(await shown()).toBeLessThanOrEqual(150);

  // What is on the screen before older messages are added above must be at the same place after.
  for (let round = 0; round < 8; round++) {
    const before = await oldest();
    const moved = await page.evaluate(async () => {
      const scroller = document.getElementById('scroller') as HTMLElement;
      scroller.scrollTop = 300;
      await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 0)));
      const top = scroller.getBoundingClientRect().top;
      const row = [...document.querySelectorAll('#messages > li')].find(
        (one) => one.getBoundingClientRect().top > top,
      ) as Element;
      const was = row.getBoundingClientRect().top;
      const id = (document.querySelector('#messages > li') as HTMLElement).dataset.id;
      const end = performance.now() + 3000;
      while (performance.now() < end && (document.querySelector('#messages > li') as HTMLElement).dataset.id === id)
        await new Promise((drawn) => requestAnimationFrame(drawn));
      await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 30)));
      return row.getBoundingClientRect().top - was;
    });
    expect(Math.abs(moved)).toBeLessThanOrEqual(2);
    await vi.waitFor(async () => expect(await oldest()).toBeLessThan(before));
    expect(await shown()).toBeLessThanOrEqual(150);
  }
  await page.getByRole('button', { name: 'Latest' }).click();
  await see(you.last.getByText(`line ${COUNT - 1}`));
});

/** Adds threads to the first event of a connection. */
function withMoreThreads(text: string, count: number): string {
  const event = JSON.parse(text);
  if (event.t !== 'GUILD_CREATE') return text;
  const [like] = event.d.threads;
  const ids = Array.from({ length: count }, (_, at) => String(BigInt(like.id) - BigInt(at + 1)));
  const others = ids.map((id) => ({ ...like, id, last_message_id: id, name: `[agent] other-${id.slice(-6)}` }));
  event.d.threads.push(...others);
  return JSON.stringify(event);
}

it('with thousands of sessions, only a part of them is listed, and the page goes on', async () => {
  const workspace = await startTestWorkspace();
  const thread = await startThread(workspace, '[agent] web');
  const { page } = await openPage({ tolerate: /404/ }); // the other threads have no messages
  await page.routeWebSocket(/./, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((text) => socket.send(typeof text === 'string' ? withMoreThreads(text, 3_000) : text));
  });
  const you = person(page);
  await page.goto(workspace.link);
  await see(page.getByText(/^\d+ more\. The search finds them\.$/));
  expect(await page.locator('#sessions li').count()).toBeLessThanOrEqual(300);
  await you.openSession('web');
  await sayIn(workspace, thread)('from the agent');
  await see(you.last.getByText('from the agent'));
  await you.write('to the agent');
  await see(you.last.getByText('to the agent'));
  // One that is not listed is found, and listed while it is open.
  const name = `other-${String(BigInt(thread) - 2_999n).slice(-6)}`;
  expect(await you.session(name).count()).toBe(0);
  await page.keyboard.press('Control+k');
  await page.locator('#search-text').fill(name);
  await page.locator('#search-results').getByText(name).first().click();
  await see(page.locator('#place-name', { hasText: name }));
  await see(you.session(name));
});
