import { describe, expect, it } from 'vitest';
import { parseUsageLimit } from '../../../agents/claude/usage-limit.ts';

/** Monday, 23:27 UTC. */
const NOW = Date.UTC(2026, 10, 16, 23, 27, 40);

function resetOf(text: string, error: string | undefined = 'rate_limit', now = NOW): string | undefined {
  const limit = parseUsageLimit({ error, text }, now, 'Europe/Berlin');
  if (limit === undefined) return undefined;
  return limit.resetsAt === undefined ? 'no time' : new Date(limit.resetsAt).toISOString().slice(0, 16);
}

describe('the time of a reset', () => {
  it.each([
    // As Claude Code 2.1.197 and 2.1.325 wrote it. The time is that of the end of the minute, because the seconds are cut off.
    ['You’ve hit your session limit · resets 12:57am (UTC)', '2026-11-17T00:58'],
    ["You've hit your session limit · resets 12:57am (UTC)", '2026-11-17T00:58'],
    ["You've hit your 5-hour limit · resets 11:30pm (UTC)", '2026-11-16T23:31'],
    ["You've hit your weekly limit · resets Nov 20, 3pm (Europe/Berlin)", '2026-11-20T14:01'],
    ["You've hit your weekly limit · resets Nov 20, 3:05pm (America/New_York)", '2026-11-20T20:06'],
    ["You've hit your Opus limit · resets 3am (UTC) · progress saved", '2026-11-17T03:01'],
    ["You've hit your org's monthly usage limit · resets Dec 1, 12am (UTC)", '2026-12-01T00:01'],
    ["You've hit your weekly limit · resets Nov 20, 2026, 3pm (UTC)", '2026-11-20T15:01'],
    ["You're out of usage credits · resets 6:10pm (Asia/Kolkata)", '2026-11-17T12:41'],
    ["You've hit your session limit · resets 3:05\u202fPM (UTC)", '2026-11-17T15:06'],
    ['5-hour limit reached ∙ resets 3pm', '2026-11-17T14:01'],
    ["You've hit your session limit · resets 3pm (No/Where)", '2026-11-17T14:01'],
  ])('%s', (text, at) => {
    expect(resetOf(text)).toBe(at);
  });

  it('that has just passed is not a day later', () => {
    expect(resetOf("You've hit your session limit · resets 11:20pm (UTC)")).toBe('2026-11-16T23:21');
  });

  it('of the next year is found', () => {
    const now = Date.UTC(2026, 11, 30, 12);
    expect(resetOf("You've hit your weekly limit · resets Jan 2, 3pm (UTC)", 'rate_limit', now)).toBe(
      '2027-01-02T15:01',
    );
    expect(resetOf("You've hit your weekly limit · resets Jan 2, 2027, 3pm (UTC)", 'rate_limit', now)).toBe(
      '2027-01-02T15:01',
    );
  });

  it.each([
    'API Error: Request rejected (429) · scripted',
    '',
    "You've hit your usage limit",
    "You've hit your session limit · resets 25:00 (UTC)",
    "You've hit your session limit · resets 13pm (UTC)",
    "You've hit your weekly limit · resets Jun 20, 3pm (UTC)",
    'Somebody wrote: resets 3pm (UTC)',
    'API Error: 429 the server resets 3pm (UTC)',
  ])('is not made up: %s', (text) => {
    expect(resetOf(text)).toBe('no time');
  });

  it.each([
    ['server_error', 'API Error: 500 resets 3pm (UTC)'],
    ['unknown', "You've used 90% of your session limit · resets 3pm (UTC)"],
    [undefined, 'It resets 3pm (UTC)'],
  ])('another failure is no limit: %s %s', (error, text) => {
    expect(parseUsageLimit({ error, text }, NOW)).toBeUndefined();
  });
});
