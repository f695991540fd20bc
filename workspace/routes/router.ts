// Which route answers a request: path patterns to functions. Unknown paths are 404, known ones with the wrong method 405.

import type { RefusalAnswer } from '../refusal.ts';
import type { UploadedFile } from '../request-body.ts';
import type { Actor } from '../wire/guild.ts';
import type { Viewer, WorkspaceContext } from '../workspace-context.ts';

export interface RouteCall {
  readonly world: WorkspaceContext;
  readonly viewer: Viewer;
  /** The name under which the caller reached us. */
  readonly host: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly uploads: readonly UploadedFile[];
  param(name: string): string;
}

export interface RestRoute {
  readonly method: string;
  /** `/channels/:channel/messages`; a segment that begins with a colon matches any one segment. */
  readonly path: string;
  /** Who may call it; `anyone` for what an interaction's token or nothing at all protects. */
  readonly who: Actor | 'both' | 'anyone';
  run(call: RouteCall): RefusalAnswer;
}

export type Match =
  | { readonly kind: 'route'; readonly route: RestRoute; readonly params: ReadonlyMap<string, string> }
  | { readonly kind: 'wrong-method' }
  | { readonly kind: 'unknown' };

export function matchRoute(routes: readonly RestRoute[], method: string, path: string): Match {
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
    return undefined; // a stray % sign: no route has such a path
  }
}
