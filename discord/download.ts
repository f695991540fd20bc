// Fetches what people attach to their messages. Only from the server's own attachment hosts, never
// through a redirect, and never more than was agreed.

import { ThreadmuxError } from '../core/errors.ts';
import { addressOf, requestOnce, USER_AGENT } from './http-pool.ts';

const DISCORD_HOSTS: ReadonlySet<string> = new Set(['cdn.discordapp.com', 'media.discordapp.net']);

interface DownloadRules {
  /** The API we speak to: a local workspace serves its attachments itself. */
  readonly api: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export async function download(url: string, rules: DownloadRules): Promise<Uint8Array> {
  const from = ownAddress(url, rules.api);
  if (from === undefined) throw refused(url, 'it is not on the server’s own attachment host');
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
    throw refused(url, signal.aborted ? 'it took too long' : (error as Error).message, error);
  }
}

/** The local workspace is asked through its socket, whatever port an address names: another user may have that port now. */
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
  return new ThreadmuxError('discord_refused', `fetching ${name}: ${why}`, { cause });
}
