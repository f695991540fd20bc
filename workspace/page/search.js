// Go anywhere: sessions by name, messages by what they say. Everything by keyboard.

import { call } from './api.js';
import { byId, h } from './dom.js';
import { timeOfId } from './ids.js';
import { hrefOf } from './session-list.js';
import { oneLine, shortAge } from './session-state.js';

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
    if (event.target === dialog) dialog.close(); // a tap beside it
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
