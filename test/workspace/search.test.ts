// Finds messages by their words.

import { describe, expect, it } from 'vitest';
import { startTestWorkspace, type WireMessage } from '../support/workspace.ts';

async function start() {
  const workspace = await startTestWorkspace();
  const { person, channelId, guildId } = workspace;
  const first = await person.say(channelId, 'the Cart forgets its items');
  const thread = await person.startThread(channelId, first.id, 'cart');
  await person.say(thread.id, 'items of the cart');
  await person.say(thread.id, 'nothing to see');
  const search = async (query: string) => {
    const { body } = await person.call('GET', `/guilds/${guildId}/messages/search?${query}`);
    return { total: body.total_results, found: body.messages.flat().map(({ content }: WireMessage) => content) };
  };
  return { ...workspace, thread, search };
}

describe('a search', () => {
  it('finds messages that contain all the words, in any case and order, newest first', async () => {
    const { search } = await start();
    expect(await search('content=cart%20ITEMS')).toEqual({
      total: 2,
      found: ['items of the cart', 'the Cart forgets its items'],
    });
  });

  it('can be limited to one thread, and is paged', async () => {
    const { search, thread } = await start();
    const inThread = await search(`content=cart&channel_id=${thread.id}`);
    expect(inThread.found).toEqual(['items of the cart']);
    const second = await search('content=cart&limit=1&offset=1');
    expect(second).toEqual({ total: 2, found: ['the Cart forgets its items'] });
  });

  it('is refused without words, and elsewhere', async () => {
    const { person, guildId } = await start();
    expect((await person.call('GET', `/guilds/${guildId}/messages/search`)).status).toBe(400);
    expect((await person.call('GET', '/guilds/1/messages/search?content=a')).status).toBe(404);
  });
});
