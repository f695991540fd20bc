import { describe, expect, it, vi } from 'vitest';
import { startTestWorkspace, type WireMessage, withFiles } from '../support/workspace.ts';

async function withMessages(count: number) {
  const workspace = await startTestWorkspace();
  const path = `/channels/${workspace.channelId}/messages`;
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await workspace.person.say(workspace.channelId, `${n}`)).id);
  const list = async (query: string) =>
    ((await workspace.bot('GET', `${path}?${query}`)).body as { content: string }[]).map(({ content }) =>
      Number(content),
    );
  return { workspace, path, ids, list };
}

describe('listing messages', () => {
  it('returns the newest first, and exactly the ones before, after or around one', async () => {
    const { ids, list } = await withMessages(8);
    expect(await list('limit=3')).toEqual([7, 6, 5]);
    expect(await list(`before=${ids[5]}&limit=2`)).toEqual([4, 3]);
    expect(await list(`after=${ids[2]}&limit=2`)).toEqual([4, 3]);
    expect(await list(`after=${ids[6]}`)).toEqual([7]);
    expect(await list(`around=${ids[4]}&limit=3`)).toEqual([5, 4, 3]);
    expect(await list(`after=0&limit=100`)).toEqual([7, 6, 5, 4, 3, 2, 1, 0]);
    expect(await list(`after=${ids[7]}`)).toEqual([]);
    expect(await list(`before=${ids[0]}`)).toEqual([]);
  });

  it.each(['limit=0', 'limit=101', 'limit=x', 'before=abc', 'after=1&before=2'])('refuses %s', async (query) => {
    const { workspace, path } = await withMessages(0);
    expect(await workspace.bot('GET', `${path}?${query}`)).toMatchObject({ status: 400, body: { code: 50035 } });
  });

  it('returns ids that increase, also within one millisecond', async () => {
    const { ids } = await withMessages(30);
    const sorted = [...ids].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
    expect(ids).toEqual(sorted);
    expect(new Set(ids).size).toBe(30);
  });
});

describe('a nonce', () => {
  it('that is enforced returns the earlier message and creates no second one', async () => {
    const { workspace, path } = await withMessages(0);
    const body = { content: 'once', nonce: 'n1', enforce_nonce: true };
    const first = await workspace.bot('POST', path, body);
    const second = await workspace.bot('POST', path, { ...body, content: 'another text' });
    expect(second.body).toMatchObject({ id: first.body.id, content: 'once', nonce: 'n1' });
    expect(await workspace.person.messages(workspace.channelId)).toHaveLength(1);
  });

  it('counts for its author in every channel, not for others', async () => {
    const { workspace, path } = await withMessages(0);
    const body = { content: 'x', nonce: 7, enforce_nonce: true };
    const { body: thread } = await workspace.bot('POST', `/channels/${workspace.channelId}/threads`, {
      name: 't',
      type: 11,
    });
    const first = await workspace.bot('POST', path, body);
    const elsewhere = await workspace.bot('POST', `/channels/${thread.id}/messages`, body);
    expect(elsewhere.body.id).toBe(first.body.id);
    expect((await workspace.person.call('POST', path, body)).body.id).not.toBe(first.body.id);
  });

  it('of a deleted message reports an unknown message', async () => {
    const { workspace, path } = await withMessages(0);
    const body = { content: 'x', nonce: 'n', enforce_nonce: true };
    const { body: message } = await workspace.bot('POST', path, body);
    await workspace.bot('DELETE', `${path}/${message.id}`);
    expect(await workspace.bot('POST', path, body)).toMatchObject({ status: 404, body: { code: 10008 } });
  });

  it('is forgotten after its window, and ignored unless enforced', async () => {
    const workspace = await startTestWorkspace({ nonceWindowMs: 0 });
    const path = `/channels/${workspace.channelId}/messages`;
    const enforced = { content: 'x', nonce: 'n', enforce_nonce: true };
    const first = await workspace.bot('POST', path, enforced);
    await vi.waitFor(async () => expect((await workspace.bot('POST', path, enforced)).body.id).not.toBe(first.body.id));
    const plain = { content: 'x', nonce: 'm' };
    const other = await workspace.bot('POST', path, plain);
    expect((await workspace.bot('POST', path, plain)).body.id).not.toBe(other.body.id);
  });
});

describe('mentions', () => {
  it.each([
    ['everyone and people if nothing is said', undefined, true, 1],
    ['nobody for an empty parse', { parse: [] }, false, 0],
    ['people only if only they are parsed', { parse: ['users'] }, false, 1],
  ] as const)('ping %s', async (_, allowed_mentions, everyone, people) => {
    const { workspace, path } = await withMessages(0);
    const content = `@everyone <@${workspace.userId}>`;
    const { body: made } = await workspace.bot('POST', path, { content, allowed_mentions });
    expect([made.mention_everyone, made.mentions.length]).toEqual([everyone, people]);
    const { body: silent } = await workspace.bot('POST', path, { content: 'x', allowed_mentions: { parse: [] } });
    const { body: edited } = await workspace.bot('PATCH', `${path}/${silent.id}`, { content, allowed_mentions });
    expect([edited.mention_everyone, edited.mentions.length]).toEqual([everyone, people]);
  });
});

describe('changing messages', () => {
  it('allows editing own messages only, and deleting own messages unless the caller is the owner', async () => {
    const { workspace, path } = await withMessages(0);
    const theirs = await workspace.person.say(workspace.channelId, 'theirs');
    const { body: mine } = await workspace.bot('POST', path, { content: 'mine' });
    expect((await workspace.bot('PATCH', `${path}/${theirs.id}`, { content: 'x' })).body.code).toBe(50005);
    expect((await workspace.bot('DELETE', `${path}/${theirs.id}`)).body.code).toBe(50013);
    expect((await workspace.person.call('DELETE', `${path}/${mine.id}`)).status).toBe(204);
    expect((await workspace.bot('GET', `${path}/${mine.id}`)).body.code).toBe(10008);
  });

  it('keeps the attachments that are listed and removes the others', async () => {
    const { workspace, path } = await withMessages(0);
    const files = ['a', 'b'].map((name) => ({ name, data: name }));
    const said = await workspace.person.say(workspace.channelId, 'files', { files });
    const [a, b] = said.attachments;
    const edited = await workspace.person.call('PATCH', `${path}/${said.id}`, { attachments: [{ id: b?.id }] });
    expect(edited.body.attachments).toMatchObject([{ filename: 'b' }]);
    expect((await fetch(a?.url ?? '')).status).toBe(404);
    expect((await fetch(b?.url ?? '')).status).toBe(200);
    const emptied = await workspace.person.call('PATCH', `${path}/${said.id}`, { content: '', attachments: [] });
    expect(emptied.body.code).toBe(50006);
  });

  it('adds new files to those that are kept', async () => {
    const { workspace, path } = await withMessages(0);
    const file = (name: string) => ({ name, data: name });
    const first = withFiles({ content: 'files' }, ['a', 'b'].map(file));
    const { body: said } = await workspace.bot('POST', path, first);
    const edit = (payload: object, ...names: string[]) =>
      workspace.bot('PATCH', `${path}/${said.id}`, withFiles(payload, names.map(file)));
    const names = ({ body }: { body: WireMessage }) => body.attachments.map(({ filename }) => filename);

    const listed = [{ id: said.attachments[1].id }, { id: '0', filename: 'c', description: 'see' }];
    const replaced = await edit({ attachments: listed }, 'x', 'unlisted');
    expect(names(replaced)).toEqual(['b', 'c']);
    expect(replaced.body.attachments[1]).toMatchObject({ description: 'see', size: 1 });
    expect(await (await fetch(replaced.body.attachments[1].url)).text()).toBe('x');
    expect(names(await edit({}, 'd'))).toEqual(['b', 'c', 'd']);
    expect(names(await edit({ attachments: [{ id: '0' }] }, 'e'))).toEqual(['e']);
    expect((await edit({ attachments: [{ id: '1' }] }, 'f')).body.code).toBe(50035);
    const ten = Array.from({ length: 10 }, (_, n) => `${n}`);
    expect((await edit({}, ...ten)).body.code).toBe(30015);
    expect(names(await workspace.bot('GET', `${path}/${said.id}`))).toEqual(['e']);
  });
});

describe('reactions', () => {
  it('are counted, listed and removed; words and a 21st kind are refused', async () => {
    const { workspace, path, ids } = await withMessages(1);
    const at = (emoji: string, who = '/@me') => `${path}/${ids[0]}/reactions/${encodeURIComponent(emoji)}${who}`;
    for (const emoji of ['👀', '👨‍👩‍👧', '1️⃣', '🇩🇪', '❤️', '✅']) {
      expect((await workspace.bot('PUT', at(emoji))).status).toBe(204);
      expect((await workspace.bot('PUT', at(emoji))).status).toBe(204);
    }
    await workspace.person.react(workspace.channelId, ids[0] ?? '', '👀');
    expect((await workspace.bot('GET', at('👀', ''))).body).toHaveLength(2);
    expect((await workspace.bot('DELETE', at('👀'))).status).toBe(204);
    expect((await workspace.bot('DELETE', at('👀', `/${workspace.userId}`))).body.code).toBe(50013);
    for (const word of ['eyes', '1', ':eyes:', '%F0'])
      expect((await workspace.bot('PUT', at(word))).body.code).toBe(10014);
    for (let n = 0; n < 14; n++) await workspace.bot('PUT', at(String.fromCodePoint(0x1f600 + n)));
    expect((await workspace.bot('PUT', at('🚀'))).body.code).toBe(30010);
    const [message] = await workspace.person.messages(workspace.channelId);
    expect(message?.reactions?.[0]).toMatchObject({ emoji: { name: '👀' }, count: 1, me: true });
  });
});

describe('a request for a missing object:', () => {
  it.each([
    ['GET', '/channels/1', 404, 10003],
    ['GET', '/channels/1/messages', 404, 10003],
    ['POST', '/channels/1/messages', 404, 10003],
    ['GET', '/channels/CHANNEL/messages/1', 404, 10008],
    ['GET', '/channels/CHANNEL/messages/abc', 404, 10008],
    ['GET', '/guilds/1', 404, 10004],
    ['GET', '/guilds/GUILD/members/1', 404, 10007],
    ['GET', '/users/1', 404, 10013],
    ['GET', '/applications/1/commands', 404, 10002],
    ['GET', '/applications/APP/guilds/1/commands', 403, 50001],
    ['PATCH', '/channels/CHANNEL', 403, 50013],
    ['GET', '/nowhere', 404, 0],
    ['GET', '/channels/%ZZ', 404, 0],
    ['DELETE', '/gateway', 405, 0],
    ['POST', '/interactions/1/x/callback', 404, 10062],
    ['POST', '/webhooks/APP/x', 404, 10015],
  ])('%s %s is answered with %i and %i', async (method, template, status, code) => {
    const workspace = await startTestWorkspace();
    const path = template
      .replace('CHANNEL', workspace.channelId)
      .replace('GUILD', workspace.guildId)
      .replace('APP', workspace.applicationId);
    const body = method === 'GET' || method === 'DELETE' ? undefined : { content: 'x', name: 'x' };
    const answer = await workspace.bot(method, path, body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });
});
