// When a scheduled message is sent: what people write ("18:30", "+20m", "weekday 9:00", "2h"), and the next time. Pure.

import { ownValue } from './own-value.ts';
import { timeAt, wallTimeOf } from './zoned-time.ts';

type ScheduleRule =
  | { readonly kind: 'once'; readonly at: number }
  /** Sunday is 0. */
  | { readonly kind: 'days'; readonly days: readonly number[]; readonly hour: number; readonly minute: number }
  | { readonly kind: 'interval'; readonly from: number; readonly everyMs: number };

export type ParsedSchedule =
  | { readonly kind: 'schedule'; readonly rule: ScheduleRule; readonly due: number; readonly text: string }
  | { readonly kind: 'problem'; readonly problem: string };

interface Clock {
  readonly now: number;
  readonly zone: string;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const SHORTEST_MS = 5 * MINUTE_MS;
const LONGEST_MS = 366 * DAY_MS;

const AT_EXAMPLES = '`18:30`, `6pm`, `tomorrow 9:00`, `2026-12-24 09:00` or `+20m`';
const EVERY_EXAMPLES = '`day 18:00`, `weekday 9:00`, `monday 8:30` or `2h`';

const AT_DATE = /^(\d{4})-(\d{1,2})-(\d{1,2})[ T] {0,9}(\d{1,2})(?::(\d{2}))?(am|pm)?(?=\s|$)/i;
const AT_TIME = /^(tomorrow {1,9})?(\d{1,2})(?::(\d{2}))?(am|pm)?(?=\s|$)/i;
const AT_AFTER = /^\+((?:\d{1,5}[smhd]){1,4})(?=\s|$)/i;
const EVERY_DAYS = /^([a-z]{1,12}) {1,9}(?:at {1,9})?(\d{1,2})(?::(\d{2}))?(am|pm)?(?=\s|$)/i;
const EVERY_SPAN = /^((?:\d{1,5}[smhd]){1,4})(?=\s|$)/i;

/** The words after `!at`. */
export function parseAt(words: string, { now, zone }: Clock): ParsedSchedule {
  const date = AT_DATE.exec(words);
  if (date !== null) {
    const [all, year, month, day, hour = '', minute, half] = date;
    const time = timeOfDay(hour, minute, half);
    const wall = { year: Number(year), month: Number(month), day: Number(day), ...(time ?? { hour: 0, minute: 0 }) };
    const at = timeAt(wall, zone);
    const isReal =
      new Date(Date.UTC(wall.year, wall.month - 1, wall.day)).getUTCDate() === wall.day && wall.month <= 12;
    if (time === undefined || !isReal) return problem(`There is no such time. Write it like ${AT_EXAMPLES}.`);
    if (at <= now) return problem('That time is in the past. Nothing was scheduled.');
    return once(at, words.slice(all.length), now);
  }
  const clock = AT_TIME.exec(words);
  if (clock !== null && (clock[3] !== undefined || clock[4] !== undefined)) {
    const [all, tomorrow, hour = '', minute, half] = clock;
    const time = timeOfDay(hour, minute, half);
    if (time === undefined) return problem(`There is no such time. Write it like ${AT_EXAMPLES}.`);
    const { year, month, day } = wallTimeOf(now, zone);
    const on = (days: number) => timeAt({ year, month, day: day + days, ...time }, zone);
    return once(tomorrow !== undefined || on(0) <= now ? on(1) : on(0), words.slice(all.length), now);
  }
  const after = AT_AFTER.exec(words);
  if (after === null) return problem(`When? Write the time first, like ${AT_EXAMPLES}.`);
  return once(now + spanMs(after[1] ?? ''), words.slice(after[0].length), now);
}

/** The words after `!every`. */
export function parseEvery(words: string, { now, zone }: Clock): ParsedSchedule {
  const span = EVERY_SPAN.exec(words);
  if (span !== null) {
    const everyMs = spanMs(span[1] ?? '');
    if (everyMs < SHORTEST_MS) return problem('The shortest interval is 5 minutes, such as `!every 5m`.');
    return checked({ kind: 'interval', from: now, everyMs }, words.slice(span[0].length), { now, zone });
  }
  const [all = '', name = '', hour = '', minute, half] = EVERY_DAYS.exec(words) ?? [];
  const days = daysOf(name.toLowerCase());
  const time = minute === undefined && half === undefined ? undefined : timeOfDay(hour, minute, half);
  if (days === undefined || time === undefined) return problem(`How often? Write it first, like ${EVERY_EXAMPLES}.`);
  return checked({ kind: 'days', days, ...time }, words.slice(all.length), { now, zone });
}

/** The first time after this one; undefined if there is none. A day on which the clock changes has one time, too. */
export function nextTime(rule: ScheduleRule, after: number, zone: string): number | undefined {
  switch (rule.kind) {
    case 'once':
      return rule.at > after ? rule.at : undefined;
    case 'interval':
      return rule.from + (Math.floor(Math.max(0, after - rule.from) / rule.everyMs) + 1) * rule.everyMs;
    case 'days': {
      const { year, month, day, weekday } = wallTimeOf(after, zone);
      for (let days = 0; days <= 7; days++) {
        if (!rule.days.includes((weekday + days) % 7)) continue;
        const at = timeAt({ year, month, day: day + days, hour: rule.hour, minute: rule.minute }, zone);
        if (at > after) return at;
      }
      return undefined;
    }
  }
}

/** "every weekday at 09:00"; empty for one that is sent once. */
export function ruleText(rule: ScheduleRule): string {
  if (rule.kind === 'once') return '';
  if (rule.kind === 'interval') return `every ${spanText(rule.everyMs)}`;
  const clock = [rule.hour, rule.minute].map((part) => String(part).padStart(2, '0')).join(':');
  const named = Object.entries(GROUPS).find(([, days]) => days.join() === rule.days.join())?.[0];
  return `every ${named ?? rule.days.map((day) => capital(WEEKDAYS[day] ?? '')).join(', ')} at ${clock}`;
}

/** What happens with a message whose time has come. */
export function decideDue(facts: {
  readonly due: number;
  readonly now: number;
  readonly isOver: boolean;
  /** The session has ended, but starts again by itself. */
  readonly isExpected: boolean;
}): 'wait' | 'send' | 'missed' | 'ended' {
  const lateMs = facts.now - facts.due;
  if (lateMs < 0) return 'wait';
  if (facts.isOver && (!facts.isExpected || lateMs > LATEST_MS)) return 'ended';
  if (facts.isOver) return 'wait';
  return lateMs > LATEST_MS ? 'missed' : 'send';
}

/** A message that is later than this may not make sense any more. */
const LATEST_MS = 3_600_000;

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const GROUPS: Readonly<Record<string, readonly number[]>> = {
  day: [0, 1, 2, 3, 4, 5, 6],
  weekday: [1, 2, 3, 4, 5],
  weekend: [0, 6],
};

function daysOf(name: string): readonly number[] | undefined {
  const group = ownValue(GROUPS, name.replace(/s$/, '')) ?? ownValue(GROUPS, name);
  if (group !== undefined) return group;
  const day = WEEKDAYS.findIndex((one) => name.length >= 3 && (one.startsWith(name) || `${one}s` === name));
  return day < 0 ? undefined : [day];
}

function timeOfDay(hour: string, minute = '0', half?: string) {
  const [hours, minutes] = [Number(hour), Number(minute)];
  if (half === undefined) return hours <= 23 && minutes <= 59 ? { hour: hours, minute: minutes } : undefined;
  if (hours < 1 || hours > 12 || minutes > 59) return undefined;
  return { hour: (hours % 12) + (half.toLowerCase() === 'pm' ? 12 : 0), minute: minutes };
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: MINUTE_MS, h: 60 * MINUTE_MS, d: DAY_MS };

function spanMs(span: string): number {
  const parts = [...span.toLowerCase().matchAll(/(\d{1,5})([smhd])/g)];
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}

function spanText(ms: number): string {
  const [unit, length] = Object.entries(UNITS).findLast(([, one]) => ms % one === 0) ?? ['s', 1_000];
  return `${ms / length} ${{ s: 'seconds', m: 'minutes', h: 'hours', d: 'days' }[unit]}`;
}

function once(at: number, text: string, now: number): ParsedSchedule {
  return checked({ kind: 'once', at }, text, { now, zone: 'UTC' });
}

function checked(rule: ScheduleRule, rest: string, { now, zone }: Clock): ParsedSchedule {
  const text = rest.trim();
  const due = nextTime(rule, now, zone);
  if (due === undefined) return problem('That time is in the past. Nothing was scheduled.');
  if (due - now > LONGEST_MS) return problem('That is more than a year ahead. Choose an earlier time.');
  if (text === '') return problem('What should be sent? Write it after the time, such as `!at 18:30 run the tests`.');
  return { kind: 'schedule', rule, due, text };
}

function problem(words: string): ParsedSchedule {
  return { kind: 'problem', problem: words };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
