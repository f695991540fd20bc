// The time of a reset as `hooks/statusline` shows it: with the day of the week if it is not today.

export function localClock(seconds: number, now: Date = new Date(), timeZone?: string): string {
  const at = new Date(seconds * 1000);
  const zone = timeZone === undefined ? {} : { timeZone };
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'short', ...zone });
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(day.format(at) === day.format(now) ? {} : { weekday: 'short' }),
    hour: '2-digit',
    minute: '2-digit',
    ...zone,
  });
  return format.format(at).replace(',', '');
}
