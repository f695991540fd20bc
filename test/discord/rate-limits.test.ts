import { describe, expect, it } from 'vitest';
import { createRateLimits, type Endpoint, endpointOf, type RateLimits } from '../../discord/rate-limits.ts';
import { isRepeatable } from '../../discord/rest.ts';

const A = '111111111111111111';
const B = '222222222222222222';
const post = (channel: string) => endpointOf('POST', `/channels/${channel}/messages`);
const headers = (remaining: number, resetAfter = 2, bucket = 'hash') => ({
  'x-ratelimit-bucket': bucket,
  'x-ratelimit-limit': '5',
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset-after': String(resetAfter),
});

const callback = endpointOf('POST', `/interactions/${A}/token/callback`);

/** How long a request waits if it is the only one. */
const waitMs = (limits: RateLimits, route: Endpoint, now: number) => {
  const next = limits.next([{ route }], now);
  return 'waitMs' in next ? next.waitMs : 0;
};
/** Sends a request and receives its answer at the same moment. */
const answered = (limits: RateLimits, route: Endpoint, told: object, now: number, status = 200) =>
  limits.ended(limits.sent(route, now), { status, headers: { ...told } }, now);
const channels = (count: number) => Array.from({ length: count }, (_, n) => post(String(10n ** 17n + BigInt(n))));

describe('rate limits', () => {
  it('allow the first request', () => {
    expect(waitMs(createRateLimits(), post(A), 0)).toBe(0);
  });

  it('delay the next request before the server has to refuse it', () => {
    const limits = createRateLimits();
    answered(limits, post(A), headers(0), 1_000);
    expect(waitMs(limits, post(A), 1_000)).toBe(2_050);
    expect(waitMs(limits, post(A), 3_050)).toBe(0);
  });

  it('are counted per channel', () => {
    const limits = createRateLimits();
    answered(limits, post(A), headers(0), 0);
    expect(waitMs(limits, post(B), 0)).toBe(0);
  });

  it('are shared by routes with the same bucket hash', () => {
    const limits = createRateLimits();
    const edit = endpointOf('PATCH', `/channels/${A}/messages/${B}`);
    answered(limits, edit, headers(3), 0);
    answered(limits, post(A), headers(0), 0);
    expect(waitMs(limits, edit, 0)).toBeGreaterThan(0);
  });

  it('allow one request at a time per channel where nothing is known', () => {
    const limits = createRateLimits();
    const first = limits.sent(post(A), 0);
    expect(waitMs(limits, post(A), 0)).toBe(Number.POSITIVE_INFINITY);
    const other = limits.sent(post(B), 0);
    limits.ended(first, { status: 200, headers: headers(4) }, 100);
    expect(waitMs(limits, post(A), 100)).toBe(0);
    expect(waitMs(limits, post(B), 100)).toBe(Number.POSITIVE_INFINITY); // even if the hash is known by now
    limits.ended(other, undefined, 200); // no answer, so still nothing is known
    limits.sent(post(B), 200);
    expect(waitMs(limits, post(B), 200)).toBe(Number.POSITIVE_INFINITY);
  });

  it('count requests in flight, also when a window starts', () => {
    const limits = createRateLimits();
    answered(limits, post(A), headers(2), 0);
    limits.sent(post(A), 0);
    expect(waitMs(limits, post(A), 0)).toBe(0);
    limits.sent(post(A), 0);
    expect(waitMs(limits, post(A), 0)).toBe(2_050);
    for (let n = 0; n < 3; n++) {
      expect(waitMs(limits, post(A), 2_050)).toBe(0);
      limits.sent(post(A), 2_050);
    }
    expect(waitMs(limits, post(A), 2_050)).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    ['of the same window only if it is lower', 0, 1.9, 1_950],
    ['of a later window in any case', 2_200, 2, 0],
  ])('use the count of a late answer %s', (_, sentAt, resetAfter, wait) => {
    const limits = createRateLimits();
    answered(limits, post(A), headers(4), 0);
    const slow = limits.sent(post(A), sentAt);
    answered(limits, post(A), headers(0), sentAt === 0 ? 0 : 100);
    limits.ended(slow, { status: 200, headers: headers(1, resetAfter) }, Math.max(100, sentAt));
    expect(waitMs(limits, post(A), Math.max(100, sentAt))).toBe(wait);
  });

  it('pause only the refused route, for the longest time it was told', () => {
    const limits = createRateLimits();
    limits.blocked(post(A), 'route', 600_000, 0);
    limits.blocked(post(A), 'route', 1_000, 10);
    expect(waitMs(limits, post(A), 0)).toBe(600_050);
    expect(waitMs(limits, post(B), 0)).toBe(0);
    expect(waitMs(limits, endpointOf('PATCH', `/channels/${A}`), 0)).toBe(0);
  });

  it('pause everything except interactions after a global refusal', () => {
    const limits = createRateLimits();
    limits.blocked(post(A), 'everything', 60_000, 0);
    limits.blocked(post(A), 'everything', 1_000, 10);
    expect(waitMs(limits, post(B), 0)).toBe(60_050);
    expect(waitMs(limits, callback, 0)).toBe(0);
  });

  it('allow at most 45 requests in any second of the server, however late it answers', () => {
    const limits = createRateLimits();
    const tickets = channels(45).map((route) => limits.sent(route, 0));
    expect(waitMs(limits, post(A), 5_000)).toBe(Number.POSITIVE_INFINITY); // the server may count them at any moment
    expect(waitMs(limits, callback, 0)).toBe(0);
    for (const ticket of tickets) limits.ended(ticket, { status: 200, headers: {} }, 5_000);
    expect(waitMs(limits, post(A), 5_000)).toBe(1_050);
    expect(waitMs(limits, post(A), 6_050)).toBe(0);
  });

  it('free a slot as soon as possible', () => {
    const limits = createRateLimits();
    for (const [n, route] of channels(45).entries()) answered(limits, route, {}, n * 10);
    expect(waitMs(limits, post(A), 450)).toBe(600);
    limits.sent(post(A), 1_050);
    expect(waitMs(limits, post(B), 1_050)).toBe(10);
  });

  it('treat an answer without limit headers as a route without a limit', () => {
    const limits = createRateLimits();
    answered(limits, post(A), {}, 0);
    limits.sent(post(A), 0);
    expect(waitMs(limits, post(A), 0)).toBe(0);
  });

  it('do not conclude that from a failed answer', () => {
    const limits = createRateLimits();
    answered(limits, post(A), {}, 0, 502);
    limits.sent(post(A), 0);
    expect(waitMs(limits, post(A), 0)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('the next request to send', () => {
  const read = (channel: string) => ({ route: endpointOf('GET', `/channels/${channel}/messages`) });
  const write = (channel: string) => ({ route: post(channel) });

  it('is the oldest of the kind that has waited longest for its turn', () => {
    const limits = createRateLimits();
    const waiting = [read('1'.repeat(17)), read('2'.repeat(17)), read(A), write(A), write(B)];
    const order: number[] = [];
    for (const left = [...waiting]; left.length > 0; ) {
      const next = limits.next(left, 0);
      if (!('send' in next)) throw new Error('nothing to send');
      limits.sent(next.send.route, 0);
      left.splice(left.indexOf(next.send), 1);
      order.push(waiting.indexOf(next.send));
    }
    expect(order).toEqual([0, 3, 1, 4, 2]);
  });

  it('skips what has to wait, and returns the shortest wait when everything has to', () => {
    const limits = createRateLimits();
    limits.blocked(post(A), 'route', 500, 0);
    expect(limits.next([write(A), write(B)], 0)).toEqual({ send: write(B) });
    limits.blocked(post(B), 'route', 200, 0);
    expect(limits.next([write(A), write(B)], 0)).toEqual({ waitMs: 250 });
  });
});

describe('refused requests', () => {
  const refuse = (limits: RateLimits, count: number, status: number, told: object = {}) => {
    for (let n = 0; n < count; n++) answered(limits, callback, told, 0, status);
  };

  it.each([401, 403, 429])('past 5,000 in ten minutes (%i) slow down everything that is not urgent', (status) => {
    const limits = createRateLimits();
    refuse(limits, 5_000, status);
    expect(limits.isSlowed(0)).toBe(false);
    refuse(limits, 1, status);
    expect(limits.isSlowed(0)).toBe(true);
    answered(limits, post(A), {}, 0);
    expect(waitMs(limits, post(B), 0)).toBe(1_050);
    expect(waitMs(limits, callback, 0)).toBe(0);
    expect(limits.isSlowed(599_000)).toBe(true);
    expect(limits.isSlowed(620_000)).toBe(false);
  });

  it('do not count if Discord does not count them', () => {
    const limits = createRateLimits();
    refuse(limits, 6_000, 429, { 'x-ratelimit-scope': 'shared' });
    refuse(limits, 6_000, 404);
    expect(limits.isSlowed(0)).toBe(false);
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
    expect(endpointOf(method, path)).toMatchObject({ key, major });
  });

  it('keep a rename, which may have to wait ten minutes, separate from archiving', () => {
    const rename = endpointOf('PATCH', `/channels/${A}`, { name: 'x' });
    expect(rename.key).not.toBe(endpointOf('PATCH', `/channels/${A}`, { archived: true }).key);
  });

  it.each([
    ['GET', '/users/@me', undefined, true],
    ['PATCH', `/channels/${A}`, { name: 'x' }, true],
    ['POST', `/channels/${A}/messages`, { content: 'x', nonce: '1', enforce_nonce: true }, true],
    ['POST', `/channels/${A}/messages`, { content: 'x' }, false],
    ['POST', `/channels/${A}/messages/${B}/threads`, { name: 'x' }, true],
    ['POST', `/webhooks/${A}/tok`, { content: 'x' }, false],
    ['POST', `/webhooks/${A}/tok`, { content: 'x', flags: 1 << 6 }, true], // only one user sees it
  ] as const)('%s %s with %j may be repeated: %s', (method, path, body, expected) => {
    expect(isRepeatable(method, path, body)).toBe(expected);
  });
});
