// Creates elements. Text always stays text: no markup is parsed anywhere in this page, and its content security
// policy forbids it. Also when to draw, local storage and global keys.

/**
 * @param {string} tag
 * @param {Record<string, unknown>} [given] attributes; `on` holds listeners, false and undefined are left out
 * @param {...(Node | string | undefined | false)} children
 * @returns {any} the element
 */
export function h(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name === 'on') {
      for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    } else if (/^(?:on|style|srcdoc)/i.test(name)) {
      throw new Error(`${name} is not set this way`);
    } else if (value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? '' : String(value));
    }
  }
  made.append(...children.filter((child) => child !== undefined && child !== false));
  return made;
}

/** @param {string} id @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}

const SVG = 'http://www.w3.org/2000/svg';

/** A drawn sign from the sheet in the page. @param {string} name */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  const use = document.createElementNS(SVG, 'use');
  use.setAttribute('href', `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** Says it to those who hear the page instead of seeing it. @param {string} sentence */
export function announce(sentence) {
  byId('announce').textContent = sentence;
}

/** Makes these the rows of the list. Rows that stay are not moved, so they keep their focus and their selection. */
export function arrange(list, wanted) {
  if (list.children.length === 0) return list.append(...wanted);
  const keep = new Set(wanted);
  for (const child of [...list.children]) if (!keep.has(child)) child.remove();
  let at = list.firstElementChild;
  for (const row of wanted) {
    if (row === at) at = at.nextElementSibling;
    else list.insertBefore(row, at);
  }
}

// Nothing is drawn while the user presses a link or a button: a click is lost if what was pressed is replaced or moved.

let isPressed = false;
/** @type {(() => void)[]} */
let delayed = [];

function release() {
  isPressed = false;
  const draws = delayed;
  delayed = [];
  for (const draw of draws) draw();
}

addEventListener('pointerdown', ({ target }) => {
  isPressed = target.closest?.('a, button, label, summary') != null;
});
addEventListener('click', release);
addEventListener('pointercancel', release);
addEventListener('blur', release);
// A click follows, after a touch as another event.
addEventListener('pointerup', () => setTimeout(release, 50));

/** Draws now, or when the user lets go. @param {() => void} draw */
export function drawWhenReleased(draw) {
  if (isPressed) delayed.push(draw);
  else draw();
}

// What this browser remembers: drafts, what was read, the theme. Without storage, only that is lost.

const PREFIX = 'threadmux:';

/** @template T @param {string} key @param {T} otherwise @returns {T} */
export function recall(key, otherwise) {
  try {
    const text = localStorage.getItem(PREFIX + key);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** @param {string} key @param {unknown} value undefined forgets it */
export function remember(key, value) {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // full or forbidden: the page works without it
  }
}

// Keys that work anywhere on the page.

/** @param {{ search(): void, write(): void, move(step: number): void, nextUnread(): void }} act */
export function listenToKeys(act) {
  document.addEventListener('keydown', (event) => {
    if (event.isComposing || event.defaultPrevented) return;
    const command = event.ctrlKey || event.metaKey;
    if (command && !event.altKey && event.key.toLowerCase() === 'k') act.search();
    else if (event.altKey && !command && event.key === 'ArrowUp') act.move(-1);
    else if (event.altKey && !command && event.key === 'ArrowDown') act.move(1);
    else if (event.altKey && !command && event.key.toLowerCase() === 'n') act.nextUnread();
    else if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) act.write();
    else if (event.key === '/' && isNowhere(event.target)) act.write();
    else return;
    event.preventDefault();
  });
}

function isNowhere(target) {
  return !/^(?:INPUT|TEXTAREA|SELECT)$/.test(target?.tagName ?? '');
}
