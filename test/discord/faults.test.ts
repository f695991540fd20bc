// The client against a server that fails in every known way: nothing is lost, and nothing is repeated.

import { describe, expect, it, vi } from 'vitest';
import { stableNonce } from '../../core/snowflake.ts';
import type { GatewaySession } from '../../discord/gateway-state.ts';
import { createMessage } from '../../discord/messages.ts';
import { activeThreads, ensureThread, openThreadChannel } from '../../discord/threads.ts';
import type { Fault } from '../support/as-discord.mjs';
import { listenTo, restOf } from '../support/client.ts';
import { startTestWorkspace, type TestWorkspace } from '../support/workspace.ts';

/** A random number generator with a seed, so that a failure can be repeated. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const FAULTS: readonly Fault[] = [
  { kind: 'answer', status: 500 },
  { kind: 'answer', status: 502, body: '<html>Bad Gateway</html>' },
  { kind: 'reset' },
  { kind: 'apply-then-reset' },
  { kind: 'apply-then-answer', status: 500 },
  { kind: 'limited', retryAfterMs: 60, scope: 'user' },
  { kind: 'limited', retryAfterMs: 40, scope: 'shared' },
  { kind: 'limited', retryAfterMs: 30, scope: 'global' },
];
const RARE: readonly Fault[] = [{ kind: 'silence' }, { kind: 'apply-then-silence' }];

describe('the client, posting to a server that fails,', () => {
  it('delivers 400 posts exactly once and in order in each thread', async () => {
    const random = dice(42);
    const counts: Record<string, number> = {};
    let faulty = 0;
    const workspace = await startTestWorkspace({
      rateLimits: { perBucket: 12, windowMs: 250, globalPerSecond: 400 },
      faults: {
        onRequest({ method, path }) {
          if (method !== 'POST' || !path.endsWith('/messages')) return undefined;
          if (random() > 0.12) return undefined;
          // Each silent answer costs a time-out, so only one in fifteen is silent.
          const from = faulty % 15 === 14 ? RARE : FAULTS;
          const fault = from[(from === RARE ? Math.floor(faulty / 15) : faulty) % from.length];
          faulty++;
          if (fault !== undefined) counts[fault.kind] = (counts[fault.kind] ?? 0) + 1;
          return fault;
        },
      },
    });
    const rest = restOf(workspace, { timeoutMs: 700, perSecond: 400 });
    const place = await openThreadChannel(rest, workspace.channelId);
    const threads = await Promise.all(
      Array.from({ length: 20 }, (_, n) => ensureThread(place, `[agent] s${n}`, 'Welcome')),
    );
    const post = (thread: string, n: number) =>
      createMessage(rest, thread, stableNonce(thread, n), { content: `post ${n}` });
    await Promise.all(threads.flatMap(({ id }) => Array.from({ length: 20 }, (_, n) => post(id, n))));

    const wanted = Array.from({ length: 20 }, (_, n) => `post ${n}`);
    for (const { id } of threads) {
      const messages = await workspace.person.messages(id);
      const ours = messages.filter(({ type }) => type === 0).map(({ content }) => content);
      expect(ours.reverse()).toEqual(wanted);
    }
    for (const { kind } of [...FAULTS, ...RARE]) expect(counts[kind], kind).toBeGreaterThan(0);
  });

  it('creates one thread when many callers race for it, even when answers are lost', async () => {
    const random = dice(7);
    const workspace = await startTestWorkspace({
      faults: {
        onRequest: ({ method }) => (method === 'POST' && random() < 0.3 ? { kind: 'apply-then-reset' } : undefined),
      },
    });
    const racers = await Promise.all(
      Array.from({ length: 8 }, () => openThreadChannel(restOf(workspace), workspace.channelId)),
    );
    const threads = await Promise.all(racers.map((place) => ensureThread(place, '[agent] web', 'Welcome')));
    expect(new Set(threads.map(({ id }) => id)).size).toBe(1);
    expect(await activeThreads(racers[0] as never)).toHaveLength(1);
  });

  it('stops sending after the token was refused', async () => {
    let requests = 0;
    const workspace = await startTestWorkspace({ faults: { onRequest: () => void requests++ } });
    const rest = restOf(workspace, { token: 'wrong' });
    for (let n = 0; n < 3; n++)
      await expect(rest.call('GET', '/users/@me')).rejects.toMatchObject({ code: 'discord_unauthorized' });
    expect(requests).toBeLessThanOrEqual(1);
  });

  it('pauses every route after a ban', async () => {
    let banned = true;
    const workspace = await startTestWorkspace({
      faults: { onRequest: () => (banned ? { kind: 'banned', as: 'html' } : undefined) },
    });
    const rest = restOf(workspace);
    const stop = new AbortController();
    const first = rest.call('GET', '/users/@me', { signal: stop.signal }).catch(() => 'stopped');
    await vi.waitFor(() => expect(banned).toBe(true));
    await new Promise((resolve) => setTimeout(resolve, 100)); // the ban has to arrive first
    banned = false;
    const second = rest.call('GET', '/gateway', { signal: stop.signal }).catch(() => 'stopped');
    const raced = await Promise.race([first, second, new Promise((r) => setTimeout(r, 500, 'waiting'))]);
    expect(raced).toBe('waiting');
    stop.abort();
    expect(await Promise.all([first, second])).toEqual(['stopped', 'stopped']);
  });

  it('gives up after its time limit, says what it tried, and never shows the token', async () => {
    const rest = restOf({ token: 'sekret-token', api: 'http://127.0.0.1:9/api/v10' } as TestWorkspace, {
      patienceMs: 300,
    });
    const error = await rest.call('GET', '/users/@me').catch((e: unknown) => e);
    expect(error).toMatchObject({ code: 'discord_unreachable', message: expect.stringContaining('GET /users/@me') });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('sekret');
  });

  it('does not repeat a post that carries no nonce and may have arrived', async () => {
    let posts = 0;
    const workspace = await startTestWorkspace({
      faults: {
        onRequest: ({ method }) => {
          if (method !== 'POST') return undefined;
          posts++;
          return { kind: 'apply-then-reset' };
        },
      },
    });
    const call = restOf(workspace).call('POST', `/channels/${workspace.channelId}/messages`, {
      body: { content: 'x' },
    });
    await expect(call).rejects.toMatchObject({ code: 'discord_unreachable' });
    expect(posts).toBe(1);
  });

  it('does not treat a deleted post as a failure', async () => {
    const workspace = await startTestWorkspace();
    const rest = restOf(workspace);
    const posted = await createMessage(rest, workspace.channelId, 'once', { content: 'x' });
    await workspace.bot('DELETE', `/channels/${workspace.channelId}/messages/${posted?.id}`);
    expect(await createMessage(rest, workspace.channelId, 'once', { content: 'x' })).toBeUndefined();
  });
});

describe('the client, listening to a server that fails,', () => {
  const says = async (workspace: TestWorkspace, from: number, to: number) => {
    for (let n = from; n < to; n++) await workspace.person.say(workspace.channelId, `m${n}`);
  };
  const range = (to: number) => Array.from({ length: to }, (_, n) => `m${n}`);

  it.each<[string, (workspace: TestWorkspace) => void]>([
    ['a cut socket', (w) => w.gateway.cutAll()],
    ['a request to reconnect', (w) => w.gateway.sendReconnect()],
    ['an invalid session that may be resumed', (w) => w.gateway.invalidateSession(true)],
    ['a heartbeat asked for', (w) => w.gateway.requestHeartbeat()],
    ...[1006, 4000, 4001, 4002].map((code): [string, (w: TestWorkspace) => void] => [
      `close code ${code}`,
      (w) => (code === 1006 ? w.gateway.cutAll() : w.gateway.closeAll(code)),
    ]),
  ])('handles every event once, in order, through %s', async (_, fault) => {
    const workspace = await startTestWorkspace();
    const listener = listenTo(workspace, restOf(workspace));
    await vi.waitFor(() => expect(listener.gateway.state().at).toBe('live'));
    await says(workspace, 0, 5);
    fault(workspace);
    await says(workspace, 5, 10);
    await vi.waitFor(() => expect(listener.named('MESSAGE_CREATE')).toHaveLength(10), 20_000);
    expect(listener.named('MESSAGE_CREATE').map(({ data }) => data.content)).toEqual(range(10));
    expect(listener.named('READY')).toHaveLength(1);
  });

  it('notices a connection that no longer acknowledges heartbeats', async () => {
    const workspace = await startTestWorkspace({ heartbeatMs: 150 });
    const listener = listenTo(workspace, restOf(workspace));
    await vi.waitFor(() => expect(listener.gateway.state().at).toBe('live'));
    workspace.gateway.stopAcking(true);
    await vi.waitFor(() => expect(listener.gateway.state().at).not.toBe('live'), 20_000);
    workspace.gateway.stopAcking(false);
    await vi.waitFor(() => expect(listener.named('RESUMED').length).toBeGreaterThan(0), 20_000);
  });

  it.each([4007, 4009])('sends a new identify after close code %i', async (code) => {
    const workspace = await startTestWorkspace();
    const listener = listenTo(workspace, restOf(workspace));
    await vi.waitFor(() => expect(listener.gateway.state().at).toBe('live'));
    workspace.gateway.closeAll(code);
    await vi.waitFor(() => expect(listener.named('READY')).toHaveLength(2), 20_000);
  });

  it('sends a new identify when its session is gone', async () => {
    const workspace = await startTestWorkspace();
    const store: { session: GatewaySession | undefined } = {
      session: { id: 'long-gone', resumeUrl: `${workspace.botUrl.replace('http', 'ws')}/gateway`, seq: 3 },
    };
    const listener = listenTo(workspace, restOf(workspace), { store });
    await vi.waitFor(() => expect(listener.named('READY')).toHaveLength(1), 20_000);
    await vi.waitFor(() => expect(store.session?.id).not.toBe('long-gone'));
  });

  it('sends a new identify when the resume address no longer answers', async () => {
    const workspace = await startTestWorkspace();
    const store = { session: { id: 's', resumeUrl: 'ws://127.0.0.1:9/gateway', seq: 3 } };
    const listener = listenTo(workspace, restOf(workspace), { store });
    await vi.waitFor(() => expect(listener.named('READY')).toHaveLength(1), 15_000);
  });

  it.each([
    ['a wrong token', { token: 'wrong' }, /refused the bot token/],
    ['an intent that is not allowed', { intents: 34_305 }, /Message Content Intent/],
    ['intents that do not exist', { intents: 2 ** 40 }, /refused the intents/],
  ])('stops with a sentence on %s', async (_, options, sentence) => {
    const workspace = await startTestWorkspace({ messageContentIntent: false });
    const listener = listenTo(workspace, restOf(workspace), options);
    await vi.waitFor(() => expect(listener.fatal).toHaveLength(1), 20_000);
    expect(listener.fatal[0]).toMatchObject({ code: 'discord_fatal', hint: expect.stringMatching(sentence) });
    expect(listener.gateway.state().at).toBe('stopped');
  });

  it('does not identify when the daily limit is used up', async () => {
    const workspace = await startTestWorkspace({ identifyLimit: { total: 1 } });
    const first = listenTo(workspace, restOf(workspace));
    await vi.waitFor(() => expect(first.gateway.state().at).toBe('live'));
    const identifies = () => workspace.gateway.received.filter((op) => op === 2).length;
    expect(identifies()).toBe(1);
    const second = listenTo(workspace, restOf(workspace));
    await new Promise((resolve) => setTimeout(resolve, 800)); // long enough for a client that does not wait
    expect(identifies()).toBe(1);
    expect(second.gateway.state().at).toBe('waiting');
  });
});
