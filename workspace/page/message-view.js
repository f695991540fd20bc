// One message as an element: text, files, buttons, reactions and delivery state.
import { componentsView } from './components.js';
import { h, icon } from './dom.js';
import { filesView } from './files.js';
import { markdown } from './markdown.js';
import { isEphemeral, isOpenPrompt, isWorking, partsOfTitle } from './session-state.js';

const LOADING = 128;
const RENAMED = 4;
const THREAD_CREATED = 18;
const STARTER = 21;

/** Reactions of the program to the user's message: how far it got. */
const DELIVERY = {
  '📨': ['waiting', 'clock', 'Waiting to be typed'],
  '👀': ['typed', 'eye', 'Typed'],
  '✅': ['submitted', 'check', 'Submitted'],
  '⚠️': ['failed', 'warn', 'Failed'],
};

/**
 * @typedef {{ me: string, names: import('./markdown.js').Names,
 *   tap(message: any, customId: string, values?: string[]): Promise<any>,
 *   react(message: any, emoji: string, on: boolean): void, dismiss(message: any): void }} Context
 * @param {any} message
 * @param {{ grouped: boolean }} how
 * @param {Context} context
 */
export function messageView(message, { grouped }, context) {
  const shown = message.type === STARTER ? (message.referenced_message ?? message) : message;
  const mine = shown.author.id === context.me;
  const classes = [
    'message',
    mine ? 'mine' : 'theirs',
    grouped && 'grouped',
    isOpenPrompt(shown) && 'prompt',
    shown.components.length > 0 && 'answerable',
    isWorking(shown) && 'working',
    isEphemeral(shown) && 'only-you',
    isSystem(shown) && 'system',
  ];
  const view = h(
    'article',
    { class: classes.filter(Boolean).join(' '), 'aria-label': label(shown, mine) },
    !grouped && !isSystem(shown) && head(shown, mine),
    body(shown, context),
    shown.attachments.length > 0 && filesView(shown),
    shown.components.length > 0 && componentsView(shown, context.tap),
    reactions(shown, mine, context),
    shown.thread && message.type !== STARTER && threadLink(shown.thread),
    isEphemeral(shown) && onlyYou(shown, context),
  );
  return view;
}

function isSystem({ type }) {
  return type === RENAMED || type === THREAD_CREATED;
}

function nameOf(message, mine) {
  return mine ? 'You' : (message.author.global_name ?? message.author.username);
}

function label(message, mine) {
  return `${nameOf(message, mine)}, ${clock(message.timestamp)}`;
}

function head(message, mine) {
  const date = new Date(message.timestamp);
  return h(
    'header',
    {},
    h('span', { class: 'author' }, nameOf(message, mine)),
    h('time', { datetime: date.toISOString(), title: date.toLocaleString() }, clock(message.timestamp)),
  );
}

function clock(timestamp) {
  return new Date(timestamp).toLocaleTimeString(undefined, { hour: 'numeric', minute: '2-digit' });
}

function body(message, { names }) {
  if (message.type === RENAMED) return h('p', { class: 'note' }, 'Renamed to ', h('bdi', {}, message.content));
  if (message.type === THREAD_CREATED)
    return h('p', { class: 'note' }, 'Thread started: ', h('bdi', {}, message.content));
  if ((message.flags & LOADING) !== 0)
    return h('p', { class: 'note' }, h('span', { class: 'dots' }), ' working on it…');
  const made = h('div', { class: 'body' });
  made.append(markdown(message.content, names));
  const edited = message.edited_timestamp !== null && message.author.bot !== true;
  if (edited) made.append(h('span', { class: 'note' }, ' (edited)'));
  return made;
}

function reactions(message, mine, context) {
  const all = message.reactions ?? [];
  if (all.length === 0) return undefined;
  const isDelivery = (each) => mine && !each.me && each.emoji.name in DELIVERY;
  return h(
    'div',
    { class: 'reactions' },
    ...all.filter((each) => !isDelivery(each)).map((each) => reaction(message, each, context)),
    ...all.filter(isDelivery).map(({ emoji }) => {
      const [kind, sign, words] = DELIVERY[emoji.name];
      return h('span', { class: `delivery ${kind}` }, icon(sign), words);
    }),
  );
}

function reaction(message, { emoji, count, me }, context) {
  const made = h(
    'button',
    {
      type: 'button',
      class: 'reaction',
      'aria-pressed': String(me),
      'aria-label': `${emoji.name}, ${count}`,
      'data-key': `reaction:${emoji.name}`,
    },
    `${emoji.name} ${count}`,
  );
  made.addEventListener('click', () => context.react(message, emoji.name, !me));
  return made;
}

function threadLink({ id, name }) {
  const shown = h('bdi', {}, partsOfTitle(name).name);
  return h('a', { class: 'thread-link', href: `#/${id}` }, 'Open ', shown, icon('right'));
}

function onlyYou(message, context) {
  const dismiss = h('button', { type: 'button', class: 'link' }, 'Dismiss');
  dismiss.addEventListener('click', () => context.dismiss(message));
  return h('p', { class: 'note' }, 'Only you see this. ', dismiss);
}
