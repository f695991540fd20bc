// Decides what an answer means: done, try again later, or give up. Pure.

import { ThreadmuxError } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import { maskSecrets } from '../core/mask-secrets.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { MISSING_ACCESS, MISSING_PERMISSIONS, TOO_MANY_THREADS, UNKNOWN_CHANNEL } from './error-codes.ts';
import type { RateLimitHeaders } from './rate-limits.ts';

export interface RestResponse {
  readonly status: number;
  readonly headers: RateLimitHeaders;
  readonly body: string;
}

type ResponseAction =
  | { readonly kind: 'done'; readonly value: unknown }
  /** A rate limit: wait as long as the server says. This does not use up the patience. */
  | { readonly kind: 'limited'; readonly scope: 'route' | 'everything'; readonly waitMs: number }
  | { readonly kind: 'failed'; readonly error: ThreadmuxError }
  | { readonly kind: 'refused'; readonly error: ThreadmuxError };

/** A ban by Discord's proxy has no stated end, and requests during a ban extend it. */
const BAN_MS = 60_000;

export function judgeResponse(what: string, answer: RestResponse): ResponseAction {
  if (answer.status < 300) return parsed(what, answer);
  if (answer.status === 429) return limited(answer);
  const said = `${what}: ${answer.status} ${untrustedCode(summary(answer))}`;
  if (answer.status >= 500) return { kind: 'failed', error: unreachable(said) };
  const code = answer.status === 401 ? 'discord_unauthorized' : 'discord_refused';
  const hint = hintFor(answer);
  const error = new ThreadmuxError(code, said, {
    answer: { status: answer.status, code: codeOf(answer.body) },
    ...(hint ? { hint } : {}),
  });
  return { kind: 'refused', error };
}

export function unreachable(said: string, cause?: unknown): ThreadmuxError {
  return new ThreadmuxError('discord_unreachable', said, {
    cause,
    hint: 'Check the network and https://discordstatus.com; it is tried again by itself.',
  });
}

/** After a failure that is not a rate limit. */
export const PAUSES = { firstMs: 500, longestMs: 30_000 };

function parsed(what: string, answer: RestResponse): ResponseAction {
  if (answer.body === '') return { kind: 'done', value: undefined };
  try {
    return { kind: 'done', value: parseJson(answer.body) };
  } catch (cause) {
    return { kind: 'failed', error: unreachable(`${what}: the answer was not JSON`, cause) };
  }
}

function limited(answer: RestResponse): ResponseAction {
  const body = jsonOf(answer.body);
  const header = Number(answer.headers['retry-after'] ?? Number.NaN);
  const field = Number(body?.retry_after ?? Number.NaN);
  const seconds = Math.max(Number.isFinite(header) ? header : 0, Number.isFinite(field) ? field : 0);
  if (!Number.isFinite(header) && !Number.isFinite(field))
    return { kind: 'limited', scope: 'everything', waitMs: BAN_MS };
  const isGlobal = body?.global === true || answer.headers['x-ratelimit-global'] === 'true';
  return { kind: 'limited', scope: isGlobal ? 'everything' : 'route', waitMs: seconds * 1_000 };
}

function hintFor(answer: RestResponse): string | undefined {
  if (answer.status === 401)
    return 'The bot token was refused. Reset it in the Discord developer portal (Bot, Reset Token) and put the new one into the configuration.';
  if (answer.status === 403 && jsonOf(answer.body) === undefined)
    return 'This did not come from Discord itself but from its edge: a proxy or firewall changed or blocked the request.';
  switch (codeOf(answer.body)) {
    case MISSING_ACCESS:
      return 'The bot cannot see this channel: invite it to the server and give it "View Channel" there.';
    case MISSING_PERMISSIONS:
      return 'The bot lacks a permission: give it Send Messages, Create Public Threads, Send Messages in Threads, Manage Threads, Attach Files, Add Reactions and Read Message History.';
    case UNKNOWN_CHANNEL:
      return 'The channel or thread is gone; check "channel" in the configuration.';
    case TOO_MANY_THREADS:
      return 'The server has too many active threads: archive some.';
    default:
      return undefined;
  }
}

/** Far more than is shown. */
const LOOKED_AT = 5_000;

function summary(answer: RestResponse): string {
  const body = jsonOf(answer.body);
  // A server may repeat our token, so it is masked before anything is cut.
  const masked = (text: string) => maskSecrets(text.slice(0, LOOKED_AT));
  if (body === undefined) return masked(answer.body).slice(0, 120).replace(/\s+/g, ' ').trim();
  const errors = body.errors === undefined ? '' : ` ${masked(JSON.stringify(body.errors)).slice(0, 300)}`;
  return `${masked(String(body.message ?? ''))} (${String(body.code ?? 0)})${errors}`;
}

function codeOf(body: string): number {
  return Number(jsonOf(body)?.code ?? 0) || 0;
}

function jsonOf(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parseJson(body);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
