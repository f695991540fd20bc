// Everything that is not the API: the page and the uploaded files.

import { createReadStream, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AdmittedCaller, isOurHost } from './access/admit.ts';
import { type Asset, openAssets } from './assets.ts';
import type { Uploads } from './storage/uploads.ts';

const SHOWN_TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const SAFETY = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

interface Pages {
  handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void>;
}

export function makePages(attachments: Uploads, door: AdmittedCaller): Pages {
  const assets = openAssets();
  return {
    async handle(request, response, url) {
      if (!isOurHost(door, request.headers.host)) return end(response, 403, 'This is not an address of the workspace.');
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return end(response, 405, 'Only GET is answered here.');
      const asset = await assets.load(url.pathname);
      if (asset !== undefined) return sendAsset(request, response, asset);
      const file = attachments.locate(url.pathname);
      if (file !== undefined && attachments.isSigned(url.pathname, url.searchParams.get('hm')))
        return sendFile(response, file, url.pathname);
      end(response, 404, 'There is nothing here.');
    },
  };
}

/** For the bot, which alone reaches the socket: an address that it kept over a restart must still work. */
export function makeFiles(attachments: Uploads): Pages {
  return {
    async handle(request, response, url) {
      const file = attachments.locate(url.pathname);
      if (file === undefined || request.method !== 'GET') return end(response, 404, 'There is nothing here.');
      sendFile(response, file, url.pathname);
    },
  };
}

function sendAsset({ headers }: IncomingMessage, response: ServerResponse, asset: Asset): void {
  const packed = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
  const known = headers['if-none-match'] === asset.etag;
  response.writeHead(known ? 304 : 200, {
    ...SAFETY,
    // Not every browser takes 'self' to cover the socket too.
    'Content-Security-Policy': `${POLICY}; connect-src 'self' ws://${headers.host}`,
    'Content-Type': asset.type,
    'Cache-Control': 'no-cache',
    ETag: asset.etag,
    Vary: 'Accept-Encoding',
    ...(packed && { 'Content-Encoding': 'gzip' }),
  });
  response.end(known ? undefined : packed ? asset.gzipped : asset.plain);
}

/** Only pictures are shown in place; anything else, an HTML file above all, is a download. */
function sendFile(response: ServerResponse, file: string, pathname: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return end(response, 404, 'The file is gone.');
  const type = SHOWN_TYPES[/\.([a-z]+)$/i.exec(pathname)?.[1]?.toLowerCase() ?? ''];
  response.writeHead(200, {
    ...SAFETY,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Content-Type': type ?? 'application/octet-stream',
    'Content-Disposition': type === undefined ? 'attachment' : 'inline',
    'Content-Length': size,
    'Cache-Control': 'private, max-age=31536000, immutable',
  });
  createReadStream(file)
    .on('error', () => response.destroy())
    .pipe(response);
}

function end(response: ServerResponse, status: number, sentence: string): void {
  const close = status === 404 ? {} : { Connection: 'close' }; // nothing more of the request is read
  response.writeHead(status, { ...SAFETY, ...close, 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(`${sentence}\n`);
}
