// Counts requests as Discord does: by route class and channel, guild or webhook, and all together. Pure but for its clock.

import { createHash } from 'node:crypto';

export interface RateLimitOptions {
  readonly perBucket: number;
  readonly windowMs: number;
  readonly globalPerSecond: number;
}

export interface Verdict {
  readonly headers: Readonly<Record<string, string>>;
  /** Set if the request is refused: how long to wait, and whether for everything. */
  readonly refused?: { readonly retryAfterMs: number; readonly global: boolean };
}

export interface RateLimits {
  count(routeClass: string, major: string, exempt: boolean): Verdict;
}

interface Window {
  resetsAt: number;
  used: number;
}

const MAX_WINDOWS = 5000;

export function makeRateLimits(
  options: RateLimitOptions,
  now: () => number = Date.now,
): RateLimits {
  const windows = new Map<string, Window>();
  const all: Window = { resetsAt: 0, used: 0 };
  return {
    count(routeClass, major, exempt) {
      const at = now();
      if (exempt) return { headers: {} };
      if (windows.size > MAX_WINDOWS) forgetOver(windows, at);
      if (!take(all, at, 1000, options.globalPerSecond))
        return { headers: {}, refused: { retryAfterMs: all.resetsAt - at, global: true } };
      const bucket = createHash('md5').update(routeClass).digest('hex');
      const key = `${bucket}:${major}`;
      const window = windows.get(key) ?? { resetsAt: 0, used: 0 };
      windows.set(key, window);
      const taken = take(window, at, options.windowMs, options.perBucket);
      const headers = describe(bucket, window, at, options.perBucket);
      if (taken) return { headers };
      return { headers, refused: { retryAfterMs: window.resetsAt - at, global: false } };
    },
  };
}

function take(window: Window, at: number, lengthMs: number, limit: number): boolean {
  if (at >= window.resetsAt) {
    window.resetsAt = at + lengthMs;
    window.used = 0;
  }
  if (window.used >= limit) return false;
  window.used++;
  return true;
}

function describe(bucket: string, window: Window, at: number, limit: number) {
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(limit - window.used),
    'X-RateLimit-Reset': (window.resetsAt / 1000).toFixed(3),
    'X-RateLimit-Reset-After': ((window.resetsAt - at) / 1000).toFixed(3),
    'X-RateLimit-Bucket': bucket,
  };
}

function forgetOver(windows: Map<string, Window>, at: number): void {
  for (const [key, window] of windows) if (at >= window.resetsAt) windows.delete(key);
}
