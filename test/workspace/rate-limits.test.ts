import { describe, expect, it } from 'vitest';
import { startTestWorkspace } from '../support/workspace.ts';

const tight = { perBucket: 2, windowMs: 60_000, globalPerSecond: 1000 };

describe('rate limits', () => {
  it('are in every answer and end in a 429 that says how long to wait', async () => {
    const workspace = await startTestWorkspace({ rateLimits: tight });
    const path = `/channels/${workspace.channelId}/messages`;
    const first = await workspace.bot('POST', path, { content: 'one' });
    expect(first.headers.get('x-ratelimit-limit')).toBe('2');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('1');
    expect(Number(first.headers.get('x-ratelimit-reset-after'))).toBeGreaterThan(59);
    const refused = await workspace.bot('POST', path, { content: '' });
    expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([400, '0']);

    const limited = await workspace.bot('POST', path, { content: 'three' });
    expect(limited).toMatchObject({ status: 429, body: { global: false, retry_after: expect.any(Number) } });
    expect(limited.headers.get('x-ratelimit-scope')).toBe('user');
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThanOrEqual(limited.body.retry_after);
    expect(limited.headers.get('x-ratelimit-bucket')).toBe(first.headers.get('x-ratelimit-bucket'));
    expect(await workspace.person.messages(workspace.channelId)).toHaveLength(1);
  });

  it('are counted per thread, under the same bucket', async () => {
    const workspace = await startTestWorkspace({ rateLimits: tight });
    const say = (channel: string) => workspace.bot('POST', `/channels/${channel}/messages`, { content: 'x' });
    const message = await say(workspace.channelId);
    const thread = await workspace.person.startThread(workspace.channelId, message.body.id, 't');
    await say(workspace.channelId);
    expect((await say(workspace.channelId)).status).toBe(429);
    const inThread = await say(thread.id);
    expect(inThread.status).toBe(200);
    expect(inThread.headers.get('x-ratelimit-bucket')).toBe(message.headers.get('x-ratelimit-bucket'));
  });

  it('apply to everything together', async () => {
    const workspace = await startTestWorkspace({ rateLimits: { perBucket: 100, windowMs: 1000, globalPerSecond: 3 } });
    const answers = await Promise.all(Array.from({ length: 6 }, () => workspace.bot('GET', '/users/@me')));
    const limited = answers.find(({ status }) => status === 429);
    expect(limited?.body).toMatchObject({ global: true });
    expect(limited?.headers.get('x-ratelimit-global')).toBe('true');
    expect(limited?.headers.get('x-ratelimit-scope')).toBe('global');
  });

  it('do not apply to the user and to interaction callbacks', async () => {
    const workspace = await startTestWorkspace({ rateLimits: { perBucket: 1, windowMs: 60_000, globalPerSecond: 1 } });
    for (let n = 0; n < 5; n++) await workspace.person.say(workspace.channelId, `${n}`);
    for (let n = 0; n < 5; n++) {
      const answer = await workspace.bot('POST', '/interactions/1/x/callback', { type: 4 });
      expect(answer.body.code).toBe(10062);
    }
  });
});
