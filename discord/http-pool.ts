// Connections to one web server. `unix:<socket path>:<URL path>` is for the local workspace: only our own user can
// listen on a socket in our home, but any user can take a port.

import { type Dispatcher, Pool } from 'undici';
import { ThreadmuxError } from '../core/errors.ts';
import { untrustedCode, untrustedReason } from '../core/untrusted-text.ts';
import { VERSION } from '../core/version.ts';

/** Discord refuses clients without a user agent of this form. */
export const USER_AGENT = `DiscordBot (https://www.npmjs.com/package/threadmux, ${VERSION})`;

interface Address {
  readonly origin: string;
  readonly path: string;
  /** The socket to connect to instead of the origin's host. */
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

/** One request without a pool, so that no connection stays open. */
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

// Downloads attachments: only from the server's own attachment hosts, without redirects, and at most `maxBytes`.

const DISCORD_HOSTS: ReadonlySet<string> = new Set(['cdn.discordapp.com', 'media.discordapp.net']);

interface DownloadRules {
  /** The API address; a local workspace serves its own attachments. */
  readonly api: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export async function download(url: string, rules: DownloadRules): Promise<Uint8Array> {
  const from = ownAddress(url, rules.api);
  if (from === undefined) throw refused(url, 'its address is not an attachment of this server');
  const signal = AbortSignal.timeout(rules.timeoutMs);
  const options = { headers: { 'user-agent': USER_AGENT }, signal };
  try {
    return await requestOnce(from, options, rules.timeoutMs, async ({ statusCode, body }) => {
      if (statusCode !== 200) throw refused(url, `the server answered ${statusCode}`);
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        size += chunk.length;
        if (size > rules.maxBytes) throw refused(url, `it is larger than ${Math.floor(rules.maxBytes / 2 ** 20)} MB`);
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    });
  } catch (error) {
    if (error instanceof ThreadmuxError) throw error;
    throw refused(url, signal.aborted ? 'it took too long' : untrustedReason(error), error);
  }
}

/** The local workspace is reached through its socket, whatever port the address has: another user may have taken that port. */
function ownAddress(url: string, api: string): string | undefined {
  const asked = URL.canParse(url) ? new URL(url) : undefined;
  if (asked === undefined) return undefined;
  if (asked.protocol === 'https:' && DISCORD_HOSTS.has(asked.hostname)) return url;
  const { origin, socketPath } = addressOf(api);
  if (socketPath === undefined) return asked.origin === origin ? url : undefined;
  const isFile = asked.protocol === 'http:' && asked.pathname.startsWith('/attachments/');
  return isFile ? `unix:${socketPath}:${asked.pathname}` : undefined;
}

function refused(url: string, why: string, cause?: unknown): ThreadmuxError {
  const name = url.split('?')[0]?.split('/').at(-1) ?? 'the file';
  return new ThreadmuxError('discord_refused', `fetching ${untrustedCode(name)}: ${why}`, { cause });
}
