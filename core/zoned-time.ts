// Times of day in a time zone, and how they are written for people. A zone is an IANA name such as "Europe/Berlin". Pure.

const DAY_MS = 86_400_000;

interface WallTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** May be outside of the month: the 32nd is the first of the next one. */
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // the only way to find out
  }
}

/** A time that exists twice is the first one. One that the clock skips is as much later as the clock skips. */
export function timeAt(wall: WallTime, zone: string): number {
  const asUtc = Date.UTC(wall.year, wall.month - 1, wall.day, wall.hour, wall.minute);
  const [before, after] = [-DAY_MS, DAY_MS].map((ms) => asUtc - offsetAt(asUtc + ms, zone)) as [number, number];
  const right = [before, after].filter((at) => at + offsetAt(at, zone) === asUtc);
  return right.length === 0 ? before : Math.min(...right);
}

export function wallTimeOf(at: number, zone: string): WallTime & { readonly weekday: number } {
  const date = new Date(at + offsetAt(at, zone));
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    weekday: date.getUTCDay(),
  };
}

/** "Monday, 16 November 2026, 18:30 (Europe/Berlin, UTC+1)". */
export function fullTime(at: number, zone: string): string {
  const day = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const;
  const part = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone });
  const date = part(day)
    .format(at)
    .replace(/^(\w+) /, '$1, ');
  const clock = part({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);
  const minutes = offsetAt(at, zone) / 60_000;
  const sign = minutes < 0 ? '-' : '+';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const offset = minutes === 0 ? '' : `${sign}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
  return `${date}, ${clock} (${zone === 'UTC' ? 'UTC' : `${zone}, UTC${offset}`})`;
}

/** In milliseconds, positive east of Greenwich. */
function offsetAt(at: number, zone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  } as const);
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}
