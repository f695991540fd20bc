// The files of the page and what they are served as. Only what is listed at the start has an address at all.

import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { VENDOR, vendorFile } from './vendor.ts';

export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

interface Assets {
  /** Undefined for an address that is none of the page's. */
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
      // The promise is kept, not its result: however many ask before it is there, the file is read and packed once.
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
