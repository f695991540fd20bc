// Connects the parts of the page: events from the workspace go to the parts, actions of the user to the workspace.

import { call } from './api.js';
import { makePersonInteractions, showModal } from './components.js';
import { makeComposer } from './composer.js';
import { makeConversation } from './conversation.js';
import { announce, byId, drawWhenReleased, listenToKeys } from './dom.js';
import { connectGateway } from './gateway.js';
import { makeHeader, makeNotifications, makeStatus } from './header.js';
import { refreshMoments } from './markdown.js';
import { makeMessageList } from './message-list.js';
import { makeNewSession } from './new-session.js';
import { makePanel } from './panel.js';
import { hrefOf, makeSearch, renderSessions, startClocks } from './session-list.js';
import { compareIds, isSilent, oneLine } from './session-state.js';
import { makePlaces } from './thread-store.js';

let guildId;
let commands = [];
let me = '';
/** Where "New" begins: what was read when the place was opened. */
let readUpTo = '0';
/** The message to highlight when the place has loaded. */
let focus;

const places = makePlaces(() => drawWhenReleased(drawPlaces));
const conversation = makeConversation((change) => drawWhenReleased(() => drawMessages(change)));
const interactions = makePersonInteractions((channelId, modal) =>
  showModal(modal, (values) => interactions.submit(channelId, modal.id, values)),
);
const names = {
  place: (id) => ({ name: places.get(id)?.name ?? 'a thread', href: hrefOf(id) }),
  person: (id) => (id === me ? 'You' : 'threadmux'),
};
const list = makeMessageList({
  context: {
    get me() {
      return me;
    },
    names,
    tap: interactions.tap,
    react: (message, emoji, on) =>
      void call(
        on ? 'PUT' : 'DELETE',
        `/channels/${message.channel_id}/messages/${message.id}/reactions/${encodeURIComponent(emoji)}/@me`,
      ),
    dismiss: (message) => conversation.removed(message),
  },
  onNearStart: () => void conversation.older(),
  onNearEnd: () => void conversation.newer(),
  onPlaceInList: seen,
});
const composer = makeComposer({
  interactions,
  commands: () => commands,
  onSent: () => (conversation.hasNewer ? conversation.open(conversation.place) : list.toEnd()),
});
const search = makeSearch({ places, guildId: () => guildId, current: () => conversation.place });
const notifications = makeNotifications({
  places,
  current: () => conversation.place,
  open: (id) => {
    location.hash = hrefOf(id);
  },
});
const newSession = makeNewSession({
  choices: () => panel.choices,
  start: (options) => interactions.command(places.channelId, 'new', options),
  onStarted: () => {
    location.hash = hrefOf(places.channelId); // the answer comes there
  },
});
const panel = makePanel({
  command: (name, value) => interactions.command(places.channelId, name, [{ name: 'name', value }]),
  onNew: () => newSession.open(),
  onChoices: () => newSession.refresh(),
});
const top = makeHeader();
const status = makeStatus(() => gateway.retryNow());
const gateway = connectGateway({
  onEvent: hear,
  onLine(line) {
    status.set(line);
    if (line.kind === 'online') composer.online();
  },
});

function hear(type, data) {
  places.hear(type, data);
  interactions.hear(type, data);
  panel.hear(type, data);
  switch (type) {
    case 'READY':
      me = data.user.id;
      return void loadCommands(data);
    case 'GUILD_CREATE':
      return void arrive(data);
    case 'MESSAGE_CREATE':
      conversation.created(data);
      return tellOf(data);
    case 'MESSAGE_UPDATE':
      return conversation.updated(data);
    case 'MESSAGE_DELETE':
      return conversation.removed(data);
    case 'MESSAGE_REACTION_ADD':
      return conversation.reacted(data, 1, me);
    case 'MESSAGE_REACTION_REMOVE':
      return conversation.reacted(data, -1, me);
  }
}

async function loadCommands({ application, guilds }) {
  guildId = guilds[0].id;
  const scopes = [
    `/applications/${application.id}/guilds/${guildId}/commands`,
    `/applications/${application.id}/commands`,
  ];
  const answers = await Promise.all(scopes.map((path) => call('GET', path)));
  commands = answers
    .flatMap((answer) => (answer.ok ? answer.data : []))
    .filter(({ type, options }) => type === 1 && !(options ?? []).some((each) => each.type < 3))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** First the open place, then the rest; after a gap everything is loaded again. */
async function arrive(guild) {
  places.welcome(me, guild);
  if (conversation.place === undefined) await visit();
  else await conversation.refresh();
  await places.lookAtAll();
}

addEventListener('hashchange', () => void visit());

async function visit() {
  const [, id, messageId] = /^#\/(\d{1,20})(?:\/(\d{1,20}))?$/.exec(location.hash) ?? [];
  document.body.dataset.pane = id === undefined ? 'list' : 'talk';
  const target = id ?? conversation.place ?? places.channelId;
  if (target === undefined) return;
  if (target === conversation.place && messageId === undefined && conversation.loaded) {
    drawPlaces();
    return;
  }
  if (target !== conversation.place) {
    readUpTo = places.lastRead(target);
    list.clear();
  }
  focus = messageId;
  places.visited(target);
  const opening = messageId === undefined ? conversation.open(target) : conversation.openAround(target, messageId);
  composer.moveTo(target, places.get(target)?.name ?? '');
  drawPlaces();
  if (id !== undefined && !matchMedia('(pointer: coarse)').matches && !byId('search').open) composer.focus();
  await opening;
}

function drawPlaces() {
  const all = places.all();
  const current = conversation.place;
  renderSessions(all, current);
  top.draw(places.get(current), all);
  const empty = conversation.loaded && conversation.messages.length === 0;
  byId('empty').hidden = !empty;
  if (current !== undefined) composer.moveTo(current, places.get(current)?.name ?? '');
  byId('loading').hidden = conversation.loaded || conversation.failed !== undefined;
}

function drawMessages(change) {
  const trouble = byId('load-trouble');
  trouble.hidden = conversation.failed === undefined;
  trouble.textContent = conversation.failed ?? '';
  byId('start').hidden = conversation.hasOlder || conversation.messages.length === 0;
  list.render(conversation.messages, { change, readUpTo, focus });
  if (change === 'reset') focus = undefined;
  drawPlaces();
}

/** The message at the end of the screen counts as read if the page is visible. */
function seen(atEnd) {
  byId('to-end').hidden = atEnd && !conversation.hasNewer;
  const last = conversation.messages.at(-1);
  const looking = document.visibilityState === 'visible' && document.hasFocus();
  const showsTalk = matchMedia('(min-width: 48rem)').matches || document.body.dataset.pane === 'talk';
  if (atEnd && looking && showsTalk && !conversation.hasNewer && last) places.markRead(conversation.place, last.id);
}

function tellOf(message) {
  notifications.heard(message);
  if (message.author.id === me || isSilent(message)) return;
  const name = places.get(message.channel_id)?.name ?? '';
  const here = message.channel_id === conversation.place;
  announce(`${here ? '' : `${name}: `}${oneLine(message)}`);
}

byId('to-end').addEventListener('click', async () => {
  if (conversation.hasNewer) await conversation.open(conversation.place);
  list.toEnd();
  composer.focus();
});
byId('new-session').addEventListener('click', () => newSession.open());
byId('open-search').addEventListener('click', () => search.open());
for (const type of ['focus', 'visibilitychange'])
  addEventListener(type, () => {
    if (conversation.loaded) seen(list.pinned);
  });
setInterval(() => drawWhenReleased(drawPlaces), 20_000);
startClocks();
setInterval(refreshMoments, 1_000);

listenToKeys({
  search: () => search.open(),
  write: () => composer.focus(),
  /** @param {number} step */
  move(step) {
    const open = places.all().filter(({ archived }) => !archived);
    const at = open.findIndex(({ id }) => id === conversation.place);
    const next = open[(at + step + open.length) % open.length];
    if (next) location.hash = hrefOf(next.id);
  },
  nextUnread() {
    const waiting = places
      .all()
      .filter(({ unread, state }) => unread > 0 || state === 'needs_person')
      .sort((a, b) => compareIds(a.lastId ?? a.id, b.lastId ?? b.id));
    if (waiting[0]) location.hash = hrefOf(waiting[0].id);
  },
});
