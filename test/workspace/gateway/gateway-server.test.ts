import { describe, expect, it, vi } from 'vitest';
import { startTestWorkspace } from '../../support/workspace.ts';
import { identify, identifyData, openPageSocket, openSocket } from '../raw-socket.ts';

const contents = (socket: { heard: readonly { t: string | null; d: { content?: string } }[] }) =>
  socket.heard.filter(({ t }) => t === 'MESSAGE_CREATE').map(({ d }) => d.content);

describe('the gateway', () => {
  it('greets with hello, READY and the guild with its channel, threads and own member', async () => {
    const workspace = await startTestWorkspace({ heartbeatMs: 1234 });
    const { channelId, guildId, botId, person } = workspace;
    const message = await person.say(channelId, 'first');
    const thread = await person.startThread(channelId, message.id, 'talk');
    const last = await person.say(thread.id, 'in the thread');
    const socket = await identify(workspace);

    expect(socket.heard[0]).toMatchObject({ op: 10, d: { heartbeat_interval: 1234 } });
    const ready = await socket.until({ t: 'READY' });
    expect(ready).toMatchObject({
      s: 1,
      d: {
        v: 10,
        user: { id: botId, bot: true },
        guilds: [{ id: guildId, unavailable: true }],
        application: { flags: 1 << 19 },
      },
    });
    const guild = await socket.until({ t: 'GUILD_CREATE' });
    expect(guild.d).toMatchObject({
      id: guildId,
      channels: [{ id: channelId }],
      threads: [{ id: thread.id, parent_id: channelId, last_message_id: last.id }],
      members: [{ user: { id: botId } }],
    });
  });

  it('tells the states of sessions to the page, also to one that comes later, and never to a bot', async () => {
    const workspace = await startTestWorkspace();
    const { channelId, person } = workspace;
    const [bot, page] = [await identify(workspace), await openPageSocket(workspace)];
    const thread = await person.startThread(channelId, (await person.say(channelId, 'first')).id, 'talk');
    const state = { state: 'needs_person', for: 'plan', since: 5 };
    workspace.tellState(thread.id, state);
    workspace.tellState('123', { state: 'idle', since: 5 }); // a thread that does not exist
    await vi.waitFor(() => expect(page.heard.filter(({ t }) => t === 'THREADMUX_STATES')).toHaveLength(3));
    const later = await openPageSocket(workspace);
    const told = await later.until({ t: 'THREADMUX_STATES' });
    expect(told.d.states).toEqual([{ channel_id: thread.id, ...state }]);
    await person.say(channelId, 'last');
    await vi.waitFor(() => expect(contents(bot)).toContain('last'));
    expect(bot.heard.some(({ t }) => t === 'THREADMUX_STATES')).toBe(false);
  });

  it('acknowledges heartbeats', async () => {
    const socket = await identify(await startTestWorkspace());
    socket.send(1, 2);
    await socket.until({ op: 11 });
  });
});

describe('the gateway closes with', () => {
  it.each([
    [4002, 'invalid JSON', 'not json'],
    [4002, 'a payload of more than 4096 bytes', JSON.stringify({ op: 1, d: 'x'.repeat(4096) })],
    [4001, 'an unknown opcode', '{"op":99,"d":null}'],
    [4003, 'anything before identifying', '{"op":3,"d":{}}'],
    [4002, 'an identify without properties', '{"op":2,"d":{"token":"x","intents":0}}'],
  ])('%i for %s', async (code, _, text) => {
    const socket = openSocket(await startTestWorkspace());
    await socket.until({ op: 10 });
    socket.sendText(text);
    expect(await socket.closed).toBe(code);
  });

  it.each([
    [4004, 'a wrong token', { token: 'wrong' }],
    [4010, 'a shard of more than one', { shard: [0, 2] }],
    [4013, 'unknown intents', { intents: 1 << 27 }],
    [4013, 'intents that are not a number', { intents: '1' }],
    [4014, 'an intent that is not enabled', { intents: 1 << 1 }],
    [4014, 'message content while it is disabled', { intents: 1 << 15 }],
  ])('%i for %s', async (code, _, change) => {
    const workspace = await startTestWorkspace({ messageContentIntent: false });
    const socket = openSocket(workspace);
    await socket.until({ op: 10 });
    socket.send(2, { ...identifyData(workspace, 1), ...change });
    expect(await socket.closed).toBe(code);
  });

  it('4005 for a second identify', async () => {
    const workspace = await startTestWorkspace();
    const socket = await identify(workspace);
    socket.send(2, identifyData(workspace));
    expect(await socket.closed).toBe(4005);
  });

  it('4008 for more than 120 payloads in a minute', async () => {
    const socket = await identify(await startTestWorkspace());
    for (let sent = 0; sent < 121; sent++) socket.send(1, null);
    expect(await socket.closed).toBe(4008);
  });

  it('4009 for a client that stopped its heartbeats', async () => {
    const socket = await identify(await startTestWorkspace({ heartbeatMs: 100 }));
    expect(await socket.closed).toBe(4009);
  });

  it('4012 for another version of the protocol', async () => {
    const socket = openSocket(await startTestWorkspace(), { query: 'v=6&encoding=json' });
    expect(await socket.closed).toBe(4012);
  });
});

describe('a session', () => {
  it('is resumed with everything missed, once and in order, then RESUMED', async () => {
    const workspace = await startTestWorkspace();
    const first = await identify(workspace);
    await workspace.person.say(workspace.channelId, 'one');
    const one = await first.until({ t: 'MESSAGE_CREATE' });
    first.terminate();
    await workspace.person.say(workspace.channelId, 'two');
    await workspace.person.say(workspace.channelId, 'three');

    const second = openSocket(workspace);
    await second.until({ op: 10 });
    second.send(6, { token: workspace.token, session_id: first.sessionId, seq: one.s });
    await second.until({ t: 'RESUMED' });

    expect(second.heard.map(({ t }) => t)).toEqual([null, 'MESSAGE_CREATE', 'MESSAGE_CREATE', 'RESUMED']);
    expect(contents(second)).toEqual(['two', 'three']);
  });

  it('is gone after the client closed with 1000', async () => {
    const workspace = await startTestWorkspace();
    const first = await identify(workspace);
    first.close(1000);
    await first.closed;
    await vi.waitFor(() => expect(workspace.gateway.connected).toBe(0));

    const second = openSocket(workspace);
    await second.until({ op: 10 });
    second.send(6, { token: workspace.token, session_id: first.sessionId, seq: 1 });
    expect(await second.until({ op: 9 })).toMatchObject({ d: false });
  });

  it('cannot be resumed from a sequence it never reached, nor with a wrong token', async () => {
    const workspace = await startTestWorkspace();
    const first = await identify(workspace);
    const tries = [
      [4004, { token: 'wrong', session_id: first.sessionId, seq: 1 }],
      [4007, { token: workspace.token, session_id: first.sessionId, seq: 99 }],
    ] as const;
    for (const [code, data] of tries) {
      const socket = openSocket(workspace);
      await socket.until({ op: 10 });
      socket.send(6, data);
      expect(await socket.closed).toBe(code);
    }
  });

  it('moves to the new socket when the old one is still there', async () => {
    const workspace = await startTestWorkspace();
    const first = await identify(workspace);
    const second = openSocket(workspace);
    await second.until({ op: 10 });
    second.send(6, { token: workspace.token, session_id: first.sessionId, seq: 2 });
    await second.until({ t: 'RESUMED' });
    await first.closed;

    await workspace.person.say(workspace.channelId, 'to the new one');
    await second.until({ t: 'MESSAGE_CREATE' });
    expect(contents(first)).toEqual([]);
  });

  it('is refused when too many are started at once or in a day', async () => {
    const workspace = await startTestWorkspace({ identifyLimit: { total: 1 } });
    await identify(workspace);
    const info = await workspace.bot('GET', '/gateway/bot');
    expect(info.body.session_start_limit).toMatchObject({ total: 1, remaining: 0 });

    const socket = openSocket(workspace);
    await socket.until({ op: 10 });
    socket.send(2, identifyData(workspace));
    expect(await socket.until({ op: 9 })).toMatchObject({ d: false });
  });
});

describe('events', () => {
  it('are sent only with their intent, interactions always', async () => {
    const workspace = await startTestWorkspace();
    const { channelId, person } = workspace;
    await workspace.bot('PUT', `/applications/${workspace.applicationId}/guilds/${workspace.guildId}/commands`, [
      { name: 'sessions', description: 'Lists them' },
    ]);
    const deaf = await identify(workspace, 0);
    const all = await identify(workspace, 34305 | (1 << 11));
    const message = await person.say(channelId, 'hello');
    await person.react(channelId, message.id, '👍');
    await person.call('POST', `/channels/${channelId}/typing`);
    await person.startThread(channelId, message.id, 'talk');
    await person.slash(channelId, 'sessions');

    await deaf.until({ t: 'INTERACTION_CREATE' });
    await all.until({ t: 'INTERACTION_CREATE' });
    expect(deaf.heard.map(({ t }) => t)).toEqual([null, 'READY', 'INTERACTION_CREATE']);
    expect(all.heard.map(({ t }) => t)).toEqual([
      null,
      'READY',
      'GUILD_CREATE',
      'MESSAGE_CREATE',
      'MESSAGE_REACTION_ADD',
      'TYPING_START',
      'THREAD_CREATE',
      'MESSAGE_UPDATE',
      'MESSAGE_CREATE',
      'INTERACTION_CREATE',
    ]);
  });

  it('have no content without its intent, except for mentions and own messages', async () => {
    const workspace = await startTestWorkspace();
    const socket = await identify(workspace, 513);
    await workspace.person.say(workspace.channelId, 'secret');
    await workspace.person.say(workspace.channelId, `hey <@${workspace.botId}>`);
    await workspace.bot('POST', `/channels/${workspace.channelId}/messages`, { content: 'mine' });
    await vi.waitFor(() => expect(contents(socket)).toEqual(['', `hey <@${workspace.botId}>`, 'mine']));
  });

  it('and requests show no content while it is disabled for the bot', async () => {
    const workspace = await startTestWorkspace({ messageContentIntent: false });
    await workspace.person.say(workspace.channelId, 'secret', { files: [{ name: 'a', data: 'a' }] });
    const { body } = await workspace.bot('GET', `/channels/${workspace.channelId}/messages`);
    expect(body).toMatchObject([{ content: '', attachments: [] }]);
    expect((await workspace.bot('GET', '/applications/@me')).body.flags).toBe(0);
    expect(await workspace.person.messages(workspace.channelId)).toMatchObject([{ content: 'secret' }]);
  });

  it('report when a thread is created, changed, joined and deleted', async () => {
    const workspace = await startTestWorkspace();
    const { bot, channelId } = workspace;
    const socket = await identify(workspace, 1);
    const { body: thread } = await bot('POST', `/channels/${channelId}/threads`, { name: 'a', type: 11 });
    await bot('PATCH', `/channels/${thread.id}`, { archived: true });
    await workspace.person.say(thread.id, 'wakes it and joins');
    await bot('DELETE', `/channels/${thread.id}`);
    const gone = await socket.until({ t: 'THREAD_DELETE' });
    expect(gone.d).toEqual({ id: thread.id, guild_id: workspace.guildId, parent_id: channelId, type: 11 });
    const threadEvents = socket.heard.filter(({ t }) => t?.startsWith('THREAD'));
    expect(threadEvents.map(({ t }) => t)).toEqual([
      'THREAD_CREATE',
      'THREAD_UPDATE',
      'THREAD_UPDATE',
      'THREAD_MEMBERS_UPDATE',
      'THREAD_DELETE',
    ]);
    expect(threadEvents[0]?.d).toMatchObject({ newly_created: true, member: { user_id: workspace.botId } });
    expect(threadEvents.slice(1, 3).map(({ d }) => d.thread_metadata.archived)).toEqual([true, false]);
    expect(threadEvents[3]?.d.added_members).toMatchObject([{ user_id: workspace.userId }]);
  });
});

describe('injected gateway faults', () => {
  it('stop acknowledgements, request heartbeats, reconnects and new sessions', async () => {
    const workspace = await startTestWorkspace();
    const socket = await identify(workspace);
    workspace.gateway.stopAcking(true);
    socket.send(1, 1);
    workspace.gateway.requestHeartbeat();
    workspace.gateway.sendReconnect();
    workspace.gateway.invalidateSession(true);
    expect(await socket.until({ op: 9 })).toMatchObject({ d: true });
    expect(socket.heard.map(({ op }) => op).slice(3)).toEqual([1, 7, 9]);

    await workspace.person.say(workspace.channelId, 'said before the resume');
    socket.send(6, { token: workspace.token, session_id: socket.sessionId, seq: 2 });
    await socket.until({ t: 'RESUMED' });
    expect(contents(socket)).toEqual(['said before the resume']);
  });

  it.each([4000, 4004, 4009, 1001])('close every bot with %i', async (code) => {
    const workspace = await startTestWorkspace();
    const socket = await identify(workspace);
    workspace.gateway.closeAll(code);
    expect(await socket.closed).toBe(code);
  });

  it('forget every session', async () => {
    const workspace = await startTestWorkspace();
    const first = await identify(workspace);
    workspace.gateway.cutAll();
    expect(await first.closed).toBe(1006);
    workspace.gateway.dropSessions();
    const second = openSocket(workspace);
    await second.until({ op: 10 });
    second.send(6, { token: workspace.token, session_id: first.sessionId, seq: 1 });
    expect(await second.until({ op: 9 })).toMatchObject({ d: false });
  });
});
