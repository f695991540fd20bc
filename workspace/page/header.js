// The line above the conversation, the page's title, the theme, notifications and the offline message.
import { announce, byId, h, icon, recall, remember } from './dom.js';
import { stateWords } from './session-list.js';
import { isEphemeral, isOpenPrompt, isSilent, oneLine } from './session-state.js';

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
    /** @param {import('./thread-store.js').Place | undefined} place @param {readonly import('./thread-store.js').Place[]} all */
    draw(place, all) {
      const waiting = all.filter(({ state, archived }) => state === 'needs_person' && !archived).length;
      const unread = all.some((each) => each.unread > 0);
      const mark = waiting > 0 ? `(${waiting}) ` : unread ? '• ' : '';
      document.title = `${mark}${place === undefined ? 'threadmux' : `${place.name} · threadmux`}`;
      byId('typing').hidden = place?.state !== 'working' && (place?.state !== 'unknown' || !place.typing);
      if (place === undefined) return;
      byId('place-name').textContent = place.channel ? `# ${place.name}` : place.name;
      const isPlain = place.channel && !talks(place);
      const parts = place.channel
        ? [isPlain ? 'Start sessions here; each has its own thread.' : 'What you write here goes to a session.']
        : [place.kind, place.host, place.cwd].filter(Boolean);
      byId('place-detail').textContent = parts.join(' · ');
      byId('place-detail').title = parts.join(' · ');
      const state = isPlain
        ? []
        : [h('span', { class: `state ${place.state}`, 'aria-hidden': 'true' }), ...stateWords(place)];
      const shown = byId('place-state');
      shown.className = `word ${place.state}`;
      shown.replaceChildren(...state);
      shown.hidden = isPlain || place.state === 'unknown';
    },
  };
}

/** The channel itself has a session. @param {import('./thread-store.js').Place} place */
const talks = ({ channel, state }) => channel && !['unknown', 'ended'].includes(state);

// Notifies the user when a session needs them or is done while they look elsewhere. Permission is only requested by a button.
/** @param {{ places: any, current(): string | undefined, open(id: string): void }} options */
export function makeNotifications({ places, current, open }) {
  const button = byId('notify');
  const can = 'Notification' in globalThis && globalThis.isSecureContext;
  let on = can && Notification.permission === 'granted' && recall('notify', false);

  const draw = () => {
    button.hidden = !can;
    button.setAttribute('aria-pressed', String(on));
    const words =
      can && Notification.permission === 'denied'
        ? 'Notifications are blocked in the browser’s settings'
        : 'Notify me when a session needs me or is done';
    button.setAttribute('aria-label', words);
    button.title = words;
  };
  button.addEventListener('click', async () => {
    on = !on && (await Notification.requestPermission()) === 'granted';
    remember('notify', on);
    draw();
  });
  draw();

  return {
    /** @param {any} message one that has just come */
    heard(message) {
      if (!on || message.author.id === places.me || isSilent(message) || isEphemeral(message)) return;
      const place = places.get(message.channel_id);
      if (place?.channel && !talks(place)) return;
      const watching = document.visibilityState === 'visible' && document.hasFocus();
      if (watching && current() === message.channel_id) return;
      const name = place?.name ?? 'A session';
      tell(`${name} ${verb(message)}`, message);
    },
  };

  function tell(title, message) {
    try {
      const shown = new Notification(title, { body: oneLine(message), tag: message.channel_id, icon: iconAddress() });
      shown.addEventListener('click', () => {
        window.focus();
        open(message.channel_id);
        shown.close();
      });
    } catch {
      // some phones allow this only for installed apps
    }
  }
}

function iconAddress() {
  return document.querySelector('link[rel=icon]')?.getAttribute('href') ?? '';
}

function verb(message) {
  if (isOpenPrompt(message) || message.content.startsWith('🔔')) return 'needs you';
  return message.content.startsWith('⚠️') ? 'has a problem' : 'is done';
}

// The strip at the top that says when the page is offline, and what to do.
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
