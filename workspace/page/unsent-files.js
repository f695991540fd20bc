// The files of a message before it is sent: dropped, pasted or chosen.

import { h, icon } from './dom.js';
import { size } from './files.js';

const MOST = 10;
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
    refused: folder && `${folder.name} is a folder. Send its files, or pack it into one file.`,
  };
}

/** @param {readonly any[]} before @param {{ files: Iterable<File>, refused?: string }} given */
export function addFiles(before, given) {
  const all = [...before];
  let { refused } = given;
  for (const file of given.files) {
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
