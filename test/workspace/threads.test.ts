import { describe, expect, it } from 'vitest';
import { idleThreads } from '../../workspace/server.ts';
import { applyRecord, emptyState, type StoredThread } from '../../workspace/storage/store.ts';
import { startTestWorkspace, type TestWorkspace } from '../support/workspace.ts';

async function startThread(workspace: TestWorkspace, name = 'talk') {
  const answer = await workspace.bot('POST', `/channels/${workspace.channelId}/threads`, { name, type: 11 });
  return answer.body as { id: string };
}

const archive = (workspace: TestWorkspace, id: string, change: object = {}) =>
  workspace.bot('PATCH', `/channels/${id}`, { archived: true, ...change });

describe('a thread', () => {
  it('created from a message has its id, once', async () => {
    const workspace = await startTestWorkspace();
    const message = await workspace.person.say(workspace.channelId, 'start here');
    const path = `/channels/${workspace.channelId}/messages/${message.id}/threads`;
    const first = await workspace.bot('POST', path, { name: '[agent] shop', auto_archive_duration: 60 });
    expect(first).toMatchObject({
      status: 201,
      body: { id: message.id, type: 11, owner_id: workspace.botId, thread_metadata: { auto_archive_duration: 60 } },
    });
    expect(await workspace.bot('POST', path, { name: 'again' })).toMatchObject({ status: 400, body: { code: 160004 } });
    const [parent] = await workspace.person.messages(workspace.channelId);
    expect(parent).toMatchObject({ flags: 32, thread: { id: message.id } });
    const [starter] = await workspace.person.messages(message.id);
    expect(starter).toMatchObject({ type: 21, content: '', referenced_message: { content: 'start here' } });
  });

  it('cannot have its own threads', async () => {
    const workspace = await startTestWorkspace();
    const thread = await startThread(workspace);
    const message = await workspace.person.say(thread.id, 'x');
    const inside = await workspace.bot('POST', `/channels/${thread.id}/messages/${message.id}/threads`, { name: 'x' });
    expect(inside.body.code).toBe(50024);
  });

  it('that is archived is reopened by a tap, as by the clients of Discord, unless it is locked', async () => {
    const workspace = await startTestWorkspace();
    const thread = await startThread(workspace);
    const path = `/channels/${thread.id}`;
    const components = [{ type: 1, components: [{ type: 2, style: 2, label: 'x', custom_id: 'x' }] }];
    const { body: message } = await workspace.bot('POST', `${path}/messages`, { content: 'x', components });
    await archive(workspace, thread.id, { locked: true });
    await expect(workspace.person.tap(thread.id, message.id, 'x')).rejects.toThrow('50083');
    await workspace.bot('PATCH', path, { archived: false, locked: false });
    await archive(workspace, thread.id);
    await expect(workspace.person.tap(thread.id, message.id, 'y')).rejects.toThrow();
    expect((await workspace.bot('GET', path)).body.thread_metadata.archived).toBe(true);
    await workspace.person.tap(thread.id, message.id, 'x');
    expect((await workspace.bot('GET', path)).body.thread_metadata.archived).toBe(false);
  });

  it('that is archived is reopened by a message, not by edits, reactions, joins or typing', async () => {
    const workspace = await startTestWorkspace();
    const thread = await startThread(workspace);
    const path = `/channels/${thread.id}`;
    const { body: message } = await workspace.bot('POST', `${path}/messages`, { content: 'x' });
    await archive(workspace, thread.id);
    const refused: [string, string, object?][] = [
      ['PATCH', `${path}/messages/${message.id}`, { content: 'y' }],
      ['PUT', `${path}/messages/${message.id}/reactions/${encodeURIComponent('👀')}/@me`],
      ['PUT', `${path}/thread-members/@me`],
      ['POST', `${path}/typing`],
      ['PATCH', path, { name: 'renamed' }],
    ];
    for (const [method, at, body] of refused)
      expect(await workspace.bot(method, at, body)).toMatchObject({ status: 400, body: { code: 50083 } });
    expect((await workspace.bot('POST', `${path}/messages`, { content: ' ' })).body.code).toBe(50006);
    expect((await workspace.bot('GET', path)).body.thread_metadata.archived).toBe(true);
    expect((await workspace.bot('POST', `${path}/messages`, { content: 'wake up' })).status).toBe(200);
    expect((await workspace.bot('GET', path)).body.thread_metadata.archived).toBe(false);
  });

  it('that is locked accepts no messages', async () => {
    const workspace = await startTestWorkspace();
    const thread = await startThread(workspace);
    await archive(workspace, thread.id, { locked: true });
    const answer = await workspace.person.call('POST', `/channels/${thread.id}/messages`, { content: 'x' });
    expect(answer).toMatchObject({ status: 403, body: { code: 160005 } });
    expect((await workspace.bot('GET', `/channels/${thread.id}`)).body.thread_metadata).toMatchObject({
      archived: true,
      locked: true,
    });
  });

  it('is renamed, with a line that says so, even while it is being reopened', async () => {
    const workspace = await startTestWorkspace();
    const thread = await startThread(workspace);
    await archive(workspace, thread.id);
    const renamed = await workspace.bot('PATCH', `/channels/${thread.id}`, { archived: false, name: 'new name' });
    expect(renamed.body).toMatchObject({ name: 'new name', thread_metadata: { archived: false } });
    expect((await workspace.person.messages(thread.id))[0]).toMatchObject({ type: 4, content: 'new name' });
    const notice = (await workspace.person.messages(thread.id))[0];
    expect(
      (await workspace.bot('PATCH', `/channels/${thread.id}/messages/${notice?.id}`, { content: 'x' })).body.code,
    ).toBe(50021);
  });

  it('refuses a change of the wrong kind', async () => {
    const workspace = await startTestWorkspace();
    const thread = await startThread(workspace);
    const wrong = await workspace.bot('PATCH', `/channels/${thread.id}`, { archived: 'yes' });
    expect(wrong).toMatchObject({ status: 400, body: { code: 50035, errors: { archived: expect.anything() } } });
  });

  it('that was deleted is an unknown channel', async () => {
    const workspace = await startTestWorkspace();
    const thread = await startThread(workspace);
    await workspace.person.say(thread.id, 'x');
    await workspace.bot('DELETE', `/channels/${thread.id}`);
    expect((await workspace.bot('GET', `/channels/${thread.id}`)).body.code).toBe(10003);
    expect((await workspace.bot('GET', `/channels/${thread.id}/messages`)).body.code).toBe(10003);
  });
});

describe('lists of threads', () => {
  it('page through all archived ones, latest archived first, without duplicates', async () => {
    const workspace = await startTestWorkspace();
    const ids: string[] = [];
    for (let n = 0; n < 7; n++) ids.push((await startThread(workspace, `t${n}`)).id);
    await Promise.all(ids.map((id) => archive(workspace, id)));
    const seen: string[] = [];
    let before = '';
    for (let more = true; more; ) {
      const path = `/channels/${workspace.channelId}/threads/archived/public?limit=3${before}`;
      const { body } = await workspace.bot('GET', path);
      seen.push(...body.threads.map(({ id }: { id: string }) => id));
      before = `&before=${encodeURIComponent(body.threads.at(-1).thread_metadata.archive_timestamp)}`;
      more = body.has_more;
    }
    expect([...seen].sort()).toEqual([...ids].sort());
    for (const query of ['limit=1', 'limit=101', 'before=yesterday']) {
      const path = `/channels/${workspace.channelId}/threads/archived/public?${query}`;
      expect((await workspace.bot('GET', path)).body.code).toBe(50035);
    }
  });

  it('contain the active ones, newest first, with the caller’s membership', async () => {
    const workspace = await startTestWorkspace();
    const first = await startThread(workspace, 'first');
    const second = await startThread(workspace, 'second');
    const path = `/guilds/${workspace.guildId}/threads/active`;
    const { body } = await workspace.bot('GET', path);
    expect(body.threads.map(({ id }: { id: string }) => id)).toEqual([second.id, first.id]);
    expect(body.members).toHaveLength(2);
    await workspace.bot('DELETE', `/channels/${first.id}/thread-members/@me`);
    expect((await workspace.bot('GET', path)).body.members).toHaveLength(1);
    await workspace.bot('PUT', `/channels/${first.id}/thread-members/@me`);
    expect((await workspace.bot('GET', path)).body.members).toHaveLength(2);
  });
});

describe('idle threads', () => {
  it('are archived after their configured time without messages', () => {
    const state = emptyState();
    const thread: StoredThread = {
      id: '1000000000000000000',
      parent_id: '1',
      name: 'x',
      owner: '1',
      archived: false,
      locked: false,
      archive_timestamp: '2026-01-01T00:00:00.000000+00:00',
      auto_archive_duration: 60,
      rate_limit_per_user: 0,
      members: [],
    };
    applyRecord(state, { t: 'thread', thread });
    const begun = Date.parse('2026-01-01T00:00:00Z');
    expect(idleThreads(state, begun + 59 * 60_000)).toEqual([]);
    expect(idleThreads(state, begun + 61 * 60_000)).toEqual([thread]);
    applyRecord(state, { t: 'thread', thread: { ...thread, archived: true } });
    expect(idleThreads(state, begun + 61 * 60_000)).toEqual([]);
  });
});
