// Tells you when a session needs you or is done while you look elsewhere. Asked for by a button, never by itself.

import { byId } from './dom.js';
import { recall, remember } from './saved.js';
import { isEphemeral, isOpenPrompt, isSilent, oneLine } from './session-state.js';

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
      if (message.channel_id === places.channelId) return;
      const watching = document.visibilityState === 'visible' && document.hasFocus();
      if (watching && current() === message.channel_id) return;
      const name = places.get(message.channel_id)?.name ?? 'A session';
      tell(`${name} ${verb(message)}`, message);
    },
  };

  function tell(title, message) {
    try {
      const shown = new Notification(title, {
        body: oneLine(message),
        tag: message.channel_id,
        icon: '/icon.svg',
      });
      shown.addEventListener('click', () => {
        window.focus();
        open(message.channel_id);
        shown.close();
      });
    } catch {
      // some phones allow this to installed apps only
    }
  }
}

function verb(message) {
  if (isOpenPrompt(message) || message.content.startsWith('🔔')) return 'needs you';
  return message.content.startsWith('⚠️') ? 'has a problem' : 'is done';
}
