// From the gateway to the inbox, with a server that loses sessions and a process that is killed.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openCursors, openInbox } from '../../bridge/inbox.ts';
import { acceptedOf, listen } from '../../bridge/listen.ts';
import { silentLog } from '../../core/log.ts';
import { messageSchema } from '../../discord/payloads.ts';
import { ensureThread, openThreadChannel } from '../../discord/threads.ts';
import { readText } from '../../home/atomic-write.ts';
import { localServer, saveLocalServer } from '../../home/config-file.ts';
import type { Home } from '../../home/home.ts';
import { createKnownThreads } from '../../threads/connections.ts';
import { listenTo, restOf } from '../support/client.ts';
import { tempHome } from '../support/temp-home.ts';
import { startTestWorkspace, type TestWorkspace } from '../support/workspace.ts';

function addressOf(workspace: TestWorkspace) {
  const { socketApi, token, channelId, userId } = workspace;
  return { api: socketApi, token, channel: channelId, user: userId };
}

async function startListening(workspace: TestWorkspace, home: Home, names: readonly string[]) {
  const rest = restOf(workspace);
  const place = await openThreadChannel(rest, workspace.channelId);
  const threads = await Promise.all(names.map((name) => ensureThread(place, `[agent] ${name}`, 'Welcome')));
  const stop = new AbortController();
  const cursors = openCursors(home.path('cursors.json'));
  const accepted: { id: string; channelId: string; text: string; kind: string }[] = [];
  const handle = listen({
    server: localServer(addressOf(workspace)),
    rest,
    channels: [workspace.channelId],
    threads: createKnownThreads(rest, [place]),
    cursors,
    inbox: openInbox(home.folder('inbox'), cursors),
    log: silentLog,
    signal: stop.signal,
    meaningOf: () => ({ kind: 'message' }),
    onAccepted: ({ id, channelId, text }, { kind }) => accepted.push({ id, channelId, text, kind }),
  });
  onTestFinished(() => stop.abort());
  const listener = listenTo(workspace, rest, { handle });
  await vi.waitFor(() => expect(listener.gateway.state().at).toBe('live'));
  return { rest, place, threads, accepted, listener };
}

describe('the listener', () => {
  it.each([
    ['a reply', 19, { type: 0 }, '5'],
    ['a forwarded message', 0, { type: 1 }, undefined],
    ['a message that refers to another one', 0, { type: 0 }, undefined],
  ])('knows that only a reply is for another message: %s', (_, type, reference, expected) => {
    const author = { id: '2', username: 'ann' };
    const message_reference = { ...reference, message_id: '5', channel_id: '3' };
    const message = messageSchema.parse({ id: '9', channel_id: '3', type, content: 'yes', author, message_reference });
    expect(acceptedOf(message).repliedTo).toBe(expected);
  });

  it('accepts every message of our threads once and in order, whatever happens to the connection', async () => {
    const workspace = await startTestWorkspace();
    const home = tempHome();
    const { threads, accepted } = await startListening(workspace, home, ['a', 'b', 'c']);
    const troubles = [
      () => workspace.gateway.cutAll(),
      () => workspace.gateway.invalidateSession(false),
      () => workspace.gateway.sendReconnect(),
      () => {
        workspace.gateway.dropSessions();
        workspace.gateway.cutAll();
      },
      () => workspace.gateway.closeAll(4009),
    ];
    for (let n = 0; n < 60; n++) {
      if (n % 6 === 3) troubles[(n / 3) % troubles.length]?.();
      for (const { id } of threads) await workspace.person.say(id, `m${n}`);
      if (n % 7 === 0) await sleep(120); // lets the client reconnect in some of the gaps
    }
    await vi.waitFor(() => expect(accepted.length).toBeGreaterThanOrEqual(180), 15_000);
    const wanted = Array.from({ length: 60 }, (_, n) => `m${n}`);
    for (const { id } of threads)
      expect(accepted.filter(({ channelId }) => channelId === id).map(({ text }) => text)).toEqual(wanted);
  });

  it('replays nothing that was written before the first run', async () => {
    const workspace = await startTestWorkspace();
    const place = await openThreadChannel(restOf(workspace), workspace.channelId);
    const thread = await ensureThread(place, '[agent] old', 'Welcome');
    await workspace.person.say(thread.id, 'long ago');
    await sleep(5);
    const { accepted } = await startListening(workspace, tempHome(), ['old']);
    await workspace.person.say(thread.id, 'now');
    await vi.waitFor(() => expect(accepted.map(({ text }) => text)).toEqual(['now']));
  });

  it('ignores look-alike threads, bots and chat in the channel, but not commands there', async () => {
    const workspace = await startTestWorkspace();
    const { rest, threads, accepted } = await startListening(workspace, tempHome(), ['web']);
    const { person, channelId } = workspace;
    const theirs = await person.say(channelId, 'just talking');
    const fake = await person.startThread(channelId, theirs.id, '[agent] web');
    await person.say(fake.id, 'into the fake');
    await rest.call('POST', `/channels/${threads[0]?.id}/messages`, { body: { content: 'by the bot' } });
    await person.say(channelId, '!sessions all');
    await person.say(threads[0]?.id ?? '', 'for real');
    await vi.waitFor(() => expect(accepted).toHaveLength(2));
    expect(accepted.map(({ text, kind }) => [kind, text])).toEqual([
      ['command', '!sessions all'],
      ['forward', 'for real'],
    ]);
  });

  it('loses and repeats nothing when the process is killed repeatedly', async () => {
    const workspace = await startTestWorkspace();
    const home = tempHome();
    saveLocalServer(home, addressOf(workspace));
    const place = await openThreadChannel(restOf(workspace), workspace.channelId);
    const thread = await ensureThread(place, '[agent] web', 'Welcome');
    const record = home.path('record');
    const start = () => startTaker(home, record);
    let child = await start();
    const total = 100;
    const talking = (async () => {
      for (let n = 0; n < total; n++) {
        await workspace.person.say(thread.id, `m${n}`);
        await sleep(12);
      }
    })();
    for (let kill = 0; kill < 4; kill++) {
      await sleep(150 + kill * 37);
      child.kill('SIGKILL');
      await once(child, 'exit');
      child = await start();
    }
    await talking;
    const wanted = Array.from({ length: total }, (_, n) => `m${n}`);
    await vi.waitFor(() => expect(readText(record)?.trim().split('\n')).toEqual(wanted), 20_000);
  });
});

/** A real process that accepts messages and records each one it handles. */
async function startTaker(home: Home, record: string): Promise<ChildProcess> {
  const dist = new URL('../../dist/', import.meta.url).href;
  const script = `
    import { appendFileSync, existsSync, readFileSync } from 'node:fs';
    const load = (name) => import(${JSON.stringify(dist)} + name);
    const [{ openCursors }, { openInbox }, { createKnownThreads }, { listen }, { connectRest }, { openGateway },
      { openThreadChannel }, { readJson, writeJson }, { openHome }, { loadLocalServer }, { silentLog }, { gatewaySessionSchema }] =
      await Promise.all(['bridge/inbox.js', 'bridge/inbox.js', 'threads/connections.js', 'bridge/listen.js',
        'discord/rest.js', 'discord/gateway.js', 'discord/threads.js', 'home/atomic-write.js', 'home/home.js',
        'home/config-file.js', 'core/log.js', 'discord/payloads.js'].map(load));
    const home = openHome(process.argv[2]);
    const server = loadLocalServer(home);
    const rest = connectRest(server);
    const place = await openThreadChannel(rest, server.channel);
    const cursors = openCursors(home.path('cursors.json'));
    const inbox = openInbox(home.folder('inbox'), cursors);
    const record = process.argv[3];
    const act = (message) => {
      const noted = existsSync(record) ? readFileSync(record, 'utf8').split('\\n') : [];
      if (!noted.includes(message.text)) appendFileSync(record, message.text + '\\n');
      inbox.done(message);
    };
    for (const message of inbox.left()) act(message);
    const path = home.path('gateway.json');
    openGateway({ rest, token: server.token, intents: 33281, hurry: 20,
      load: () => readJson(path, gatewaySessionSchema), save: (session) => writeJson(path, session), onFatal: () => process.exit(1),
      handle: listen({ server, rest, channels: [server.channel], threads: createKnownThreads(rest, [place]), cursors, inbox,
        log: silentLog, signal: new AbortController().signal, onAccepted: act, meaningOf: () => ({ kind: 'message' }) }) });
    console.log('up');`;
  const file = home.path('taker.mjs');
  writeFileSync(file, script);
  const child = spawn(process.execPath, [file, home.root, record].filter(Boolean), {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}
