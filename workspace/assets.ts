// Serves everything that is not the API: the page, its libraries and the uploaded files. Only files that are listed at the start
// have an address.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pipeline } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ownValue } from '../core/own-value.ts';
import { type AdmittedCaller, isOurHost } from './access/admit.ts';
import type { Uploads } from './storage/uploads.ts';

interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

interface Assets {
  /** Undefined if the page has no such file. */
  load(pathname: string): Promise<Asset | undefined>;
  readonly paths: readonly string[];
}

const PAGE = new URL('./page/', import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};

export function openAssets(): Assets {
  const files = new Map<string, string>([
    ...readdirSync(PAGE)
      .filter((name) => extname(name) in TYPES)
      .map((name) => [addressOf(name), fileURLToPath(new URL(name, PAGE))] as const),
    ...Object.keys(VENDOR).map((path) => [`/vendor/${path}`, vendorFile(path)] as const),
  ]);
  const kept = new Map<string, { readonly changed: number; readonly asset: Promise<Asset> }>();
  return {
    paths: [...files.keys()],
    async load(pathname) {
      const file = files.get(pathname);
      if (file === undefined) return undefined;
      const changed = (await stat(file)).mtimeMs;
      const known = kept.get(pathname);
      if (known?.changed === changed) return known.asset;
      // Keep the promise, not its result: concurrent requests read and compress the file once.
      const asset = read(file);
      kept.set(pathname, { changed, asset });
      asset.catch(() => kept.delete(pathname));
      return asset;
    },
  };
}

function addressOf(name: string): string {
  return name === 'index.html' ? '/' : `/${name}`;
}

async function read(file: string): Promise<Asset> {
  const plain = await readFile(file);
  return {
    type: TYPES[extname(file)] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    gzipped: await promisify(gzip)(plain, { level: 9 }),
  };
}

const SHOWN_TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};
/** No picture has an address here: the browser would request it, and keep it, from any program that has the port. See page/files.js. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src blob: data:; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const SAFETY = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Answers a part of the addresses. */
export type PageHandler = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void>;

export function makePages(attachments: Uploads, door: AdmittedCaller): PageHandler {
  const assets = openAssets();
  return async (request, response, url) => {
    if (!isOurHost(door, request.headers.host))
      return end(response, 403, 'This is not an address of the workspace. Open the one that threadmux printed.');
    if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405, 'Only GET is answered here.');
    if (request.headers['service-worker'] === 'script') return endWorker(response);
    if (request.headers[FORGET] !== undefined) return forgetAll(response);
    const asset = await assets.load(url.pathname);
    if (asset !== undefined) return sendAsset(request, response, asset);
    const file = attachments.locate(url.pathname);
    if (file !== undefined && attachments.isSigned(url.pathname, url.searchParams.get('hm')))
      return sendFile(response, file, url.pathname);
    end(response, 404, 'There is nothing here.');
  };
}

/**
 * Our page has no service worker. Another program installed it while it had our port. The browser takes this as its new version, which removes
 * itself and everything else that the browser keeps for this address, also the key that the worker could use. Firefox removes nothing if the answer
 * to the request for the script says so; it does if a worker asks. No other site can send this header.
 */
const FORGET = 'threadmux-forget';
const LAST_WORKER = `addEventListener('install', () => skipWaiting());
const forget = () => fetch(location.href, { headers: { '${FORGET}': 'all' }, cache: 'no-store' });
addEventListener('activate', (event) => event.waitUntil(forget().then(() => registration.unregister())));
`;

function endWorker(response: ServerResponse): void {
  response.writeHead(200, {
    ...SAFETY,
    'Content-Security-Policy': "default-src 'none'; connect-src 'self'",
    'Content-Type': 'text/javascript; charset=utf-8',
    'Cache-Control': 'no-store',
  });
  response.end(LAST_WORKER);
}

function forgetAll(response: ServerResponse): void {
  response.setHeader('Clear-Site-Data', '"*"');
  end(response, 404, 'There is no service worker.');
}

/** For the bot, the only client on the socket: an address that it saved before a restart must still work. */
export function makeFiles(attachments: Uploads): PageHandler {
  return async (request, response, url) => {
    const file = attachments.locate(url.pathname);
    if (file === undefined || request.method !== 'GET') return end(response, 404, 'There is nothing here.');
    sendFile(response, file, url.pathname);
  };
}

function sendAsset({ headers }: IncomingMessage, response: ServerResponse, asset: Asset): void {
  const packed = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
  const known = headers['if-none-match'] === asset.etag;
  response.writeHead(known ? 304 : 200, {
    ...SAFETY,
    // In some browsers 'self' does not include WebSockets.
    'Content-Security-Policy': `${POLICY}; connect-src 'self' ws://${headers.host}`,
    'Content-Type': asset.type,
    'Cache-Control': 'no-cache',
    ETag: asset.etag,
    Vary: 'Accept-Encoding',
    ...(packed && { 'Content-Encoding': 'gzip' }),
  });
  response.end(known ? undefined : packed ? asset.gzipped : asset.plain);
}

/** Only pictures are shown inline. Everything else, above all HTML, is a download. */
function sendFile(response: ServerResponse, file: string, pathname: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return end(response, 404, 'The file is gone.');
  const type = ownValue(SHOWN_TYPES, /\.([a-z]+)$/i.exec(pathname)?.[1]?.toLowerCase() ?? '');
  response.writeHead(200, {
    ...SAFETY,
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Content-Type': type ?? 'application/octet-stream',
    'Content-Disposition': type === undefined ? 'attachment' : 'inline',
    'Content-Length': size,
    'Cache-Control': 'private, max-age=31536000, immutable',
  });
  pipeline(createReadStream(file), response, () => {}); // closes the file, also if the client leaves before the end
}

function end(response: ServerResponse, status: number, sentence: string): void {
  const close = status === 404 ? {} : { Connection: 'close' }; // the rest of the request is not read
  response.writeHead(status, { ...SAFETY, ...close, 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(`${sentence}\n`);
}

// The libraries of the page, by address. The build copies them next to the page, so that the package does not depend on
// theirs; from source they are read from node_modules.
const LANGUAGES = [
  ...['bash', 'c', 'cpp', 'css', 'diff', 'dockerfile', 'go', 'ini', 'java', 'javascript', 'json'],
  ...['kotlin', 'markdown', 'php', 'python', 'ruby', 'rust', 'sql', 'swift', 'typescript', 'xml', 'yaml'],
];

/** Path under `page/vendor/` -> file in the package. */
export const VENDOR: Readonly<Record<string, string>> = {
  'markdown-it.js': 'markdown-it/dist/markdown-it.min.js',
  'highlight/core.js': '@highlightjs/cdn-assets/es/core.min.js',
  ...Object.fromEntries(
    LANGUAGES.map((name) => [`highlight/${name}.js`, `@highlightjs/cdn-assets/es/languages/${name}.min.js`]),
  ),
};

/** Shipped with the copies, but not served. */
export const LICENSES: Readonly<Record<string, string>> = {
  'markdown-it.LICENSE': 'markdown-it/LICENSE',
  'highlight/LICENSE': '@highlightjs/cdn-assets/LICENSE',
};

function vendorFile(path: string): string {
  const copy = fileURLToPath(new URL(`./page/vendor/${path}`, import.meta.url));
  return existsSync(copy) ? copy : fileInPackage(VENDOR[path] ?? '');
}

export function fileInPackage(file: string): string {
  return createRequire(import.meta.url).resolve(file);
}
