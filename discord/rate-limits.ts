// Learns the server's rate limits from its answers, so that we wait before it refuses. The time is passed in, from a
// monotonic clock.

/** Added to every wait: timers fire a little early, and a reset is rounded. */
const MARGIN_MS = 50;
/** Discord allows 50. The rest is for other processes with the same token, such as `doctor`. */
const GLOBAL_PER_SECOND = 45;
/** The limit while a ban by Discord is near. */
const SLOWED_PER_SECOND = 1;
const BUCKETS_KEPT = 1_000;

export interface RateLimits {
  /** The next request to send, or how long to wait; Infinity means until another request has ended. Kinds of requests take turns; within a kind, the oldest is first. */
  next<T extends { readonly route: Endpoint }>(
    waiting: readonly T[],
    now: number,
  ): { readonly send: T } | { readonly waitMs: number };
  /** Counts a request. Each must be ended, even without an answer. */
  sent(route: Endpoint, now: number): RateLimitTicket;
  ended(ticket: RateLimitTicket, answer: RateLimitAnswer | undefined, now: number): void;
  /** The server refused one route, or everything. */
  blocked(route: Endpoint, scope: 'route' | 'everything', ms: number, now: number): void;
  /** Too many requests were refused recently, so all that are not urgent are slowed down. */
  isSlowed(now: number): boolean;
}

export type RateLimitHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface RateLimitAnswer {
  readonly status: number;
  readonly headers: RateLimitHeaders;
}

export interface RateLimitTicket {
  readonly route: Endpoint;
  readonly sentAt: number;
  readonly bucket: Bucket | undefined;
}

interface Bucket {
  limit: number;
  remaining: number;
  resetAt: number;
  inFlight: number;
}

export function createRateLimits(perSecond = GLOBAL_PER_SECOND): RateLimits {
  const hashes = new Map<string, string>(); // route key -> bucket hash
  const buckets = new Map<string, Bucket>(); // hash and major id -> what is left
  const blocks = new Map<string, number>(); // route and major id -> blocked until
  const turns = new Map<string, number>(); // route key -> when it had its last turn, as a count
  const invalid = createInvalidCount();
  let everythingBlockedUntil = 0;
  let inFlight = 0;
  let ended: number[] = []; // when the requests of the last second ended
  let turn = 0;

  const bucketKey = (route: Endpoint) => `${hashes.get(route.key) ?? route.key}:${route.major}`;
  const routeKey = (route: Endpoint) => `${route.key}:${route.major}`;

  /** The server counts a request at some time between its sending and its answer, so it takes its place until a second after that. */
  function globalWaitMs(now: number): number {
    const window = 1_000 + MARGIN_MS;
    if (ended.length > 0 && (ended[0] as number) + window <= now) ended = ended.filter((at) => at + window > now);
    const allowed = invalid.isTooMany(now) ? SLOWED_PER_SECOND : perSecond;
    const excess = ended.length + inFlight - allowed;
    if (excess < 0) return 0;
    const leaves = ended[excess];
    return leaves === undefined ? Number.POSITIVE_INFINITY : leaves + window - now;
  }

  const commonWaitMs = (now: number) => Math.max(everythingBlockedUntil - now, globalWaitMs(now));

  function waitMs(route: Endpoint, now: number, commonMs: number): number {
    const blocked = (blocks.get(routeKey(route)) ?? 0) - now;
    if (route.urgent) return Math.max(0, blocked);
    const bucketMs = bucketWaitMs(buckets.get(bucketKey(route)), now);
    return Math.max(0, blocked, commonMs, bucketMs);
  }

  function learn({ route, sentAt, bucket }: RateLimitTicket, { status, headers }: RateLimitAnswer, now: number) {
    const hash = text(headers['x-ratelimit-bucket']);
    const remaining = number(headers['x-ratelimit-remaining']);
    const resetAfter = number(headers['x-ratelimit-reset-after']);
    if (hash === undefined || remaining === undefined || resetAfter === undefined) {
      if (status < 400 && bucket !== undefined && !hashes.has(route.key)) bucket.limit = Number.POSITIVE_INFINITY; // this route has no limit of its own
      return;
    }
    if (hashes.get(route.key) !== hash) adopt(route.key, hash);
    const known = bucketOf(route);
    const resetAt = now + resetAfter * 1_000 + MARGIN_MS;
    // Answers may arrive out of order: unless this one is certainly from a later window, the lower count is right.
    const isLater = now >= known.resetAt || sentAt + resetAfter * 1_000 > known.resetAt;
    known.limit = number(headers['x-ratelimit-limit']) ?? 1;
    known.remaining = isLater ? remaining : Math.min(known.remaining, remaining);
    known.resetAt = isLater ? resetAt : Math.max(known.resetAt, resetAt);
  }

  /** What is under way in other channels was counted under the route's own name until now. */
  function adopt(key: string, hash: string): void {
    hashes.set(key, hash);
    for (const [name, bucket] of [...buckets]) {
      if (!name.startsWith(`${key}:`)) continue;
      const renamed = `${hash}:${name.slice(key.length + 1)}`;
      buckets.delete(name);
      if (!buckets.has(renamed)) buckets.set(renamed, bucket);
    }
  }

  function bucketOf(route: Endpoint): Bucket {
    const key = bucketKey(route);
    // Nothing is known yet: send one at a time until the first answer.
    const bucket = buckets.get(key) ?? { limit: 1, remaining: 1, resetAt: 0, inFlight: 0 };
    buckets.set(key, bucket);
    return bucket;
  }

  return {
    next(waiting, now) {
      const commonMs = commonWaitMs(now);
      let soonest = Number.POSITIVE_INFINITY;
      let chosen: (typeof waiting)[number] | undefined;
      let waitedSince = Number.POSITIVE_INFINITY;
      for (const one of waiting) {
        const ms = waitMs(one.route, now, commonMs);
        soonest = Math.min(soonest, ms);
        const last = turns.get(one.route.key) ?? 0;
        if (ms > 0 || last >= waitedSince) continue;
        chosen = one;
        waitedSince = last;
      }
      return chosen === undefined ? { waitMs: soonest } : { send: chosen };
    },

    sent(route, now) {
      turns.set(route.key, ++turn);
      if (route.urgent) return { route, sentAt: now, bucket: undefined };
      inFlight++;
      const bucket = bucketOf(route);
      bucket.inFlight++;
      if (buckets.size > BUCKETS_KEPT) forget(buckets, (one) => one.resetAt < now && one.inFlight === 0);
      return { route, sentAt: now, bucket };
    },

    ended(ticket, answer, now) {
      if (ticket.bucket !== undefined) {
        ticket.bucket.inFlight--;
        inFlight--;
        ended.push(now);
      }
      if (answer === undefined) return;
      const isShared = text(answer.headers['x-ratelimit-scope']) === 'shared';
      if ([401, 403].includes(answer.status) || (answer.status === 429 && !isShared)) invalid.count(now);
      if (ticket.bucket !== undefined) learn(ticket, answer, now);
    },

    blocked(route, scope, ms, now) {
      const until = now + ms + MARGIN_MS;
      if (scope === 'everything') everythingBlockedUntil = Math.max(everythingBlockedUntil, until);
      else blocks.set(routeKey(route), Math.max(blocks.get(routeKey(route)) ?? 0, until));
      if (blocks.size > BUCKETS_KEPT) forget(blocks, (end) => end < now);
    },

    isSlowed: (now) => invalid.isTooMany(now),
  };
}

/** The server may not have counted requests in flight, so subtract them. */
function bucketWaitMs(bucket: Bucket | undefined, now: number): number {
  if (bucket === undefined) return 0;
  const isOver = now >= bucket.resetAt;
  if ((isOver ? bucket.limit : bucket.remaining) - bucket.inFlight > 0) return 0;
  return isOver ? Number.POSITIVE_INFINITY : bucket.resetAt - now;
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

const INVALID_WINDOW_MS = 10 * 60_000;
const SLOT_MS = 10_000;
const TOO_MANY_INVALID = 5_000;

/** Counts what Discord calls invalid requests (401, 403, 429). It bans an address after 10,000 of them in ten minutes. */
function createInvalidCount() {
  let slots: { readonly since: number; count: number }[] = [];
  return {
    count(now: number): void {
      const last = slots.at(-1);
      if (last !== undefined && now - last.since < SLOT_MS) last.count++;
      else slots.push({ since: now, count: 1 });
    },
    isTooMany(now: number): boolean {
      // Drop a slot only when its last request is old enough.
      if (slots.some(({ since }) => now - since >= INVALID_WINDOW_MS + SLOT_MS))
        slots = slots.filter(({ since }) => now - since < INVALID_WINDOW_MS + SLOT_MS);
      return slots.reduce((sum, { count }) => sum + count, 0) > TOO_MANY_INVALID;
    },
  };
}

// Which requests share a rate limit.

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export interface Endpoint {
  /** The request without its ids; a bucket hash is learned per key. */
  readonly key: string;
  /** The channel, guild or webhook the limit is counted for. */
  readonly major: string;
  /** Interaction callbacks have three seconds and no rate limit, so they never wait. */
  readonly urgent: boolean;
}

export function endpointOf(method: Method, path: string, body?: unknown): Endpoint {
  const bare = path.split('?')[0] ?? path;
  const major = bare.match(/^\/(?:channels|guilds)\/(\d+)|^\/webhooks\/(\d+\/[^/]+)/);
  const shape = bare
    .replace(/^\/(webhooks|interactions)\/\d+\/[^/]+/, '/$1/:id/:token')
    .replace(/\/reactions\/.*/, '/reactions/:any')
    .replace(/\d{15,20}/g, ':id');
  return {
    key: `${method} ${shape}${renames(method, shape, body) ? ' name' : ''}`,
    major: major?.[1] ?? major?.[2] ?? '',
    urgent: shape.startsWith('/interactions/') || shape.startsWith('/webhooks/'),
  };
}

/** Renaming has its own limit of minutes, and must not delay archiving. */
function renames(method: Method, shape: string, body: unknown): boolean {
  return method === 'PATCH' && shape === '/channels/:id' && typeof body === 'object' && body !== null && 'name' in body;
}
