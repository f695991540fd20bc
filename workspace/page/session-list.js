// The sessions on the left, with their state, folder and time, and the search.

import { call } from './api.js';
import { arrange, byId, h } from './dom.js';
import { clockText, oneLine, shortAge, stateParts, timeOfId } from './session-state.js';

/** @param {string} id */
export function hrefOf(id) {
  return `#/${id}`;
}

/** With thousands of rows, the browser would be busy with each change. The search finds the others. */
export const MOST_LISTED = 300;

/** @param {readonly import('./thread-store.js').Place[]} places @param {string | undefined} current */
export function renderSessions(places, current) {
  const open = places.filter(({ archived }) => !archived);
  const closed = places.filter(({ archived }) => archived);
  fill(byId('sessions'), open, current);
  fill(byId('closed'), closed, current);
  const more = byId('more-sessions');
  more.hidden = open.length <= MOST_LISTED;
  more.textContent = `${open.length - MOST_LISTED} more. The search finds them.`;
  byId('no-sessions').hidden = places.length !== 1;
  byId('closed-part').hidden = closed.length === 0;
  byId('closed-count').textContent = String(closed.length);
}

const drawn = new WeakMap();

function fill(list, places, current) {
  const before = new Map([...list.children].map((row) => [row.dataset.id, row]));
  const listed = places.filter(({ id }, at) => at < MOST_LISTED || id === current);
  const rows = listed.map((place) => rowOf(before.get(place.id), place, place.id === current));
  arrange(list, rows);
}

/** Changed in place: the list is drawn often, and must keep the focus. */
function rowOf(before, place, isCurrent) {
  const row = before ?? h('li', { 'data-id': place.id }, h('a', { href: hrefOf(place.id) }));
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
      h('span', { class: `word ${place.state}` }, ...stateWords(place)),
      (place.kind ?? place.agent) !== undefined && h('span', { class: 'kind' }, place.kind ?? place.agent),
      place.host !== undefined && h('bdi', { class: 'host' }, place.host),
      h('span', { class: 'preview' }, preview),
    ),
  ];
}

/** The state of a session; a running clock if its duration matters. @param {import('./thread-store.js').Place} place */
export function stateWords(place) {
  const { words, since } = stateParts(place);
  const clock = since && h('span', { class: 'clock', 'data-since': since }, clockText(Date.now() - since));
  return [h('span', { class: 'words' }, words), clock].filter(Boolean);
}

/** All clocks count by themselves, without drawing anything else again. */
export function startClocks() {
  setInterval(() => {
    for (const clock of document.querySelectorAll('.clock'))
      clock.textContent = clockText(Date.now() - Number(clock.dataset.since));
  }, 1000);
}

function unreadMark({ unread }) {
  if (unread === 0) return undefined;
  return h('span', { class: 'count', 'aria-label': `${unread} unread` }, unread > 19 ? '19+' : String(unread));
}

// Search: sessions by name, messages by text. Works completely by keyboard.
const PAUSE_MS = 150;

const counted = (count) => (count === 1 ? '1 message' : `${count} messages`);

/** @param {{ places: any, guildId(): string | undefined, current(): string | undefined }} options */
export function makeSearch({ places, guildId, current }) {
  const dialog = byId('search');
  const box = byId('search-text');
  const results = byId('search-results');
  const note = byId('search-note');
  const only = byId('search-here');
  let active = 0;
  let asked = 0;
  let timer;
  let before;

  const items = () => [...results.querySelectorAll('[role=option]')];
  const mark = () => {
    items().forEach((item, at) => {
      item.setAttribute('aria-selected', String(at === active));
    });
    const item = items()[active];
    if (item) box.setAttribute('aria-activedescendant', item.id);
    else box.removeAttribute('aria-activedescendant');
    item?.scrollIntoView({ block: 'nearest' });
  };
  const go = (item) => {
    before = undefined;
    dialog.close();
    location.hash = item.dataset.href;
  };
  const draw = (rows) => {
    results.replaceChildren(
      ...rows.map(({ href, title, text, age }, at) => {
        const row = h(
          'div',
          { id: `result-${at}`, role: 'option', 'data-href': href },
          h('span', { class: 'line' }, h('bdi', { class: 'name' }, title), h('span', { class: 'age' }, age)),
          text ? h('span', { class: 'preview' }, text) : undefined,
        );
        row.addEventListener('click', () => go(row));
        return row;
      }),
    );
    active = 0;
    mark();
  };

  const update = async () => {
    const mine = ++asked;
    const words = box.value.trim();
    const sessions = places
      .all()
      .filter(({ name, host }) => `${name} ${host ?? ''}`.toLowerCase().includes(words.toLowerCase()))
      .slice(0, words === '' ? 12 : 5)
      .map((place) => ({
        href: hrefOf(place.id),
        title: place.channel ? `# ${place.name}` : place.name,
        text: place.last ? oneLine(place.last) : '',
        age: place.lastId ? shortAge(Date.now() - timeOfId(place.lastId)) : '',
      }));
    const here = only.checked;
    if (words === '') {
      note.textContent = 'Type to find a session or a message.';
      return draw(sessions);
    }
    const scope = here && current() ? `&channel_id=${current()}` : '';
    const answer = await call(
      'GET',
      `/guilds/${guildId()}/messages/search?limit=25&content=${encodeURIComponent(words)}${scope}`,
    );
    if (mine !== asked) return;
    const found = answer.ok ? answer.data.messages.flat() : [];
    note.textContent = answer.ok ? counted(answer.data.total_results) : answer.message;
    draw([
      ...(here ? [] : sessions),
      ...found.map((message) => ({
        href: `${hrefOf(message.channel_id)}/${message.id}`,
        title: places.get(message.channel_id)?.name ?? '',
        text: oneLine(message) || message.content.slice(0, 160),
        age: shortAge(Date.now() - timeOfId(message.id)),
      })),
    ]);
  };

  box.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(update, PAUSE_MS);
  });
  only.addEventListener('change', () => {
    box.focus();
    void update();
  });
  box.addEventListener('keydown', (event) => {
    const all = items();
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      active = (active + (event.key === 'ArrowDown' ? 1 : -1) + all.length) % Math.max(all.length, 1);
      mark();
    } else if (event.key === 'Enter') {
      if (all[active]) go(all[active]);
    } else return;
    event.preventDefault();
  });
  dialog.addEventListener('close', () => before?.focus?.());
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close(); // a click next to it
  });
  return {
    open() {
      if (dialog.open) return;
      before = document.activeElement;
      dialog.showModal();
      box.select();
      void update();
    },
  };
}
