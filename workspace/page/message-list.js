// The list of messages on the screen. When messages are added, changed or removed, the text that the user reads stays in place;
// at the end, the list stays at the end.

import { arrange, byId, h } from './dom.js';
import { messageView } from './message-view.js';
import { compareIds, isNews } from './session-state.js';

const NEAR_PX = 900;
const END_PX = 48;
const GROUP_MS = 5 * 60_000;

/**
 * @param {{ context: import('./message-view.js').Context, onNearStart(): void, onNearEnd(): void,
 *   onPlaceInList(atEnd: boolean): void }} options
 */
export function makeMessageList({ context, onNearStart, onNearEnd, onPlaceInList }) {
  const scroller = byId('scroller');
  const list = byId('messages');
  scroller.tabIndex = 0; // it scrolls, so the keyboard must reach it
  /** @type {Map<string, { row: any, message: any, look: string }>} */
  const rows = new Map();
  let pinned = true;
  let anchor;

  /** Remembers the row at the top of the screen, and how far it is from the top. */
  const record = () => {
    const distance = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    pinned = distance < END_PX;
    const top = scroller.getBoundingClientRect().top;
    let low = 0;
    let high = list.children.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list.children[middle].getBoundingClientRect().bottom > top) high = middle;
      else low = middle + 1;
    }
    const row = list.children[low];
    anchor = row && { row, offset: row.getBoundingClientRect().top - top };
  };
  const restore = () => {
    if (pinned) scroller.scrollTop = scroller.scrollHeight;
    else if (anchor?.row.isConnected) {
      const offset = anchor.row.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
      scroller.scrollTop += offset - anchor.offset;
    }
  };
  const look = () => {
    if (list.children.length === 0) return;
    if (scroller.scrollTop < NEAR_PX) onNearStart();
    if (scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR_PX) onNearEnd();
    onPlaceInList(pinned);
  };
  scroller.addEventListener(
    'scroll',
    () => {
      record();
      look();
    },
    { passive: true },
  );
  const watch = new ResizeObserver(restore);
  watch.observe(list);
  watch.observe(scroller);

  const rowFor = (message, before, isFirstNew) => {
    const newDay = before === undefined || dayOf(before) !== dayOf(message);
    const grouped = !newDay && !isFirstNew && belongsTo(message, before);
    const view = `${newDay} ${grouped} ${isFirstNew}`;
    const there = rows.get(message.id);
    if (there?.message === message && there.look === view) return there.row;
    const made = h(
      'li',
      { 'data-id': message.id },
      newDay && h('p', { class: 'divider day' }, h('span', {}, dayName(message))),
      isFirstNew && h('p', { class: 'divider new' }, h('span', {}, 'New')),
      messageView(message, { grouped }, context),
    );
    if (there !== undefined) replace(there.row, made);
    rows.set(message.id, { row: made, message, look: view });
    return made;
  };

  return {
    get pinned() {
      return pinned;
    },
    /**
     * @param {readonly any[]} messages
     * @param {{ change: string, readUpTo: string, focus?: string }} how
     */
    render(messages, { change, readUpTo, focus }) {
      if (change === 'reset') rows.clear();
      else record();
      const firstNew = messages.find((message) => compareIds(message.id, readUpTo) > 0 && isNews(message, context.me));
      const hasNew = firstNew !== undefined && readUpTo !== '0';
      const wanted = messages.map((message, at) => rowFor(message, messages[at - 1], hasNew && message === firstNew));
      const there = new Set(messages.map(({ id }) => id));
      for (const id of rows.keys()) if (!there.has(id)) rows.delete(id);
      arrange(list, wanted);
      if (change === 'reset') {
        pinned = focus === undefined;
        anchor = undefined;
        if (focus !== undefined) point(rows.get(focus)?.row);
      }
      restore();
      look();
    },
    toEnd() {
      pinned = true;
      restore();
    },
    clear() {
      rows.clear();
      list.replaceChildren();
    },
  };
}

/** A message is drawn again after its button was pressed; this moves the focus to the new button. */
function replace(before, after) {
  const focused = before.contains(document.activeElement) ? document.activeElement : undefined;
  before.replaceWith(after);
  if (focused === undefined) return;
  const key = focused.getAttribute('data-key');
  const same = [...after.querySelectorAll('[data-key]')].find(
    (each) => each.getAttribute('data-key') === key && !each.disabled,
  );
  (same ?? after.querySelector('button:not(:disabled)') ?? byId('text')).focus();
}

function point(row) {
  if (row === undefined) return;
  row.scrollIntoView({ block: 'center' });
  row.classList.add('pointed');
  setTimeout(() => row.classList.remove('pointed'), 2500);
}

function belongsTo(message, before) {
  return (
    message.author.id === before.author.id &&
    message.type === 0 &&
    before.type === 0 &&
    Date.parse(message.timestamp) - Date.parse(before.timestamp) < GROUP_MS
  );
}

function dayOf(message) {
  return new Date(message.timestamp).toDateString();
}

function dayName(message) {
  const date = new Date(message.timestamp);
  const away = Math.round(
    (new Date().setHours(0, 0, 0, 0) - new Date(message.timestamp).setHours(0, 0, 0, 0)) / 86_400_000,
  );
  if (away === 0) return 'Today';
  if (away === 1) return 'Yesterday';
  return date.toLocaleDateString(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
}
