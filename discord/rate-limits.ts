// What the server taught us about its limits, so that we wait before it has to say no.
// Time is passed in; nothing here sleeps.

import type { Route } from './route.ts';

/** The reset is measured when the answer was made; it takes a moment to reach us. */
const MARGIN_MS = 50;
const GLOBAL_PER_SECOND = 50;
const BUCKETS_KEPT = 1_000;

export interface RateLimits {
  /** How long this request has to wait from now. Zero: send it, and say so with `sent`. */
  waitMs(route: Route, now: number): number;
  sent(route: Route, now: number): void;
  learned(route: Route, headers: Headers, now: number): void;
  /** The server said no to one route, or to everything. */
  blocked(route: Route, scope: 'route' | 'everything', ms: number, now: number): void;
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

interface Bucket {
  remaining: number;
  limit: number;
  resetAt: number;
}

export function createRateLimits(): RateLimits {
  const hashes = new Map<string, string>(); // route key -> bucket hash
  const buckets = new Map<string, Bucket>(); // hash and major id -> what is left
  const blocks = new Map<string, number>(); // route and major id -> blocked until
  let everythingBlockedUntil = 0;
  let window = { since: Number.NEGATIVE_INFINITY, sent: 0 };

  const bucketKey = (route: Route) => `${hashes.get(route.key) ?? route.key}:${route.major}`;
  const routeKey = (route: Route) => `${route.key}:${route.major}`;

  return {
    waitMs(route, now) {
      if (route.urgent) return Math.max(0, (blocks.get(routeKey(route)) ?? 0) - now);
      const bucket = buckets.get(bucketKey(route));
      const until = Math.max(
        everythingBlockedUntil,
        blocks.get(routeKey(route)) ?? 0,
        bucket !== undefined && bucket.remaining <= 0 ? bucket.resetAt : 0,
        window.sent >= GLOBAL_PER_SECOND ? window.since + 1_000 : 0,
      );
      return Math.max(0, until - now);
    },

    sent(route, now) {
      if (route.urgent) return;
      if (now - window.since >= 1_000) window = { since: now, sent: 0 };
      window.sent++;
      const bucket = buckets.get(bucketKey(route));
      if (bucket === undefined) return;
      if (now >= bucket.resetAt) bucket.remaining = bucket.limit;
      bucket.remaining--;
    },

    learned(route, headers, now) {
      const hash = text(headers['x-ratelimit-bucket']);
      const remaining = number(headers['x-ratelimit-remaining']);
      const resetAfter = number(headers['x-ratelimit-reset-after']);
      if (hash === undefined || remaining === undefined || resetAfter === undefined) return;
      hashes.set(route.key, hash);
      const resetAt = now + resetAfter * 1_000 + MARGIN_MS;
      const limit = number(headers['x-ratelimit-limit']) ?? 1;
      buckets.set(bucketKey(route), { remaining, limit, resetAt });
      if (buckets.size > BUCKETS_KEPT) forget(buckets, (bucket) => bucket.resetAt < now);
    },

    blocked(route, scope, ms, now) {
      if (scope === 'everything')
        everythingBlockedUntil = Math.max(everythingBlockedUntil, now + ms);
      else blocks.set(routeKey(route), now + ms + MARGIN_MS);
      if (blocks.size > BUCKETS_KEPT) forget(blocks, (until) => until < now);
    },
  };
}

function forget<V>(map: Map<string, V>, isOver: (value: V) => boolean): void {
  for (const [key, value] of map) if (isOver(value)) map.delete(key);
}

function text(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function number(header: string | string[] | undefined): number | undefined {
  const value = Number(text(header) ?? Number.NaN);
  return Number.isFinite(value) ? value : undefined;
}
