// The channel and its threads, with the newest messages of each: the data of the session list.

import { call } from './api.js';
import { recall, remember } from './dom.js';
import { MOST_LISTED } from './session-list.js';
import { byAge, compareIds, hostAndDirectory, isEphemeral, isNews, partsOfTitle } from './session-state.js';

const RECENT = 20;
const TYPING_MS = 10_000;
const AT_ONCE = 4;

/**
 * @typedef {{ id: string, name: string, kind?: string, host?: string, cwd?: string, archived: boolean, channel: boolean,
 *   state: string, for?: string, since?: number, agent?: string, typing: boolean, unread: number, last: any, lastId: string | null }} Place
 * @param {() => void} onChange
 */
export function makePlaces(onChange) {
  let channel;
  let me = '';
  const threads = new Map();
  const recent = new Map();
  const typing = new Map();
  const where = new Map();
  const states = new Map();
  const read = new Map(Object.entries(recall('read', {})));
  let timer;
  let freeAt = 0;

  /** With many threads, drawing takes long: the page has at least as much time for everything else. */
  const changed = () => {
    if (timer !== undefined) return;
    const draw = () => {
      timer = undefined;
      const began = performance.now();
      onChange();
      const now = performance.now();
      freeAt = now + Math.min(4 * (now - began), 1_000);
    };
    timer = setTimeout(draw, Math.max(0, freeAt - performance.now()));
  };

  const note = (message) => {
    const list = recent.get(message.channel_id) ?? [];
    const at = list.findIndex(({ id }) => id === message.id);
    if (at >= 0) list[at] = message;
    else list.push(message);
    list.sort(byAge);
    recent.set(message.channel_id, list.slice(-RECENT));
  };

  const look = async (id) => {
    const page = await call('GET', `/channels/${id}/messages?limit=${RECENT}`);
    if (page.ok) {
      const own = (recent.get(id) ?? []).filter(isEphemeral);
      recent.set(id, [...page.data.reverse(), ...own].sort(byAge));
    }
    if (!where.has(id) && id !== channel?.id) {
      const welcome = await call('GET', `/channels/${channel.id}/messages/${id}`);
      if (welcome.ok) where.set(id, hostAndDirectory(welcome.data.content));
    }
    changed();
  };

  /** Of thousands, only those that are listed. */
  const lookAtAll = async () => {
    const newest = [...threads.values()].sort((a, b) =>
      compareIds(b.last_message_id ?? b.id, a.last_message_id ?? a.id),
    );
    const waiting = [channel.id, ...newest.slice(0, MOST_LISTED).map(({ id }) => id)];
    const workers = Array.from({ length: AT_ONCE }, async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await look(id);
    });
    const archived = await call('GET', `/channels/${channel.id}/threads/archived/public?limit=50`);
    for (const thread of archived.ok ? archived.data.threads : []) {
      threads.set(thread.id, thread);
      readNoFurther(thread);
    }
    changed();
    await Promise.all(workers);
  };

  /** A message that another program made up may have been the last one that was read: nothing after it would be news. */
  const readNoFurther = ({ id, last_message_id: last }) => {
    if (compareIds(read.get(id) ?? '0', last ?? '0') > 0) read.set(id, last ?? '0');
  };

  /** @returns {Place} */
  const describe = (each) => {
    const isChannel = each === channel;
    const messages = recent.get(each.id) ?? [];
    const lastRead = read.get(each.id) ?? '0';
    const unread = messages.filter((message) => compareIds(message.id, lastRead) > 0 && isNews(message, me));
    const { name, host, kind } = isChannel ? { name: each.name } : partsOfTitle(each.name);
    const archived = each.thread_metadata?.archived === true;
    const typingUntil = typing.get(each.id) ?? 0;
    return {
      id: each.id,
      name,
      kind,
      host: host ?? where.get(each.id)?.host,
      cwd: where.get(each.id)?.cwd,
      archived,
      channel: isChannel,
      ...(archived ? { state: 'closed' } : (states.get(each.id) ?? { state: 'unknown' })),
      typing: typingUntil > Date.now(),
      unread: unread.length,
      last: messages.at(-1),
      lastId: each.last_message_id ?? messages.at(-1)?.id ?? null,
    };
  };

  return {
    get me() {
      return me;
    },
    get channelId() {
      return channel?.id;
    },
    /** @returns {Place | undefined} */
    get(id) {
      const each = id === channel?.id ? channel : threads.get(id);
      return each && describe(each);
    },
    /** Those that wait for the user first, then the latest. @returns {Place[]} */
    all() {
      if (channel === undefined) return [];
      const rank = (place) => (place.archived ? 2 : place.state === 'needs_person' ? 0 : 1);
      const sessions = [...threads.values()]
        .map(describe)
        .sort((a, b) => rank(a) - rank(b) || compareIds(b.lastId ?? b.id, a.lastId ?? a.id));
      return [describe(channel), ...sessions];
    },
    lastRead: (id) => read.get(id) ?? '0',
    markRead(id, messageId) {
      if (compareIds(messageId, read.get(id) ?? '0') <= 0) return;
      read.set(id, messageId);
      // Another tab may have read further in other threads.
      remember('read', { ...Object.fromEntries(read), ...recall('read', {}), [id]: messageId });
      changed();
    },
    welcome(user, guild) {
      me = user;
      channel = guild.channels[0];
      // Another program may have made up what we know, while it had our port.
      for (const known of [threads, recent, typing, where, states]) known.clear();
      for (const thread of guild.threads) threads.set(thread.id, thread);
      // On the first visit of a browser everything counts as read: old messages are not news.
      if (read.size === 0)
        for (const { id, last_message_id: last } of guild.threads.concat(channel)) read.set(id, last ?? '0');
      for (const each of guild.threads.concat(channel)) readNoFurther(each);
      changed();
    },
    lookAtAll,
    /** A thread that is not listed is looked at when it is opened. */
    visited(id) {
      if (threads.has(id) && !recent.has(id)) void look(id);
    },
    /** @param {string} type @param {any} data */
    hear(type, data) {
      switch (type) {
        case 'CHANNEL_UPDATE':
          channel = data;
          break;
        case 'THREAD_CREATE':
        case 'THREAD_UPDATE':
          threads.set(data.id, data);
          if (!recent.has(data.id)) void look(data.id);
          break;
        case 'THREAD_DELETE':
          threads.delete(data.id);
          break;
        case 'MESSAGE_CREATE': {
          const place = data.channel_id === channel?.id ? channel : threads.get(data.channel_id);
          if (place) place.last_message_id = data.id;
          if (data.author.id !== me) typing.delete(data.channel_id);
          note(data);
          break;
        }
        case 'MESSAGE_UPDATE':
          if (recent.get(data.channel_id)?.some(({ id }) => id === data.id)) note(data);
          break;
        case 'MESSAGE_DELETE': {
          const list = recent.get(data.channel_id) ?? [];
          recent.set(
            data.channel_id,
            list.filter(({ id }) => id !== data.id),
          );
          break;
        }
        case 'THREADMUX_STATES':
          for (const { channel_id: id, since, ...state } of data.states)
            states.set(id, { ...state, since: since + Date.now() - data.now });
          break;
        case 'TYPING_START':
          if (data.user_id === me) return;
          typing.set(data.channel_id, Date.now() + TYPING_MS);
          setTimeout(changed, TYPING_MS + 50);
          break;
        default:
          return;
      }
      changed();
    },
  };
}
