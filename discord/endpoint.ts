// Which requests share a rate limit, and which of them may be sent twice.

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export interface Endpoint {
  /** The request with its ids left out: what a bucket hash is learned for. */
  readonly key: string;
  /** The channel, guild or webhook the limit is counted for. */
  readonly major: string;
  /** Interaction callbacks have three seconds and no limit: they wait for nobody. */
  readonly urgent: boolean;
}

export function endpointOf(method: Method, path: string, body?: unknown): Endpoint {
  const bare = path.split('?')[0] ?? path;
  const major = bare.match(/^\/(?:channels|guilds)\/(\d+)|^\/webhooks\/(\d+\/[^/]+)/);
  const shape = bare
    .replace(/^\/(webhooks|interactions)\/\d+\/[^/]+/, '/$1/:id/:token')
    .replace(/\/reactions\/.*/, '/reactions/:any')
    .replace(/\d{15,20}/g, ':id');
  return {
    key: `${method} ${shape}${renames(method, shape, body) ? ' name' : ''}`,
    major: major?.[1] ?? major?.[2] ?? '',
    urgent: shape.startsWith('/interactions/') || shape.startsWith('/webhooks/'),
  };
}

/** Renaming has a limit of its own, of minutes: archiving must not stand behind it in the queue. */
function renames(method: Method, shape: string, body: unknown): boolean {
  return method === 'PATCH' && shape === '/channels/:id' && typeof body === 'object' && body !== null && 'name' in body;
}

/** A request whose repetition does no harm, so that a lost answer may be asked for again. */
export function isRepeatable(method: Method, path: string, body: unknown): boolean {
  if (method !== 'POST') return true;
  if (typeof body === 'object' && body !== null && 'enforce_nonce' in body) return true;
  // The second of these is refused (THREAD_ALREADY_CREATED, ALREADY_ACKNOWLEDGED), and the callers know what that means.
  return /\/(typing|threads|callback)$/.test(path.split('?')[0] ?? path);
}
