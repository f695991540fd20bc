// The sessions on the left: who they are, what they do, where and since when.

import { byId, h } from './dom.js';
import { timeOfId } from './ids.js';
import { oneLine, STATES, shortAge } from './session-state.js';

/** @param {string} id */
export function hrefOf(id) {
  return `#/${id}`;
}

/** @param {readonly import('./places.js').Place[]} places @param {string | undefined} current */
export function renderSessions(places, current) {
  const open = places.filter(({ archived }) => !archived);
  const closed = places.filter(({ archived }) => archived);
  fill(byId('sessions'), open, current);
  fill(byId('closed'), closed, current);
  byId('no-sessions').hidden = places.length !== 1;
  byId('closed-part').hidden = closed.length === 0;
  byId('closed-count').textContent = String(closed.length);
}

const drawn = new WeakMap();

function fill(list, places, current) {
  const rows = places.map((place) => rowOf(list, place, place.id === current));
  const keep = new Set(rows);
  for (const child of [...list.children]) if (!keep.has(child)) child.remove();
  rows.forEach((row, at) => {
    if (list.children[at] !== row) list.insertBefore(row, list.children[at] ?? null);
  });
}

/** Changed in place: the list is drawn often, and a focus in it must survive. */
function rowOf(list, place, isCurrent) {
  const row =
    [...list.children].find((each) => each.dataset.id === place.id) ??
    h('li', { 'data-id': place.id }, h('a', { href: hrefOf(place.id) }));
  const age = place.lastId ? shortAge(Date.now() - timeOfId(place.lastId)) : '';
  const preview = place.last === undefined ? '' : oneLine(place.last);
  const key = JSON.stringify([{ ...place, last: undefined }, preview, age, isCurrent]);
  if (drawn.get(row) === key) return row;
  drawn.set(row, key);
  const link = row.firstElementChild;
  if (isCurrent) link.setAttribute('aria-current', 'page');
  else link.removeAttribute('aria-current');
  link.className = place.unread > 0 ? 'session unread' : 'session';
  link.replaceChildren(...(place.channel ? channelLines(place) : sessionLines(place, preview, age)));
  return row;
}

function channelLines(place) {
  return [
    h(
      'span',
      { class: 'line' },
      h('span', { class: 'sign', 'aria-hidden': 'true' }, '#'),
      h('bdi', { class: 'name' }, place.name),
      unreadMark(place),
    ),
  ];
}

function sessionLines(place, preview, age) {
  return [
    h(
      'span',
      { class: 'line' },
      h('span', { class: `state ${place.state}`, 'aria-hidden': 'true' }),
      h('bdi', { class: 'name' }, place.name),
      unreadMark(place),
      h('span', { class: 'age' }, age),
    ),
    h(
      'span',
      { class: 'line detail' },
      h('span', { class: `word ${place.state}` }, STATES[place.state]),
      place.kind !== undefined && h('span', { class: 'kind' }, place.kind),
      place.host !== undefined && h('bdi', { class: 'host' }, place.host),
      h('span', { class: 'preview' }, preview),
    ),
  ];
}

function unreadMark({ unread }) {
  if (unread === 0) return undefined;
  return h('span', { class: 'count', 'aria-label': `${unread} unread` }, unread > 19 ? '19+' : String(unread));
}
