// What a browser gets: every module of the page and its libraries, compressed and cached, and nothing from other servers.

import { fstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { openAssets } from '../../workspace/assets.ts';
import { startTestWorkspace } from '../support/workspace.ts';

const PAGE = new URL('../../workspace/page/', import.meta.url);
const modules = readdirSync(PAGE).filter((name) => name.endsWith('.js'));
const read = (name: string) => readFileSync(new URL(name, PAGE), 'utf8');

describe('the page', () => {
  it('is under 150 kB gzipped, with every module and language', async () => {
    const assets = openAssets();
    const all = await Promise.all(assets.paths.map((path) => assets.load(path)));
    const weight = all.reduce((sum, asset) => sum + (asset?.gzipped.length ?? Number.NaN), 0);
    expect(weight).toBeLessThan(150_000);
    expect(weight).toBeGreaterThan(50_000);
  });

  it('reads and compresses a file once, however many requests arrive at the same time', async () => {
    const assets = openAssets();
    const [one, other] = await Promise.all([assets.load('/page.js'), assets.load('/page.js')]);
    expect(one?.gzipped.length).toBeGreaterThan(0);
    expect(other).toBe(one);
    expect(await assets.load('/page.js')).toBe(one);
  });

  it('preloads every module, so that none waits for another', () => {
    const html = read('index.html');
    const named = [...html.matchAll(/modulepreload" href="\/([\w-]+\.js)"/g)].map(([, name]) => name);
    const alone = ['page.js', 'theme.js']; // separate scripts
    expect(named).toEqual(modules.filter((name) => !alone.includes(name)));
  });

  it('requests nothing from other servers', () => {
    const html = read('index.html');
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  it.each(modules)('has a short module without markup: %s', (name) => {
    const source = read(name);
    expect(source.split('\n').length - 1).toBeLessThanOrEqual(250);
    expect(source).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/);
  });

  it('is sent compressed, and not again if it has not changed', async () => {
    const workspace = await startTestWorkspace();
    const first = await fetch(`${workspace.url}/page.js`);
    expect(first.headers.get('content-encoding')).toBe('gzip');
    expect(await first.text()).toBe(read('page.js'));
    const etag = first.headers.get('etag') ?? '';
    const again = await fetch(`${workspace.url}/page.js`, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const plain = await fetch(`${workspace.url}/page.js`, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toBe(read('page.js'));
  });

  it('includes its libraries', async () => {
    const workspace = await startTestWorkspace();
    for (const path of ['/vendor/markdown-it.js', '/vendor/highlight/rust.js'])
      expect((await fetch(workspace.url + path)).status).toBe(200);
    expect((await fetch(`${workspace.url}/vendor/highlight/LICENSE`)).status).toBe(404);
  });
});

// Another program installed it while it had our port. In Firefox, removing it takes a script: squatter.test.ts shows the same in Chromium only.
describe('a service worker', () => {
  const asked = { 'service-worker': 'script', 'sec-fetch-site': 'same-origin' };

  it('is replaced by one that removes itself, and asks the browser to forget everything', async () => {
    const { url } = await startTestWorkspace();
    const last = await fetch(`${url}/worker.js`, { headers: asked });
    expect([last.status, last.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(last.headers.get('clear-site-data')).toBeNull(); // Firefox would drop the new worker, and keep the old one
    const acts: string[] = [];
    const listeners = new Map<string, (event: object) => void>();
    const waits: Promise<unknown>[] = [];
    const inWorker = {
      addEventListener: (type: string, act: (event: object) => void) => listeners.set(type, act),
      skipWaiting: () => acts.push('skipWaiting'),
      location: { href: `${url}/worker.js` },
      fetch: async (...what: Parameters<typeof fetch>) =>
        acts.push((await fetch(...what)).headers.get('clear-site-data') ?? ''),
      registration: { unregister: () => acts.push('unregister') },
    };
    runInNewContext(await last.text(), inWorker);
    for (const type of ['install', 'activate'])
      listeners.get(type)?.({ waitUntil: (done: Promise<unknown>) => waits.push(done) });
    await Promise.all(waits);
    expect(acts).toEqual(['skipWaiting', '"*"', 'unregister']);
  });

  it('is what only our own address may ask for: another site cannot make the browser forget its key', async () => {
    const { url } = await startTestWorkspace();
    const wish = { origin: 'http://evil.example', 'access-control-request-headers': 'threadmux-forget' };
    const before = await fetch(`${url}/`, { method: 'OPTIONS', headers: wish });
    expect([before.status, before.headers.get('access-control-allow-origin')]).toEqual([405, null]);
    for (const path of ['/', '/page.js', '/worker.js'])
      expect((await fetch(url + path)).headers.get('clear-site-data')).toBeNull();
  });
});

/** Our descriptors of files in this folder. */
function openFiles(folder: string): readonly string[] {
  const inside = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const wanted = inside.map((name) => statSync(join(folder, name)).ino);
  return readdirSync('/dev/fd').filter((fd) => {
    try {
      return wanted.includes(fstatSync(Number(fd)).ino);
    } catch {
      return false; // the one that listed the folder
    }
  });
}

describe('an uploaded file', () => {
  it('is closed when the client leaves before its end', async () => {
    const workspace = await startTestWorkspace();
    const files = [{ name: 'a.bin', data: new Uint8Array(9_000_000) }];
    const { attachments } = await workspace.person.say(workspace.channelId, '', { files });
    const leaving = new AbortController();
    await fetch(attachments[0]?.url ?? '', { signal: leaving.signal });
    expect(openFiles(`${workspace.dir}/files`)).toHaveLength(1);
    leaving.abort();
    await vi.waitFor(() => expect(openFiles(`${workspace.dir}/files`)).toEqual([]));
  });
});
