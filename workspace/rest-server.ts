// Handles one REST request: access, route, body, answer. A caller without access is refused before any of the body is read.
// The only place that catches errors of routes.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access, WorkspaceEntrance } from './access/admit.ts';
import type { ClientSessions } from './gateway/client-sessions.ts';
import type { Connection } from './gateway/gateway-server.ts';
import {
  answerOf,
  parseBody,
  type RefusalAnswer,
  type RequestBody,
  readBytes,
  type UploadedFile,
} from './request-body.ts';
import type { Actor } from './wire/guild.ts';
import type { Viewer, WorkspaceContext } from './workspace-context.ts';

export const API = '/api/v10';

export type RestHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  by: WorkspaceEntrance,
) => Promise<void>;

interface RestServerOptions {
  readonly context: WorkspaceContext;
  readonly routes: readonly RestRoute[];
  readonly inspection: Inspection;
  log(line: string): void;
}

export function makeRestServer(options: RestServerOptions): RestHandler {
  const { inspection } = options;
  return async (request, response, url, by) => {
    const method = request.method ?? 'GET';
    const path = url.pathname.slice(API.length);
    const permit = permitOf(options.routes, request, path, by);
    if (permit.kind === 'denied')
      return send(response, { ...permit.answer, headers: { ...permit.answer.headers, Connection: 'close' } });
    const bytes = await readBytes(request).catch(() => undefined);
    if (bytes === undefined) return void response.destroy();
    const read = await parseBody(bytes, request.headers['content-type']).catch(refusalOf);
    const answer = () => ('status' in read ? read : answerTo(options, request, url, permit, read));
    const body = 'status' in read ? undefined : read.payload;
    const inspected = { method, path, actor: permit.actor, body };
    send(response, (await inspection.request?.(inspected, answer)) ?? answer());
  };
}

type Permit = Extract<Match, { kind: 'route' }> & { readonly actor: Actor | undefined };
type Denied = { readonly kind: 'denied'; readonly answer: RefusalAnswer };

/** Uses only the headers. */
function permitOf(
  routes: readonly RestRoute[],
  { method = 'GET', headers }: IncomingMessage,
  path: string,
  by: WorkspaceEntrance,
): Permit | Denied {
  const access = by.admit(headers);
  const answer = deny(access, headers['user-agent'], by.actor);
  if (answer !== undefined) return { kind: 'denied', answer };
  const match = matchRoute(routes, method, path);
  if (match.kind === 'unknown') return denied(404, '404: Not Found');
  if (match.kind === 'wrong-method') return denied(405, '405: Method Not Allowed');
  const actor = access.kind === 'actor' ? access.actor : undefined;
  return mayCall(match.route, actor) ? { ...match, actor } : UNAUTHORIZED;
}

function denied(status: number, message: string): Denied {
  return { kind: 'denied', answer: { status, body: { message, code: 0 } } };
}

const UNAUTHORIZED = denied(401, '401: Unauthorized');

function refusalOf(error: unknown): RefusalAnswer {
  const answer = answerOf(error);
  if (answer === undefined) throw error;
  return answer;
}

function answerTo(
  { context, log }: RestServerOptions,
  { method, headers }: IncomingMessage,
  url: URL,
  { route, params, actor }: Permit,
  body: RequestBody,
): RefusalAnswer {
  try {
    return route.run({
      context,
      host: headers.host ?? 'localhost',
      viewer: { actor: actor ?? 'bot', seesContent: actor === 'person' || context.messageContentIntent },
      query: Object.fromEntries(url.searchParams),
      param: (name) => params.get(name) ?? '',
      body: body.payload,
      uploads: body.uploads,
    });
  } catch (error) {
    const answer = answerOf(error);
    if (answer !== undefined) return answer;
    const said = error instanceof Error ? error.stack : String(error);
    log(`${method} ${url.pathname} failed: ${said}`);
    return { status: 500, body: { message: '500: Internal Server Error', code: 0 } };
  }
}

function deny(access: Access, userAgent: string | undefined, whose: Actor): RefusalAnswer | undefined {
  if (access.kind === 'refused')
    return { status: 403, body: `The request's ${access.because} is not this workspace's.` };
  const claimsBot = whose === 'bot' && access.kind !== 'nobody';
  if (claimsBot && !/^DiscordBot \([^,)]+, ?[^)]+\)/.test(userAgent ?? ''))
    return { status: 403, body: 'error code: 1010' };
  return access.kind === 'wrong-token' ? UNAUTHORIZED.answer : undefined;
}

function mayCall(route: RestRoute, actor: Actor | undefined): boolean {
  if (route.who === 'anyone') return true;
  return actor !== undefined && (route.who === 'both' || route.who === actor);
}

function send(response: ServerResponse, outcome: InspectionOutcome): void {
  if (outcome === 'silence') return;
  if (outcome === 'reset') return void response.socket?.destroy();
  const { status, body, headers } = outcome;
  const plain = typeof body === 'string';
  response.writeHead(status, {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(body !== undefined && { 'Content-Type': plain ? 'text/plain; charset=utf-8' : 'application/json' }),
    ...headers,
  });
  response.end(body === undefined ? undefined : plain ? body : JSON.stringify(body));
}

// Routes: path patterns with functions. Unknown paths get 404, known paths with another method 405.
export interface RouteCall {
  readonly context: WorkspaceContext;
  readonly viewer: Viewer;
  /** The host name that the caller used. */
  readonly host: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly uploads: readonly UploadedFile[];
  param(name: string): string;
}

export interface RestRoute {
  readonly method: string;
  /** `/channels/:channel/messages`; a segment with a leading colon matches any one segment. */
  readonly path: string;
  /** Who may call it; `anyone` if an interaction's token, or nothing, protects it. */
  readonly who: Actor | 'both' | 'anyone';
  run(call: RouteCall): RefusalAnswer;
}

type Match =
  | { readonly kind: 'route'; readonly route: RestRoute; readonly params: ReadonlyMap<string, string> }
  | { readonly kind: 'wrong-method' }
  | { readonly kind: 'unknown' };

function matchRoute(routes: readonly RestRoute[], method: string, path: string): Match {
  const segments = path.split('/');
  let known = false;
  for (const route of routes) {
    const params = matchPath(route.path.split('/'), segments);
    if (params === undefined) continue;
    if (route.method === method) return { kind: 'route', route, params };
    known = true;
  }
  return known ? { kind: 'wrong-method' } : { kind: 'unknown' };
}

function matchPath(pattern: readonly string[], segments: readonly string[]): ReadonlyMap<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params = new Map<string, string>();
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (!part.startsWith(':')) {
      if (part !== segment) return undefined;
    } else {
      const value = decode(segment);
      if (value === undefined || value === '') return undefined;
      params.set(part.slice(1), value);
    }
  }
  return params;
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined; // an invalid % escape: no route has such a path
  }
}

// For tests only: makes the workspace as strict and as unreliable as Discord.
export interface InspectedRequest {
  readonly method: string;
  /** Without the API prefix and the query. */
  readonly path: string;
  /** Undefined for a caller without credentials. */
  readonly actor: Actor | undefined;
  /** Parsed; undefined if there is none or it is invalid. */
  readonly body: unknown;
}

/** An answer, a broken connection, or no answer at all. */
type InspectionOutcome = RefusalAnswer | 'reset' | 'silence';

export interface Inspection {
  /** Called for every admitted request: it may refuse or delay it, and change or drop its answer. Undefined: no change. */
  request?(
    request: InspectedRequest,
    answer: () => RefusalAnswer,
  ): InspectionOutcome | undefined | Promise<InspectionOutcome | undefined>;
  /** Called for each new gateway connection. */
  connection?(connection: Connection, sessions: ClientSessions): void;
}
