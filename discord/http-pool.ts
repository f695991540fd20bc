// Connections to one web server. Beside web addresses there is `unix:<path of a socket>:<path of the URL>`, for the local workspace:
// only our own user can listen at a socket in the home, while anybody can take a port.

import { type Dispatcher, Pool } from 'undici';
import { VERSION } from '../core/version.ts';

/** Discord's edge refuses clients that do not name themselves in this form. */
export const USER_AGENT = `DiscordBot (https://www.npmjs.com/package/threadmux, ${VERSION})`;

interface Address {
  readonly origin: string;
  readonly path: string;
  /** Where connections go instead of to the origin's host. */
  readonly socketPath?: string;
}

export function addressOf(url: string): Address {
  const [, socketPath, path = '/'] = /^unix:(\/.+):(\/[^:]*)$/.exec(url) ?? [];
  if (socketPath !== undefined) return { origin: 'http://localhost', path, socketPath };
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

export function openPool({ origin, socketPath }: Address, timeoutMs: number): Pool {
  return new Pool(origin, {
    connectTimeout: timeoutMs,
    allowH2: false,
    ...(socketPath !== undefined && { socketPath }),
  });
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
