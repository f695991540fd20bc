// Files on their way into a message: dropped, pasted or chosen, shown before they are sent.

import { h, icon } from './dom.js';
import { size } from './message-view.js';

const MOST = 10;
const LARGEST = 10 * 1024 * 1024;

/** @param {readonly any[]} before @param {Iterable<File>} list */
export function addFiles(before, list) {
  const all = [...before];
  let refused;
  for (const file of list) {
    if (file.size > LARGEST) refused = `${file.name} is larger than 10 MB.`;
    else if (all.length >= MOST) refused = `At most ${MOST} files go with one message.`;
    else {
      const url = file.type.startsWith('image/') ? URL.createObjectURL(file) : undefined;
      all.push({ file, url });
    }
  }
  return { all, refused };
}

/** @param {any} list @param {readonly any[]} files @param {(left: any[]) => void} onLeft */
export function filesView(list, files, onLeft) {
  list.hidden = files.length === 0;
  list.replaceChildren(
    ...files.map((each) => {
      const { file, url } = each;
      const remove = h(
        'button',
        { type: 'button', class: 'quiet', 'aria-label': `Remove ${file.name}` },
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
        h('bdi', {}, file.name),
        h('small', {}, size(file.size)),
        remove,
      );
    }),
  );
}

/** @param {any} target @param {any} veil @param {(files: FileList) => void} take */
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
  // A file that misses the target must not replace the page.
  for (const type of ['dragover', 'drop'])
    document.addEventListener(type, (event) => {
      if (hasFiles(event)) event.preventDefault();
    });
  target.addEventListener('drop', (event) => {
    shown(false);
    if (hasFiles(event) && event.dataTransfer.files.length > 0) take(event.dataTransfer.files);
  });
}
