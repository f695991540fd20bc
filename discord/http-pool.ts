// Connections to one web server. undici's parts are taken by their own paths: the whole package would load fetch,
// caches and WebSockets as well, more memory than everything else that an idle bridge keeps.

import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import type { Dispatcher, Pool } from 'undici';
import { type Address, addressOf } from './address.ts';

export const POOL_PATH = 'undici/lib/dispatcher/pool.js';
export const REQUEST_PATH = 'undici/lib/api/api-request.js';

export interface HttpPool {
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
  destroy(): Promise<void>;
}

type Load = (path: string) => unknown;

export function openPool(
  { origin, socketPath }: Address,
  timeoutMs: number,
  load: Load = createRequire(import.meta.url),
): HttpPool {
  // The HTTP parser is WebAssembly; optimising it takes more memory than all the rest of an idle client.
  setFlagsFromString('--liftoff-only');
  const parts = loadParts(load);
  const pool = new parts.Pool(origin, {
    connectTimeout: timeoutMs,
    allowH2: false,
    ...(socketPath !== undefined && { socketPath }),
  });
  return {
    request: (options) => parts.request.call(pool, options),
    destroy: () => pool.destroy(),
  };
}

/** One request to a server that is not asked again, so that no connection stays. */
export async function requestOnce<T>(
  url: string,
  options: Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'method'>,
  timeoutMs: number,
  read: (answer: Dispatcher.ResponseData) => Promise<T>,
): Promise<T> {
  const address = addressOf(url);
  const pool = openPool(address, timeoutMs);
  try {
    return await read(await pool.request({ ...options, method: 'GET', path: address.path }));
  } finally {
    await pool.destroy();
  }
}

interface Parts {
  readonly Pool: typeof Pool;
  readonly request: (
    this: Pool,
    options: Dispatcher.RequestOptions,
  ) => Promise<Dispatcher.ResponseData>;
}

/** The paths are no promise of undici's: where they have moved, memory is the price, not the bridge. */
function loadParts(load: Load): Parts {
  try {
    return {
      Pool: load(POOL_PATH) as Parts['Pool'],
      request: load(REQUEST_PATH) as Parts['request'],
    };
  } catch {
    const whole = load('undici') as { Pool: typeof Pool };
    return { Pool: whole.Pool, request: whole.Pool.prototype.request };
  }
}
