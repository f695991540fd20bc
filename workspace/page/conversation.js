// The messages of the open place: a window of limited length over the thread, which moves as the user scrolls. Messages outside
// of it stay in the workspace.

import { call } from './api.js';
import { byAge, isEphemeral, justBefore } from './session-state.js';

const PAGE = 40;
const WINDOW = 140;
const CATCH_UP_PAGES = 6;

/**
 * @typedef {'reset' | 'older' | 'newer' | 'live'} Change
 * @param {(change: Change) => void} onChange
 */
export function makeConversation(onChange) {
  let place;
  let messages = [];
  let hasOlder = false;
  let hasNewer = false;
  let loaded = false;
  let failed;
  let busy = false;
  /** Increased by every visit: an answer to an earlier visit is ignored. */
  let visit = 0;
  /** What changed while a page was loading: the page is older than this. */
  let touched = new Set();
  /** Messages that got a reaction while their page was loading: the page may include it or not. */
  const unclear = new Set();

  const path = (query) => `/channels/${place}/messages?${query}`;
  const merged = (page) => {
    const all = new Map(messages.map((message) => [message.id, message]));
    for (const message of page) if (!touched.has(message.id)) all.set(message.id, message);
    return [...all.values()].sort(byAge);
  };

  const load = async (query) => {
    busy = true;
    touched = new Set();
    const mine = visit;
    const answer = await call('GET', path(query));
    if (mine !== visit) return undefined;
    busy = false;
    failed = answer.ok ? undefined : answer.message;
    for (const id of unclear) void lookAgain(id);
    unclear.clear();
    return answer.ok ? answer.data.reverse() : undefined;
  };

  const lookAgain = async (id) => {
    const mine = visit;
    const answer = await call('GET', `/channels/${place}/messages/${id}`);
    if (mine !== visit || !answer.ok || !messages.some((message) => message.id === id)) return;
    put(answer.data);
    onChange('live');
  };

  const start = async (id, query, isAround) => {
    visit++;
    if (place !== id) messages = [];
    place = id;
    loaded = false;
    const page = await load(query);
    if (page === undefined) {
      if (failed !== undefined) onChange('reset');
      return;
    }
    hasOlder = isAround ? page.length > 0 : page.length === PAGE;
    hasNewer = isAround && page.length > 0;
    messages = messages.filter((message) => !isAround && (isEphemeral(message) || touched.has(message.id)));
    messages = merged(page);
    loaded = true;
    onChange('reset');
  };

  const latest = (id) => start(id, `limit=${PAGE}`, false);

  const startOver = () => {
    messages = [];
    return latest(place);
  };

  /**
   * Loads everything shown again, and keeps nothing else: besides new messages, some may have been edited or deleted, and another program may have
   * made some up while it had our port.
   */
  const refresh = async () => {
    const first = messages[0]?.id ?? '';
    if (!loaded || hasNewer || !/^\d{1,20}$/.test(first)) return startOver();
    const mine = ++visit;
    let from = justBefore(first);
    const seen = [];
    for (let pages = 0; ; pages++) {
      const page = await load(`after=${from}&limit=100`);
      if (mine !== visit) return undefined;
      if (page === undefined) return startOver();
      seen.push(...page);
      if (page.length < 100) break;
      if (pages === CATCH_UP_PAGES) return startOver();
      from = page.at(-1).id;
    }
    messages = messages.filter((message) => touched.has(message.id));
    messages = merged(seen);
    trim('start');
    onChange('live');
    return undefined;
  };

  const trim = (end) => {
    if (messages.length <= WINDOW) return;
    if (end === 'start') {
      messages = messages.slice(-WINDOW);
      hasOlder = true;
    } else {
      messages = messages.slice(0, WINDOW);
      hasNewer = true;
    }
  };

  const put = (message) => {
    touched.add(message.id);
    const there = messages.some(({ id }) => id === message.id);
    const isNext = !hasNewer && loaded;
    if (!there && !isNext && loaded) return false;
    messages = [...messages.filter(({ id }) => id !== message.id), message].sort(byAge);
    return true;
  };

  return {
    get place() {
      return place;
    },
    get messages() {
      return messages;
    },
    get loaded() {
      return loaded;
    },
    get failed() {
      return failed;
    },
    get hasOlder() {
      return hasOlder;
    },
    get hasNewer() {
      return hasNewer;
    },
    open: latest,
    /** Shows the thread around one message. */
    openAround: (id, messageId) => start(id, `around=${messageId}&limit=${PAGE}`, true),
    refresh,
    async older() {
      if (busy || !hasOlder || !loaded || messages.length === 0) return;
      const page = await load(`before=${messages[0].id}&limit=${PAGE}`);
      if (page === undefined) return;
      hasOlder = page.length === PAGE;
      messages = merged(page);
      trim('end');
      onChange('older');
    },
    async newer() {
      if (busy || !hasNewer || !loaded || messages.length === 0) return;
      const page = await load(`after=${messages.at(-1).id}&limit=${PAGE}`);
      if (page === undefined) return;
      hasNewer = page.length === PAGE;
      messages = merged(page);
      trim('start');
      onChange('newer');
    },
    /** @param {any} message */
    created(message) {
      if (message.channel_id !== place || !put(message)) return;
      if (messages.length > WINDOW * 2) trim('start');
      onChange('live');
    },
    updated(message) {
      if (message.channel_id !== place) return;
      touched.add(message.id);
      if (messages.some(({ id }) => id === message.id) && put(message)) onChange('live');
    },
    removed({ channel_id, id }) {
      if (channel_id !== place) return;
      touched.add(id);
      messages = messages.filter((message) => message.id !== id);
      onChange('live');
    },
    /** Reactions arrive as differences. */
    reacted({ channel_id, message_id, emoji, user_id }, by, me) {
      const message = messages.find(({ id }) => id === message_id);
      if (channel_id !== place) return;
      if (message === undefined) {
        if (busy) unclear.add(message_id);
        return;
      }
      const reactions = message.reactions ?? [];
      const before = reactions.find((each) => each.emoji.name === emoji.name);
      const count = (before?.count ?? 0) + by;
      const mine = user_id === me ? by > 0 : (before?.me ?? false);
      const after = { emoji, count, me: mine };
      const next = before ? reactions.map((each) => (each === before ? after : each)) : [...reactions, after];
      put({ ...message, reactions: next.filter((each) => each.count > 0) });
      onChange('live');
    },
  };
}
