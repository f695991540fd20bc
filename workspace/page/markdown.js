// Markdown to elements. The parser's tokens become nodes one by one, from a list of allowed elements: raw HTML stays
// text, links lead only to the web or to mail, pictures from elsewhere are never loaded.

import './vendor/markdown-it.js';
import { codeBlock } from './code.js';
import { h } from './dom.js';

const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;
const TAGS = new Set('p h1 h2 h3 h4 h5 h6 ul ol li blockquote strong em s'.split(' '));

const parser = globalThis.markdownit({ html: false, linkify: true, breaks: true });
// A link definition would disappear from the text, "&rlm;" or "&#8238;" would become a character that nobody sees, and the parser fills up the
// rows of a table: two thousand characters become 65,000 cells. Discord has none of them.
parser.disable(['reference', 'entity', 'table']);
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
// As it was written: "%E2%80%AE" or "xn--" would become characters that nobody sees, or another name.
parser.normalizeLinkText = (address) => address;
parser.validateLink = (address) => SAFE_LINK.test(address);
parser.block.ruler.before('code', 'deep', deep);
parser.block.ruler.before('paragraph', 'subtext', subtext, { alt: ['paragraph', 'blockquote'] });
parser.inline.ruler.before('autolink', 'reference', reference);

/**
 * @typedef {{ place(id: string): { name: string, href: string }, person(id: string): string }} Names
 * @param {string} text
 * @param {Names} names
 * @returns {DocumentFragment}
 */
export function markdown(text, names) {
  const root = document.createDocumentFragment();
  build(parser.parse(closedBlocks(text), {}), root, names);
  return root;
}

/** As in Discord, a code block may end directly after its text; the parser expects the end on a separate line. */
function closedBlocks(text) {
  return text.replace(/^(```[^`\n]*\n(?:(?!```)[\s\S])*?[^`\n])```(?=\n|$)/gm, '$1\n```');
}

/** Lists and quotes in each other: at 100, the parser leaves out the text. A list counts two. */
const DEEPEST = 12;

/** What would be nested more deeply is plain text, so that it stays on the page. */
function deep(state, line, _end, silent) {
  if (state.level < DEEPEST) return false;
  if (silent) return true;
  state.push('paragraph_open', 'p', 1);
  const inline = state.push('inline', '', 0);
  inline.content = state.src.slice(state.bMarks[line] + state.tShift[line], state.eMarks[line]);
  inline.children = [];
  state.push('paragraph_close', 'p', -1);
  state.line = line + 1;
  return true;
}

/** "-# words": a small line. It may directly follow a paragraph. */
function subtext(state, line, _end, silent) {
  const start = state.bMarks[line] + state.tShift[line];
  const words = /^-# +(.*)$/s.exec(state.src.slice(start, state.eMarks[line]))?.[1];
  if (words === undefined || state.sCount[line] - state.blkIndent >= 4) return false;
  if (silent) return true;
  state.push('subtext_open', 'small', 1);
  const inline = state.push('inline', '', 0);
  inline.content = words.trim();
  inline.children = [];
  state.push('subtext_close', 'small', -1);
  state.line = line + 1;
  return true;
}

/** <#thread>, <@person>, <t:seconds:R>. */
function reference(state, silent) {
  if (state.src[state.pos] !== '<') return false;
  const found = /^<(?:(#|@!?)(\d{1,20})|t:(-?\d{1,12})(?::([tTdDfFR]))?)>/.exec(
    state.src.slice(state.pos, state.pos + 40),
  );
  if (found === null) return false;
  const [all, sign, id, seconds, style] = found;
  if (!silent) {
    const kind = seconds !== undefined ? 'moment' : sign === '#' ? 'place' : 'person';
    state.push(kind, '', 0).meta = { id, seconds: Number(seconds), style };
  }
  state.pos += all.length;
  return true;
}

function build(tokens, root, names) {
  const open = [root];
  for (const token of tokens) {
    const at = open.at(-1);
    if (token.nesting < 0) {
      if (open.length > 1) open.pop();
    } else if (token.nesting > 0) {
      open.push(container(token, at));
    } else if (token.type === 'inline') {
      build(token.children, at, names);
    } else {
      at.append(leaf(token, names));
      if (token.type === 'place') removeSameName(at);
    }
  }
}

/** A list names a session and then its thread, whose name on this page is the same. */
function removeSameName(at) {
  const [name, space, link] = [...at.childNodes].slice(-3);
  if (name?.nodeName !== 'CODE' || space.textContent !== ' ' || name.textContent !== link?.textContent) return;
  name.remove();
  space.remove();
}

/** The element that the token opens, already inserted. */
function container(token, at) {
  if (token.hidden) return at;
  if (token.type === 'link_open') {
    const href = token.attrGet('href') ?? '';
    const link = SAFE_LINK.test(href) ? h('a', { href, target: '_blank', rel: 'noopener noreferrer' }) : h('span');
    at.append(link);
    return link;
  }
  if (token.type === 'subtext_open') {
    const small = h('p', { class: 'subtext' });
    at.append(small);
    return small;
  }
  const made = h(TAGS.has(token.tag) ? token.tag : 'span');
  if (token.tag === 'ol') made.start = Number(token.attrGet('start') ?? 1);
  at.append(made);
  return made;
}

function leaf(token, names) {
  switch (token.type) {
    case 'softbreak':
    case 'hardbreak':
      return h('br');
    case 'code_inline':
      return h('code', {}, token.content);
    case 'fence':
    case 'code_block':
      return codeBlock(token.content, token.info.trim().split(/\s+/)[0] ?? '');
    case 'hr':
      return h('hr');
    case 'image':
      return picture(token);
    case 'place': {
      const { name, href } = names.place(token.meta.id);
      return h('a', { class: 'mention', href }, name);
    }
    case 'person':
      return h('span', { class: 'mention' }, `@${names.person(token.meta.id)}`);
    case 'moment':
      return moment(token.meta.seconds, token.meta.style);
    default:
      return document.createTextNode(token.content);
  }
}

/** Named, not loaded: loading a picture from elsewhere would tell its server who reads this. */
function picture(token) {
  const src = token.attrGet('src') ?? '';
  const label = token.content || src;
  if (!SAFE_LINK.test(src)) return document.createTextNode(label);
  return h('a', { href: src, target: '_blank', rel: 'noopener noreferrer' }, `🖼 ${label}`);
}

// Shared: making one takes longer than a hundred uses, and one message may have hundreds of times.
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const AWAY = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const STEPS = /** @type {const} */ ([
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]);

function moment(seconds, style) {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return document.createTextNode(`<t:${seconds}>`);
  const full = MOMENT.format(date);
  const given = { datetime: date.toISOString(), title: full };
  if (style !== 'R') return h('time', given, full);
  // A clock that is read aloud every second would disturb.
  return h('time', { ...given, 'data-seconds': seconds, 'aria-live': 'off' }, away(seconds));
}

/** "3 seconds ago" */
function away(seconds) {
  const left = seconds - Date.now() / 1000;
  const [unit, length] = STEPS.find(([, size]) => Math.abs(left) >= size) ?? ['second', 1];
  return AWAY.format(Math.round(left / length), unit);
}

/** Relative times go on while the page is open. */
export function refreshMoments() {
  for (const time of document.querySelectorAll('time[data-seconds]')) {
    const shown = away(Number(time.getAttribute('data-seconds')));
    if (time.textContent !== shown) time.textContent = shown;
  }
}
