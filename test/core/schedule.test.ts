import { describe, expect, it } from 'vitest';
import { decideDue, nextTime, parseAt, parseEvery, ruleText } from '../../core/schedule.ts';
import { fullTime } from '../../core/zoned-time.ts';

const ZONE = 'Europe/Berlin';
/** Monday, 12:00 in Berlin. */
const NOW = Date.UTC(2026, 10, 16, 11, 0, 20);
const clock = { now: NOW, zone: ZONE };
const iso = (at: number | undefined) => at && new Date(at).toISOString().slice(0, 16);

describe('!at', () => {
  it.each([
    ['18:30 run the tests', '2026-11-16T17:30', 'run the tests'],
    ['9:00 tomorrow, because it is past', '2026-11-17T08:00', 'tomorrow, because it is past'],
    ['12:00 the minute that has begun is past', '2026-11-17T11:00', 'the minute that has begun is past'],
    ['12:01 next minute', '2026-11-16T11:01', 'next minute'],
    ['6pm stop', '2026-11-16T17:00', 'stop'],
    ['12am midnight', '2026-11-16T23:00', 'midnight'],
    ['6:30PM stop', '2026-11-16T17:30', 'stop'],
    ['tomorrow 9:00 go', '2026-11-17T08:00', 'go'],
    ['2026-12-24 09:00 merry', '2026-12-24T08:00', 'merry'],
    ['2026-12-24T09:00 merry', '2026-12-24T08:00', 'merry'],
    ['+20m look\nat two lines', '2026-11-16T11:20', 'look\nat two lines'],
    ['+1h30m look', '2026-11-16T12:30', 'look'],
    ['+2d look', '2026-11-18T11:00', 'look'],
    ['18:30 /compact', '2026-11-16T17:30', '/compact'],
  ])('%s', (words, at, text) => {
    const parsed = parseAt(words, clock);
    expect(parsed).toMatchObject({ kind: 'schedule', text });
    expect(parsed.kind === 'schedule' && iso(parsed.due)).toBe(at);
  });

  it.each([
    ['', /^When\?/],
    ['run the tests', /^When\?/],
    ['18 apples', /^When\?/],
    ['25:00 x', /no such time/],
    ['18:60 x', /no such time/],
    ['13pm x', /no such time/],
    ['2026-02-30 09:00 x', /no such time/],
    ['2026-13-01 09:00 x', /no such time/],
    ['2026-11-16 11:59 x', /in the past/],
    ['2031-01-01 09:00 x', /more than a year/],
    ['+99999d x', /more than a year/],
    ['18:30', /^What should be sent/],
  ])('refuses %j', (words, problem) => {
    expect(parseAt(words, clock)).toEqual({ kind: 'problem', problem: expect.stringMatching(problem) });
  });
});

describe('!every', () => {
  it.each([
    ['weekday 9:00 stand-up', '2026-11-17T08:00', 'stand-up', 'every weekday at 09:00'],
    ['weekdays at 14:00 x', '2026-11-16T13:00', 'x', 'every weekday at 14:00'],
    ['day 18:00 x', '2026-11-16T17:00', 'x', 'every day at 18:00'],
    ['monday 8:30 x', '2026-11-23T07:30', 'x', 'every Monday at 08:30'],
    ['mon 6pm x', '2026-11-16T17:00', 'x', 'every Monday at 18:00'],
    ['Sundays 8:30 x', '2026-11-22T07:30', 'x', 'every Sunday at 08:30'],
    ['weekend 10:00 x', '2026-11-21T09:00', 'x', 'every weekend at 10:00'],
    ['2h look', '2026-11-16T13:00', 'look', 'every 2 hours'],
    ['90m look', '2026-11-16T12:30', 'look', 'every 90 minutes'],
  ])('%s', (words, at, text, rule) => {
    const parsed = parseEvery(words, clock);
    expect(parsed).toMatchObject({ kind: 'schedule', text });
    expect(parsed.kind === 'schedule' && [iso(parsed.due), ruleText(parsed.rule)]).toEqual([at, rule]);
  });

  it.each([
    ['', /^How often/],
    ['morning 9:00 x', /^How often/],
    ['day 9 apples', /^How often/],
    ['day 24:00 x', /^How often/],
    ['1m x', /5 minutes/],
    ['400d x', /more than a year/],
    ['day 9:00', /^What should be sent/],
  ])('refuses %j', (words, problem) => {
    expect(parseEvery(words, clock)).toEqual({ kind: 'problem', problem: expect.stringMatching(problem) });
  });
});

describe('when the clock changes', () => {
  const daily = { kind: 'days', days: [0, 1, 2, 3, 4, 5, 6], hour: 2, minute: 30 } as const;
  const times = (from: number, count: number, zone: string) => {
    const found = [from];
    for (let at = 0; at < count; at++) found.push(nextTime(daily, found.at(-1) ?? 0, zone) ?? 0);
    return found.slice(1).map((at) => fullTime(at, zone));
  };

  it('a time that does not exist is as much later as the clock skips', () => {
    expect(times(Date.UTC(2027, 2, 27, 0), 3, ZONE)).toEqual([
      'Saturday, 27 March 2027, 02:30 (Europe/Berlin, UTC+1)',
      'Sunday, 28 March 2027, 03:30 (Europe/Berlin, UTC+2)',
      'Monday, 29 March 2027, 02:30 (Europe/Berlin, UTC+2)',
    ]);
  });

  it('a time that exists twice is used once, the first time', () => {
    expect(times(Date.UTC(2027, 9, 30, 0), 3, ZONE)).toEqual([
      'Saturday, 30 October 2027, 02:30 (Europe/Berlin, UTC+2)',
      'Sunday, 31 October 2027, 02:30 (Europe/Berlin, UTC+2)',
      'Monday, 1 November 2027, 02:30 (Europe/Berlin, UTC+1)',
    ]);
  });

  it('"18:30" is 18:30, also if the clock changes before', () => {
    const parsed = parseAt('18:30 x', { now: Date.UTC(2027, 2, 27, 18), zone: ZONE });
    expect(parsed.kind === 'schedule' && fullTime(parsed.due, ZONE)).toBe(
      'Sunday, 28 March 2027, 18:30 (Europe/Berlin, UTC+2)',
    );
  });

  it.each([
    ['UTC', 'Monday, 16 November 2026, 11:00 (UTC)'],
    ['Asia/Kolkata', 'Monday, 16 November 2026, 16:30 (Asia/Kolkata, UTC+5:30)'],
    ['America/New_York', 'Monday, 16 November 2026, 06:00 (America/New_York, UTC-5)'],
    ['Europe/London', 'Monday, 16 November 2026, 11:00 (Europe/London, UTC)'],
  ])('a time is written with its zone: %s', (zone, text) => {
    expect(fullTime(NOW, zone)).toBe(text);
  });
});

it.each([
  [{ due: 1_000, now: 999, isOver: false, isExpected: false }, 'wait'],
  [{ due: 1_000, now: 1_000, isOver: false, isExpected: false }, 'send'],
  [{ due: 1_000, now: 1_000 + 3_600_000, isOver: false, isExpected: false }, 'send'],
  [{ due: 1_000, now: 1_001 + 3_600_000, isOver: false, isExpected: false }, 'missed'],
  [{ due: 1_000, now: 1_000, isOver: true, isExpected: false }, 'ended'],
  [{ due: 1_000, now: 1_001 + 3_600_000, isOver: true, isExpected: false }, 'ended'],
  [{ due: 1_000, now: 1_000, isOver: true, isExpected: true }, 'wait'],
  [{ due: 1_000, now: 1_001 + 3_600_000, isOver: true, isExpected: true }, 'ended'],
])('a message is sent late within an hour only: %j', (facts, step) => {
  expect(decideDue(facts)).toBe(step);
});
