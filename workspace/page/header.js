// The line above the conversation, the page's title, and the choice of theme.

import { byId, h, icon } from './dom.js';
import { recall, remember } from './saved.js';
import { STATES } from './session-state.js';

const THEMES = ['auto', 'light', 'dark'];

export function makeHeader() {
  const button = byId('theme');
  let theme = recall('theme', 'auto');
  const apply = () => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    const words = `Theme: ${theme === 'auto' ? 'as the system' : theme}`;
    button.setAttribute('aria-label', words);
    button.title = words;
    button.replaceChildren(icon({ auto: 'auto', light: 'sun', dark: 'moon' }[theme] ?? 'auto'));
  };
  button.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    remember('theme', theme);
    apply();
  });
  apply();
  if (/Mac|iPhone|iPad/.test(navigator.platform)) byId('open-search').querySelector('kbd').textContent = '⌘ K';

  return {
    /** @param {import('./places.js').Place | undefined} place @param {readonly import('./places.js').Place[]} all */
    draw(place, all) {
      const waiting = all.filter(({ state, archived }) => state === 'needs' && !archived).length;
      const unread = all.some((each) => each.unread > 0);
      const mark = waiting > 0 ? `(${waiting}) ` : unread ? '• ' : '';
      document.title = `${mark}${place === undefined ? 'threadmux' : `${place.name} · threadmux`}`;
      byId('typing').hidden = place?.typing !== true;
      if (place === undefined) return;
      byId('place-name').textContent = place.channel ? `# ${place.name}` : place.name;
      const parts = place.channel
        ? ['Start sessions here; each has its own thread.']
        : [place.kind, place.host, place.cwd].filter(Boolean);
      byId('place-detail').textContent = parts.join(' · ');
      byId('place-detail').title = parts.join(' · ');
      const state = place.channel
        ? []
        : [h('span', { class: `state ${place.state}`, 'aria-hidden': 'true' }), STATES[place.state]];
      const shown = byId('place-state');
      shown.className = `word ${place.state}`;
      shown.replaceChildren(...state);
      shown.hidden = place.channel;
    },
  };
}
