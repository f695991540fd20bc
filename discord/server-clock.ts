// One question that needs no token: does the server answer, and what time is it there?

import { clockDifference } from '../core/duration.ts';
import { requestOnce, USER_AGENT } from './http-pool.ts';
import { unreachable } from './response.ts';

/** How many milliseconds the server's clock is ahead of ours; undefined if it does not tell. To the second. */
export async function serverClock(api: string, timeoutMs = 8_000): Promise<number | undefined> {
  const asked = Date.now();
  try {
    const options = {
      headers: { 'user-agent': USER_AGENT },
      headersTimeout: timeoutMs,
      signal: AbortSignal.timeout(timeoutMs),
    };
    const url = `${api.replace(/\/$/, '')}/gateway`;
    const date = await requestOnce(url, options, timeoutMs, async ({ headers, body }) => {
      await body.dump();
      return headers.date;
    });
    const there = Date.parse(String(date ?? ''));
    return Number.isNaN(there) ? undefined : clockDifference(there, asked, Date.now());
  } catch (cause) {
    const { code, message } = cause as { code?: string; message?: string };
    throw unreachable(`asking ${api}: ${code ?? message ?? 'no answer'}`, cause);
  }
}
