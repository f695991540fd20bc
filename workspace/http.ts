// One REST request from its arrival to its answer: access, route, body, faults, rate limit. Who may not call is answered before
// anything of the body is read. The only place that catches.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { REQUEST_TOO_LARGE } from '../discord/error-codes.ts';
import type { Access, Entrance } from './access.ts';
import { parseBody, readBytes } from './body.ts';
import type { Fault, Faults } from './faults.ts';
import type { RateLimits, Verdict } from './rate-limits.ts';
import { type Answer, answerOf, refuse } from './refusal.ts';
import { type Call, type Match, majorOf, matchRoute, type Route } from './router.ts';
import type { Actor } from './wire-guild.ts';
import type { World } from './world.ts';

export const API = '/api/v10';

export interface Rest {
  handle(request: IncomingMessage, response: ServerResponse, url: URL, by: Entrance): Promise<void>;
}

export interface RestOptions {
  readonly world: World;
  readonly routes: readonly Route[];
  /** Callers without credentials are counted apart, so that they can use up nobody else's requests. */
  readonly limits: { readonly bot: RateLimits; readonly nobody: RateLimits };
  readonly faults: Faults;
  log(line: string): void;
}

export function makeRest(options: RestOptions): Rest {
  let count = 0;
  return {
    async handle(request, response, url, by) {
      const method = request.method ?? 'GET';
      const path = url.pathname.slice(API.length);
      const permit = permitOf(options.routes, request, path, by);
      if (permit.kind === 'denied')
        return send(response, withHeader(permit.answer, 'Connection', 'close'));
      const bytes = await readBytes(request).catch(() => undefined);
      if (bytes === undefined) return void response.destroy();
      const fault = options.faults.onRequest?.({ method, path, count: count++, body: peek(bytes) });
      if (fault?.kind === 'delay') await sleep(fault.ms);
      const early = fault && beforeApplying(fault);
      if (early !== undefined) return send(response, early);
      const answer = answerTo(options, request, url, permit, bytes);
      send(response, fault ? afterApplying(fault, answer) : answer);
    },
  };
}

type Permit = Extract<Match, { kind: 'route' }> & { readonly actor: Actor | undefined };
type Denied = { readonly kind: 'denied'; readonly answer: Answer };

/** Looks at the headers only. */
function permitOf(
  routes: readonly Route[],
  { method = 'GET', headers }: IncomingMessage,
  path: string,
  by: Entrance,
): Permit | Denied {
  const access = by.admit(headers);
  const answer = deny(access, headers['user-agent'], by.actor);
  if (answer !== undefined) return { kind: 'denied', answer };
  const match = matchRoute(routes, method, path);
  if (match.kind === 'unknown') return denied(404, '404: Not Found');
  if (match.kind === 'wrong-method') return denied(405, '405: Method Not Allowed');
  const actor = access.kind === 'actor' ? access.actor : undefined;
  return mayCall(match.route, actor) ? { ...match, actor } : denied(401, '401: Unauthorized');
}

function denied(status: number, message: string): Denied {
  return { kind: 'denied', answer: { status, body: { message, code: 0 } } };
}

function withHeader(answer: Answer, name: string, value: string): Answer {
  return { ...answer, headers: { ...answer.headers, [name]: value } };
}

function peek(bytes: Buffer | 'too-large'): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined; // multipart or nothing: faults are chosen by method and path then
  }
}

type Outcome = Answer | 'reset' | 'silence';

function beforeApplying(fault: Fault): Outcome | undefined {
  switch (fault.kind) {
    case 'answer':
      return {
        status: fault.status,
        body: fault.body ?? { message: `${fault.status}: ordered`, code: 0 },
      };
    case 'reset':
    case 'silence':
      return fault.kind;
    case 'limited':
      return limited(
        {
          headers: {},
          refused: { retryAfterMs: fault.retryAfterMs, global: fault.scope === 'global' },
        },
        fault.scope,
      );
    case 'banned':
      return fault.as === 'html'
        ? {
            status: 429,
            body: '<!doctype html><title>Access denied</title>',
            headers: { 'Content-Type': 'text/html' },
          }
        : {
            status: 429,
            body: { code: 0, message: 'You are being blocked from accessing our API temporarily.' },
          };
    default:
      return undefined;
  }
}

function afterApplying(fault: Fault, answer: Answer): Outcome {
  if (fault.kind === 'apply-then-reset') return 'reset';
  if (fault.kind === 'apply-then-silence') return 'silence';
  if (fault.kind === 'apply-then-answer')
    return {
      status: fault.status,
      body: fault.body ?? { message: `${fault.status}: ordered`, code: 0 },
    };
  return answer;
}

function answerTo(
  options: RestOptions,
  request: IncomingMessage,
  url: URL,
  permit: Permit,
  bytes: Buffer | 'too-large',
): Answer {
  try {
    return decide(options, request, url, permit, bytes);
  } catch (error) {
    const answer = answerOf(error);
    if (answer !== undefined) return answer;
    options.log(
      `${request.method} ${url.pathname} failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
    return { status: 500, body: { message: '500: Internal Server Error', code: 0 } };
  }
}

function decide(
  { world, limits }: RestOptions,
  { method, headers }: IncomingMessage,
  url: URL,
  { route, params, actor }: Permit,
  bytes: Buffer | 'too-large',
): Answer {
  const exempt = actor === 'person' || route.unlimited === true;
  const counted = actor === undefined ? limits.nobody : limits.bot;
  const bucket = route.bucket ?? `${method} ${route.path}`;
  const verdict = counted.count(bucket, majorOf(params), exempt);
  if (verdict.refused !== undefined) return limited(verdict, 'user');
  const answer = run(route, bytes, headers['content-type'], {
    world,
    host: headers.host ?? 'localhost',
    viewer: {
      actor: actor ?? 'bot',
      seesContent: actor === 'person' || world.messageContentIntent,
    },
    query: Object.fromEntries(url.searchParams),
    param: (name) => params.get(name) ?? '',
  });
  return { ...answer, headers: { ...answer.headers, ...verdict.headers } };
}

function run(
  route: Route,
  bytes: Buffer | 'too-large',
  contentType: string | undefined,
  call: Omit<Call, 'body' | 'uploads'>,
): Answer {
  try {
    if (bytes === 'too-large') refuse(REQUEST_TOO_LARGE);
    const { payload, uploads } = parseBody(bytes, contentType);
    return route.run({ ...call, body: payload, uploads });
  } catch (error) {
    const answer = answerOf(error);
    if (answer === undefined) throw error;
    return answer;
  }
}

const UNAUTHORIZED: Answer = { status: 401, body: { message: '401: Unauthorized', code: 0 } };

function deny(access: Access, userAgent: string | undefined, whose: Actor): Answer | undefined {
  if (access.kind === 'refused')
    return { status: 403, body: `The request's ${access.because} is not this workspace's.` };
  const claimsBot = whose === 'bot' && access.kind !== 'nobody';
  if (claimsBot && !/^DiscordBot \([^,)]+, ?[^)]+\)/.test(userAgent ?? ''))
    return { status: 403, body: 'error code: 1010' };
  return access.kind === 'wrong-token' ? UNAUTHORIZED : undefined;
}

function mayCall(route: Route, actor: Actor | undefined): boolean {
  if (route.who === 'anyone') return true;
  return actor !== undefined && (route.who === 'both' || route.who === actor);
}

function limited(verdict: Verdict, scope: 'user' | 'shared' | 'global'): Answer {
  const { retryAfterMs = 0, global = false } = verdict.refused ?? {};
  const seconds = Math.max(retryAfterMs, 1) / 1000;
  return {
    status: 429,
    body: {
      message: global ? 'You are being rate limited globally.' : 'You are being rate limited.',
      retry_after: Number(seconds.toFixed(3)),
      global,
      code: 0,
    },
    headers: {
      ...verdict.headers,
      'Retry-After': String(Math.ceil(seconds)),
      'X-RateLimit-Scope': global ? 'global' : scope,
      ...(global && { 'X-RateLimit-Global': 'true' }),
    },
  };
}

function send(response: ServerResponse, outcome: Outcome): void {
  if (outcome === 'silence') return;
  if (outcome === 'reset') return void response.socket?.destroy();
  const { status, body, headers } = outcome;
  const plain = typeof body === 'string';
  response.writeHead(status, {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(body !== undefined && {
      'Content-Type': plain ? 'text/plain; charset=utf-8' : 'application/json',
    }),
    ...headers,
  });
  response.end(body === undefined ? undefined : plain ? body : JSON.stringify(body));
}
