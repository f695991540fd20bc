// Code blocks: highlighted if the language is known, with a button to copy. Terminal colours are shown.

import { h } from './dom.js';
import hljs from './vendor/highlight/core.js';

/** With a longer line, some languages take cubic time. */
const LONGEST_LINE = 200;
const LANGUAGES = new Set(
  'bash c cpp css diff dockerfile go ini java javascript json kotlin markdown php python ruby rust sql swift typescript xml yaml'.split(
    ' ',
  ),
);
const ALIASES = {
  sh: 'bash',
  shell: 'bash',
  console: 'bash',
  zsh: 'bash',
  'c++': 'cpp',
  h: 'c',
  hpp: 'cpp',
  patch: 'diff',
  golang: 'go',
  toml: 'ini',
  js: 'javascript',
  mjs: 'javascript',
  jsx: 'javascript',
  jsonc: 'json',
  kt: 'kotlin',
  md: 'markdown',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  ts: 'typescript',
  tsx: 'typescript',
  html: 'xml',
  svg: 'xml',
  yml: 'yaml',
};

/**
 * All languages are loaded with the page, and none later: while the workspace is down, another program may answer on its port, also like the
 * workspace, and a script from there would run in this page.
 */
const loaded = new Map([...LANGUAGES].map((language) => [language, load(language)]));

async function load(language) {
  try {
    const grammar = await import(`./vendor/highlight/${language}.js`);
    hljs.registerLanguage(language, grammar.default);
  } catch {
    // its blocks stay without colours
  }
}

/** @param {string} text @param {string} info the word after the fence */
export function codeBlock(text, info) {
  const word = info.toLowerCase();
  const language = ALIASES[word] ?? word;
  const source = text.replace(/\n$/, '');
  const code = h('code');
  if (language === 'ansi') code.append(...ansi(source));
  else code.append(source);
  if (LANGUAGES.has(language) && source.split('\n').every(({ length }) => length <= LONGEST_LINE))
    void colour(code, source, language);
  const copy = h('button', { type: 'button', class: 'copy', 'aria-label': 'Copy the code' }, 'Copy');
  copy.addEventListener('click', () => void copyText(copy, code.textContent));
  return h(
    'figure',
    { class: info === '' ? 'code plain' : 'code' },
    h('figcaption', {}, h('span', {}, info.slice(0, 20)), copy),
    h('pre', { tabindex: '0' }, code),
  );
}

async function copyText(button, text) {
  const done = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  button.textContent = done ? 'Copied' : 'Not copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 1500);
}

/** The text is already shown; its colours follow when the language is loaded. */
async function colour(code, source, language) {
  try {
    await loaded.get(language);
    const tree = hljs.highlight(source, { language, ignoreIllegals: true })._emitter.root;
    const made = document.createDocumentFragment();
    grow(tree.children, made);
    if (made.textContent === source) code.replaceChildren(made);
  } catch {
    // leave it without colours
  }
}

/** The layout of a thousand elements inside each other takes seconds. */
const DEEPEST = 30;

function grow(children, parent, depth = 0) {
  if (depth > DEEPEST) throw new RangeError('colours inside each other');
  for (const child of children) {
    if (typeof child === 'string') parent.append(child);
    else {
      const scope = /^[a-z_]+/.exec(child.scope ?? '')?.[0];
      const span = h('span', scope === undefined ? {} : { class: `hl-${scope}` });
      grow(child.children, span, depth + 1);
      parent.append(span);
    }
  }
}

/** Only Select Graphic Rendition; every other control sequence is dropped. */
function ansi(text) {
  const parts = [];
  let bold = false;
  let underline = false;
  let colourCode = '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  const pieces = text.split(/\u001b\[([\d;]*)([A-Za-z])/);
  for (let at = 0; at < pieces.length; at += 3) {
    if (at > 0 && pieces[at - 1] === 'm') {
      for (const number of (pieces[at - 2] || '0').split(';').map(Number)) {
        if (number === 0) [bold, underline, colourCode] = [false, false, ''];
        else if (number === 1) bold = true;
        else if (number === 4) underline = true;
        else if (number === 39) colourCode = '';
        else if ((number >= 30 && number <= 37) || (number >= 90 && number <= 97)) colourCode = String(number % 10);
      }
    }
    if (pieces[at] === '') continue;
    const classes = [bold && 'bold', underline && 'underline', colourCode && `ansi-${colourCode}`];
    parts.push(h('span', { class: classes.filter(Boolean).join(' ') || undefined }, pieces[at]));
  }
  return parts;
}
