// The strip at the top that says when the page is offline, and what to do.

import { announce, byId } from './dom.js';

/** @param {() => void} retryNow */
export function makeStatus(retryNow) {
  const strip = byId('offline');
  const words = byId('offline-words');
  const again = byId('retry-now');
  let line = { kind: 'connecting' };
  let shownKind;
  again.addEventListener('click', () => retryNow());

  const draw = () => {
    const { kind } = line;
    document.body.dataset.line = kind;
    strip.hidden = kind === 'online' || kind === 'connecting';
    again.hidden = kind !== 'offline';
    const seconds = Math.max(0, Math.ceil(((line.retryAt ?? 0) - Date.now()) / 1000));
    if (kind === 'stranger')
      words.textContent = 'This browser is not signed in. Open the link that `threadmux link` prints on this machine.';
    if (kind === 'insecure')
      words.textContent = `Browsers cannot sign in at this address. Open http://127.0.0.1:${location.port}, from another machine through an ssh tunnel.`;
    if (kind === 'offline')
      words.textContent = `Offline: the workspace cannot be reached. Trying again${seconds > 1 ? ` in ${seconds} s` : ''}…`;
    if (kind !== shownKind && shownKind !== undefined)
      announce(kind === 'online' ? 'Connected again.' : kind === 'offline' ? 'Offline.' : '');
    shownKind = kind;
  };
  setInterval(draw, 1000);
  return {
    /** @param {any} next */
    set(next) {
      line = next;
      draw();
    },
  };
}
