// What Claude Code says when a usage limit is reached: "You've hit your session limit · resets 3:05pm (Europe/Berlin)". A time
// is stated to subscribers only. Pure.

import { isZone, localZone, timeAt, wallTimeOf } from '../../core/zoned-time.ts';
import type { AgentDialog } from '../screen.ts';

interface UsageLimit {
  /** When it is certainly reset; undefined if no time was stated. */
  readonly resetsAt: number | undefined;
}

/** Undefined if the turn ended for another reason. `error` and `text` come from StopFailure, `now` is when it was written. */
export function parseUsageLimit(
  { error, text }: { readonly error: string | undefined; readonly text: string },
  now: number,
  ownZone = localZone(),
): UsageLimit | undefined {
  if (error !== 'rate_limit' && !LIMIT.test(text)) return undefined;
  return { resetsAt: LIMIT.test(text) ? resetOf(text.slice(0, 1_000), now, ownZone) : undefined };
}

/** Not "You've used 80% of your weekly limit", which stops nothing. */
const LIMIT =
  /^(?:You['’]ve (?:hit|reached) your\b|You['’]re out of (?:extra usage|usage credits)\b|[\w -]{0,40}limit reached\b)/;

const RESETS =
  /\bresets (?:at )?(?:([A-Z][a-z]{2}) (\d{1,2}),? (?:(\d{4}),? )?(?:at )?)?(\d{1,2})(?::(\d{2}))?\s?([ap])m(?: \(([\w/+-]{1,64})\))?/iu;
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const MINUTE_MS = 60_000;
/** A time that has just passed is not that of tomorrow: clocks differ, and reports are late. */
const JUST_PASSED_MS = 30 * MINUTE_MS;
const LONGEST_MS = 40 * 86_400_000;

function resetOf(text: string, now: number, ownZone: string): number | undefined {
  const [all, month, date, inYear, hour, minute = '0', half = '', named = ''] = RESETS.exec(text) ?? [];
  if (all === undefined || Number(hour) < 1 || Number(hour) > 12 || Number(minute) > 59) return undefined;
  const zone = named !== '' && isZone(named) ? named : ownZone;
  const today = wallTimeOf(now, zone);
  const time = { hour: (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0), minute: Number(minute) };
  const at =
    month === undefined
      ? soonest([0, 1].map((days) => timeAt({ ...today, day: today.day + days, ...time }, zone)))
      : soonest(
          (inYear === undefined ? [today.year, today.year + 1] : [Number(inYear)]).map((year) =>
            timeAt({ year, month: MONTHS.indexOf(month.toLowerCase()) + 1, day: Number(date), ...time }, zone),
          ),
        );
  // Claude Code cuts the seconds off.
  return at === undefined || at > now + LONGEST_MS ? undefined : at + MINUTE_MS;

  function soonest(times: readonly number[]): number | undefined {
    return times.find((one) => one > now - JUST_PASSED_MS);
  }
}

const STOP_AND_WAIT = 'Stop and wait for limit to reset';

/** The option of Claude Code's dialog that waits for the reset. */
export function limitChoice({ which, options }: AgentDialog): number | undefined {
  const at = which === 'limit' ? options.findIndex(({ label }) => label === STOP_AND_WAIT) : -1;
  return at < 0 ? undefined : at;
}
