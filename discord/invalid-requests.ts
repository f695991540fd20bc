// Counts what Discord calls invalid requests (401, 403, 429). It bans an address after 10,000 of them in ten minutes.

const WINDOW_MS = 10 * 60_000;
const SLOT_MS = 10_000;
const TOO_MANY = 5_000;

export interface InvalidCount {
  count(now: number): void;
  isTooMany(now: number): boolean;
}

export function createInvalidCount(): InvalidCount {
  let slots: { readonly since: number; count: number }[] = [];
  return {
    count(now) {
      const last = slots.at(-1);
      if (last !== undefined && now - last.since < SLOT_MS) last.count++;
      else slots.push({ since: now, count: 1 });
    },
    isTooMany(now) {
      // A slot is forgotten only when its last request is old enough.
      if (slots.some(({ since }) => now - since >= WINDOW_MS + SLOT_MS))
        slots = slots.filter(({ since }) => now - since < WINDOW_MS + SLOT_MS);
      return slots.reduce((sum, { count }) => sum + count, 0) > TOO_MANY;
    },
  };
}
