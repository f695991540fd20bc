// The files of a message: pictures, and downloads. They are shown and saved from this page's memory. An address in a picture or a link would let a program
// that has taken our port put its own files into the browser's cache, under the names of ours.

import { download } from './api.js';
import { h, icon } from './dom.js';

const PICTURES = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
]);
const NEAR = '900px';
const MOST_KEPT = 50;

export function filesView({ attachments }) {
  return h(
    'ul',
    { class: 'files', 'aria-label': 'Files' },
    ...attachments.map((file) => {
      const type = PICTURES.get(/\.([a-z]+)$/i.exec(file.filename)?.[1].toLowerCase() ?? '');
      return type === undefined ? downloadView(file) : pictureView(file, type);
    }),
  );
}

function pictureView(file, type) {
  const image = h('img', { alt: file.description ?? file.filename, decoding: 'async' });
  const link = h('a', { target: '_blank', rel: 'noopener noreferrer' }, image);
  whenNear(image, async () => {
    const url = await pictureAt(pathOf(file), type);
    if (url === undefined) return;
    image.src = url;
    link.href = url;
  });
  return h('li', { class: 'picture' }, link);
}

function downloadView(file) {
  const note = h('small', {}, size(file.size));
  const save = h(
    'button',
    { type: 'button', class: 'file', title: 'Download' },
    icon('file'),
    h('bdi', {}, file.filename),
    note,
  );
  save.addEventListener('click', async () => {
    const bytes = await download(pathOf(file));
    note.textContent = bytes === undefined ? 'cannot be loaded' : size(file.size);
    if (bytes === undefined) return;
    const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
    h('a', { href: url, download: file.filename }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  });
  return h('li', {}, save);
}

/** The file's address by the host name that this browser uses, whatever name the workspace uses. */
function pathOf(file) {
  const url = new URL(file.url, location.href);
  return url.pathname + url.search;
}

/** The newest pictures by address: a message is drawn again whenever it changes. @type {Map<string, Promise<string | undefined>>} */
const kept = new Map();

function pictureAt(path, type) {
  const known = kept.get(path);
  if (known !== undefined) return known;
  const made = download(path).then((bytes) => {
    if (bytes !== undefined) return URL.createObjectURL(new Blob([bytes], { type }));
    kept.delete(path);
    return undefined;
  });
  kept.set(path, made);
  for (const [oldest, url] of kept) {
    if (kept.size <= MOST_KEPT) break;
    kept.delete(oldest);
    void url.then((one) => one && URL.revokeObjectURL(one)); // what is shown stays
  }
  return made;
}

const waiting = new WeakMap();
const watch = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      waiting.get(target)?.();
    }
  },
  { rootMargin: NEAR },
);

/** Calls it once, when the element is on the screen or near it. */
function whenNear(element, act) {
  waiting.set(element, act);
  watch.observe(element);
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
