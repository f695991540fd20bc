// "notify" in the configuration: a POST when a session needs a person, is done or has failed.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startWebhooks } from '../../bridge/webhooks.ts';
import { maskedConfig, parseConfig } from '../../core/config.ts';
import { silentLog } from '../../core/log.ts';
import { webhookEvent, webhookRequest } from '../../core/webhook.ts';
import { fixture } from '../support/hook-process.ts';
import { startSetting, WAIT } from './bridge-setup.ts';

interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Refuses the first requests to each path. */
async function startReceiver(refused = 0) {
  const received: Received[] = [];
  const tries = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const path = request.url ?? '';
    const body = await text(request);
    tries.set(path, (tries.get(path) ?? 0) + 1);
    const isRefused = (tries.get(path) ?? 0) <= refused;
    if (!isRefused) received.push({ path, headers: request.headers, body });
    response.writeHead(isRefused ? 503 : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { received, url: (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}` };
}

describe('when a notification is sent', () => {
  it.each([
    ['working', 'needs_person', false, 'needs you'],
    ['idle', 'needs_person', false, 'needs you'],
    ['working', 'idle', false, 'done'],
    ['working', 'idle', true, 'failed'],
    ['needs_person', 'needs_person', false, undefined],
    ['needs_person', 'idle', false, undefined],
    ['starting', 'idle', false, undefined],
    [undefined, 'idle', false, undefined],
    ['idle', 'working', false, undefined],
    ['working', 'ended', false, undefined],
  ])('from %s to %s, failed %s: %s', (before, now, hasFailed, event) => {
    expect(webhookEvent(before, now, hasFailed)).toBe(event);
  });

  it('ntfy gets a title, a priority and a text', () => {
    const news = { event: 'needs you', session: 'läden', host: 'here', for: 'plan', thread: '1', at: 0 } as const;
    const { headers, body } = webhookRequest({ url: 'http://x', format: 'ntfy' }, news);
    expect(body).toBe('läden on here needs you (plan)');
    expect(headers).toMatchObject({ title: 'threadmux', priority: 'high', tags: 'bell' });
    expect(Object.values(headers).join('')).toMatch(/^[ -~]*$/);
  });

  it.each([
    ['http://me:odd%2Bpass%20w%C3%B6rd@x/topic?a=1', 'me:odd+pass wörd'],
    ['http://tk_0123456789@x/topic?a=1', 'tk_0123456789:'],
    ['http://:100%25zz%zz@x/topic?a=1', ':100%25zz%zz'],
    ['http://x/topic?a=1', undefined],
  ])('the user and the password of %s are a header', (url, credentials) => {
    const news = { event: 'done', session: 'a', host: 'here', for: null, thread: '1', at: 0 } as const;
    const { address, headers } = webhookRequest({ url, format: 'json' }, news);
    expect(address).toBe('http://x/topic?a=1');
    const basic = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
    expect(headers.authorization).toBe(basic);
  });

  it.each(['json', 'ntfy'] as const)('the text has no link, no mention and no Markdown of a host, as %s', (format) => {
    const news = {
      session: '<!channel>',
      for: 'dialog: @all [Tap](https://example.invalid)\u202e **b** ~c~ ||d||',
    } as const;
    const { body } = webhookRequest(
      { url: 'http://x', format },
      { ...news, event: 'needs you', host: 'far', thread: '1', at: 0 },
    );
    const text = "'!channel' on far needs you (dialog: 'all 'Tap'(https://example.invalid)⟨U+202E⟩ ''b'' 'c' ''d'')";
    expect(format === 'json' ? JSON.parse(body).text : body).toBe(text);
    if (format === 'json') expect(JSON.parse(body)).toMatchObject(news);
  });
});

describe('the bridge', () => {
  it('posts what happens, tries again after a failure, and never names the whole address', async () => {
    const receiver = await startReceiver(1);
    const notify = [
      { url: receiver.url('/secret-json'), on: ['needs you', 'done', 'failed'] },
      { url: receiver.url('/secret-topic').replace('//', '//me:secret-word@'), on: ['needs you'], format: 'ntfy' },
    ];
    const setting = await startSetting({ file: { notify } });
    const claude = await setting.claude('web');
    await claude.tell('dialog', 'rm -rf /');
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), WAIT);
    const json = receiver.received.find(({ path }) => path === '/secret-json');
    expect(JSON.parse(json?.body ?? '')).toMatchObject({
      event: 'needs you',
      session: 'web',
      host: 'laptop',
      for: 'permission',
      thread: claude.thread,
    });
    expect(receiver.received.find(({ path }) => path === '/secret-topic')).toMatchObject({
      body: 'web on laptop needs you (permission)',
      headers: { authorization: `Basic ${btoa('me:secret-word')}` },
    });
    await claude.tell('close');
    await claude.tell('busy');
    await vi.waitFor(() => expect(setting.bridge.states.get(claude.thread)?.state).toBe('working'), WAIT);
    const { claudeSession, transcript } = claude.record();
    const facts = { session_id: claudeSession, transcript_path: transcript, prompt_id: 'none' };
    setting.machine.drop(setting.machine.paneEnv('=web:'), { ...fixture('StopFailure'), ...facts });
    await vi.waitFor(() => expect(claude.record().failedAt).toBeDefined(), WAIT);
    await claude.tell('idle');
    await vi.waitFor(() => {
      const events = receiver.received
        .filter(({ path }) => path === '/secret-json')
        .map(({ body }) => JSON.parse(body).event);
      expect(events).toContain('failed');
    }, WAIT);
    expect(setting.log.join('\n')).toContain('a notification was not taken');
    expect(setting.log.join('\n')).not.toMatch(/secret-|Basic/);
  });

  it('the configuration shows no whole address', () => {
    const file = { path: 'c', text: JSON.stringify({ notify: [{ url: 'https://ntfy.sh/my-secret?token=1' }] }) };
    const config = parseConfig({ env: {}, hostname: 'here', file });
    expect(JSON.stringify(maskedConfig(config))).not.toMatch(/my-secret|token=1/);
    expect(config.notify[0]?.on).toEqual(['needs you', 'done', 'failed']);
    const wrong = { path: 'c', text: JSON.stringify({ notify: [{ url: 'ftp://x' }] }) };
    expect(() => parseConfig({ env: {}, hostname: 'here', file: wrong })).toThrow(/notify\[0\]\.url must be a URL/);
  });
});

it('another host has at most 30 notifications in a minute, and this machine always gets through', async () => {
  const receiver = await startReceiver();
  const notify = [{ url: receiver.url('/all'), on: ['needs you'], format: 'json' }];
  let tell = (_thread: string, _state: object) => {};
  const states = {
    onState(listener: (thread: string, state: never) => void) {
      tell = (thread, state) => listener(thread, state as never);
    },
  };
  const registry = { get: (thread: string) => ({ host: thread, sessionName: 'web', failedAt: 0, at: 1 }) };
  const parts = { config: { notify, host: 'laptop' }, threads: { registry }, log: silentLog };
  const webhooks = startWebhooks(parts as never, states as never, new Map());
  onTestFinished(() => webhooks.close());
  for (let at = 0; at < 200; at++) {
    tell('far', { state: 'needs_person', since: 1 });
    tell('far', { state: 'idle', since: 1 });
  }
  for (let at = 0; at < 40; at++) {
    tell('laptop', { state: 'needs_person', since: 1 });
    tell('laptop', { state: 'idle', since: 1 });
  }
  const of = (host: string) => receiver.received.filter(({ body }) => JSON.parse(body).host === host).length;
  await vi.waitFor(() => expect([of('far'), of('laptop')]).toEqual([30, 40]), WAIT);
});
