// How often a bot may begin a session: so many a day, so many within five seconds. Resuming is not counted.

export interface IdentifyLimitOptions {
  readonly total?: number;
  readonly maxConcurrency?: number;
  readonly windowMs?: number;
}

export interface IdentifyLimit {
  /** False if this one is too many. */
  take(): boolean;
  describe(): { total: number; remaining: number; reset_after: number; max_concurrency: number };
}

const DAY_MS = 24 * 3600_000;

/** Generous by default: a person who restarts a local program ten times must not be locked out of it. */
export function makeIdentifyLimit(
  options: IdentifyLimitOptions,
  now: () => number = Date.now,
): IdentifyLimit {
  const { total = 1000, maxConcurrency = 16, windowMs = 5000 } = options;
  let day = { since: now(), used: 0 };
  let recent: number[] = [];
  const turn = () => {
    if (now() - day.since >= DAY_MS) day = { since: now(), used: 0 };
    recent = recent.filter((at) => at > now() - windowMs);
  };
  return {
    take() {
      turn();
      if (day.used >= total || recent.length >= maxConcurrency) return false;
      day.used++;
      recent.push(now());
      return true;
    },
    describe() {
      turn();
      return {
        total,
        remaining: total - day.used,
        reset_after: day.used === 0 ? 0 : day.since + DAY_MS - now(),
        max_concurrency: maxConcurrency,
      };
    },
  };
}
