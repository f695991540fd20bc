// Connections to one web server, over the network or through a Unix socket.

import { type Dispatcher, Pool } from 'undici';
import { type Address, addressOf } from './address.ts';

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
