// The files of a message: pictures, downloads, and those that are still to be sent. They are shown and saved from this page's memory. An address in a picture or a link would let a program
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
function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

// Before the message is sent: dropped, pasted or chosen.

const MOST_SENT = 10;
const LARGEST = 10 * 1024 * 1024;

/**
 * What was dropped or pasted. A folder looks like a file, but cannot be read: the message with it would never be sent.
 * @param {DataTransfer} from
 */
export function filesIn(from) {
  const entries = [...from.items].filter(({ kind }) => kind === 'file').map((item) => item.webkitGetAsEntry?.());
  const isFolder = (at) => entries[at]?.isDirectory === true;
  const files = [...from.files];
  const folder = files.find((_, at) => isFolder(at));
  return {
    files: files.filter((_, at) => !isFolder(at)),
    refused: folder && `${shownName(folder.name)} is a folder. Send its files, or pack it into one file.`,
  };
}

/** @param {readonly any[]} before @param {{ files: Iterable<File>, refused?: string }} given */
export function addFiles(before, given) {
  const all = [...before];
  let { refused } = given;
  for (const file of given.files) {
    if (file.size > LARGEST) refused = `${shownName(file.name)} is larger than 10 MB.`;
    else if (all.length >= MOST_SENT) refused = `At most ${MOST_SENT} files go with one message.`;
    else {
      const url = file.type.startsWith('image/') ? URL.createObjectURL(file) : undefined;
      all.push({ file, url });
    }
  }
  return { all, refused };
}

/** @param {any} list @param {readonly any[]} files @param {(left: any[]) => void} onLeft */
export function unsentView(list, files, onLeft) {
  list.hidden = files.length === 0;
  list.replaceChildren(
    ...files.map((each) => {
      const { file, url } = each;
      const remove = h(
        'button',
        { type: 'button', class: 'quiet', 'aria-label': `Remove ${shownName(file.name)}` },
        icon('close'),
      );
      remove.addEventListener('click', () => {
        if (url) URL.revokeObjectURL(url);
        onLeft(files.filter((other) => other !== each));
      });
      return h(
        'li',
        {},
        url ? h('img', { src: url, alt: '' }) : icon('file'),
        h('bdi', {}, shownName(file.name)),
        h('small', {}, size(file.size)),
        remove,
      );
    }),
  );
}

/**
 * Characters that nobody sees or that turn words around are spelled out, as threadmux does in every text. What joins emoji stays.
 * @param {string} name
 */
function shownName(name) {
  return name.replace(/(?!\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (one) => {
    const code = one.codePointAt(0)?.toString(16).toUpperCase();
    return `⟨U+${code?.padStart(4, '0')}⟩`;
  });
}

/** @param {any} target @param {any} veil @param {(given: ReturnType<typeof filesIn>) => void} take */
export function dropFiles(target, veil, take) {
  const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');
  let depth = 0;
  const shown = (on) => {
    veil.hidden = !on;
    if (!on) depth = 0;
  };
  target.addEventListener('dragenter', (event) => {
    if (!hasFiles(event)) return;
    depth++;
    shown(true);
  });
  target.addEventListener('dragleave', () => {
    if (--depth <= 0) shown(false);
  });
  // A file that is dropped next to the target must not replace the page.
  for (const type of ['dragover', 'drop'])
    document.addEventListener(type, (event) => {
      if (hasFiles(event)) event.preventDefault();
    });
  target.addEventListener('drop', (event) => {
    shown(false);
    if (hasFiles(event) && event.dataTransfer.files.length > 0) take(filesIn(event.dataTransfer));
  });
}
