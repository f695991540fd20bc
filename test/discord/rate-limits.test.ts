import { describe, expect, it } from 'vitest';
import { createRateLimits } from '../../discord/rate-limits.ts';
import { isRepeatable, routeOf } from '../../discord/route.ts';

const A = '111111111111111111';
const B = '222222222222222222';
const post = (channel: string) => routeOf('POST', `/channels/${channel}/messages`);
const headers = (remaining: number, resetAfter = 2, bucket = 'hash') => ({
  'x-ratelimit-bucket': bucket,
  'x-ratelimit-limit': '5',
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset-after': String(resetAfter),
});

describe('rate limits', () => {
  it('let the first request go', () => {
    expect(createRateLimits().waitMs(post(A), 0)).toBe(0);
  });

  it('make the next request wait before the server has to refuse it', () => {
    const limits = createRateLimits();
    limits.learned(post(A), headers(0), 1_000);
    expect(limits.waitMs(post(A), 1_000)).toBe(2_050);
    expect(limits.waitMs(post(A), 3_050)).toBe(0);
  });

  it('are counted for each channel apart', () => {
    const limits = createRateLimits();
    limits.learned(post(A), headers(0), 0);
    expect(limits.waitMs(post(B), 0)).toBe(0);
  });

  it('are shared by routes with the same bucket hash', () => {
    const limits = createRateLimits();
    const edit = routeOf('PATCH', `/channels/${A}/messages/${B}`);
    limits.learned(edit, headers(3), 0);
    limits.learned(post(A), headers(0), 0);
    expect(limits.waitMs(edit, 0)).toBeGreaterThan(0);
  });

  it('count requests that are still under way', () => {
    const limits = createRateLimits();
    limits.learned(post(A), headers(2), 0);
    limits.sent(post(A), 0);
    expect(limits.waitMs(post(A), 0)).toBe(0);
    limits.sent(post(A), 0);
    expect(limits.waitMs(post(A), 0)).toBeGreaterThan(0);
  });

  it('start afresh when the window is over', () => {
    const limits = createRateLimits();
    limits.learned(post(A), headers(0), 0);
    limits.sent(post(A), 3_000);
    expect(limits.waitMs(post(A), 3_000)).toBe(0);
  });

  it('hold back one route after its refusal, and nothing else', () => {
    const limits = createRateLimits();
    limits.blocked(post(A), 'route', 600_000, 0);
    expect(limits.waitMs(post(A), 0)).toBe(600_050);
    expect(limits.waitMs(post(B), 0)).toBe(0);
    expect(limits.waitMs(routeOf('PATCH', `/channels/${A}`), 0)).toBe(0);
  });

  it('hold back everything after a global refusal, but no interaction', () => {
    const limits = createRateLimits();
    limits.blocked(post(A), 'everything', 60_000, 0);
    expect(limits.waitMs(post(B), 0)).toBe(60_000);
    expect(limits.waitMs(routeOf('POST', `/interactions/${A}/token/callback`), 0)).toBe(0);
  });

  it('never send more than fifty requests a second', () => {
    const limits = createRateLimits();
    for (let n = 0; n < 50; n++) limits.sent(post(String(10n ** 17n + BigInt(n))), 500);
    expect(limits.waitMs(post(A), 500)).toBe(1_000);
    expect(limits.waitMs(post(A), 1_500)).toBe(0);
  });

  it('ignore answers that say nothing about limits', () => {
    const limits = createRateLimits();
    limits.learned(post(A), {}, 0);
    expect(limits.waitMs(post(A), 0)).toBe(0);
  });
});

describe('routes', () => {
  it.each([
    ['GET', `/channels/${A}/messages?after=${B}`, `GET /channels/:id/messages`, A],
    [
      'PUT',
      `/channels/${A}/messages/${B}/reactions/%F0%9F%91%80/@me`,
      'PUT /channels/:id/messages/:id/reactions/:any',
      A,
    ],
    ['GET', `/guilds/${A}/threads/active`, 'GET /guilds/:id/threads/active', A],
    ['POST', `/webhooks/${A}/tok`, 'POST /webhooks/:id/:token', `${A}/tok`],
    ['POST', `/interactions/${A}/tok/callback`, 'POST /interactions/:id/:token/callback', ''],
    ['GET', '/users/@me', 'GET /users/@me', ''],
  ] as const)('%s %s is counted as %s', (method, path, key, major) => {
    expect(routeOf(method, path)).toMatchObject({ key, major });
  });

  it('keep a rename, which may have to wait ten minutes, apart from archiving', () => {
    const rename = routeOf('PATCH', `/channels/${A}`, { name: 'x' });
    expect(rename.key).not.toBe(routeOf('PATCH', `/channels/${A}`, { archived: true }).key);
  });

  it.each([
    ['GET', '/users/@me', undefined, true],
    ['PATCH', `/channels/${A}`, { name: 'x' }, true],
    ['POST', `/channels/${A}/messages`, { content: 'x', nonce: '1', enforce_nonce: true }, true],
    ['POST', `/channels/${A}/messages`, { content: 'x' }, false],
    ['POST', `/channels/${A}/messages/${B}/threads`, { name: 'x' }, true],
    ['POST', `/webhooks/${A}/tok`, { content: 'x' }, false],
  ] as const)('%s %s with %j may be repeated: %s', (method, path, body, expected) => {
    expect(isRepeatable(method, path, body)).toBe(expected);
  });
});
