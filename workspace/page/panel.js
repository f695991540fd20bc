// The view of all sessions: declared and running ones, what is known of them, and buttons that start and stop them; and the
// worktrees that were kept.

import { announce, byId, drawWhenReleased, h } from './dom.js';
import { hrefOf } from './session-list.js';
import { shortAge, stateParts } from './session-state.js';

const WHY = {
  stopped: 'stopped',
  manual: 'not started',
  'given up': 'given up after five crashes',
  starting: 'starts soon',
};

/** @param {{ command(name: string, value: string): Promise<any>, onNew(): void, onChoices(): void }} options */
export function makePanel({ command, onNew, onChoices }) {
  const dialog = byId('panel');
  const list = byId('panel-rows');
  const trouble = byId('panel-trouble');
  const all = byId('panel-all');
  let rows = [];
  let worktrees = [];
  let choices = {};
  const pending = new Set();

  async function act(name, label) {
    pending.add(label);
    trouble.textContent = '';
    draw();
    const outcome = await command(name, label);
    pending.delete(label);
    if (outcome.ok) announce(`${name === 'start' ? 'Starting' : 'Stopping'} ${label}`);
    else trouble.textContent = outcome.message;
    draw();
  }

  const stopped = () => rows.filter((row) => row.state === undefined && row.because !== 'starting');

  function draw() {
    if (!dialog.open) return;
    const focused = document.activeElement?.getAttribute('data-key');
    list.replaceChildren(...rows.map(rowView));
    byId('panel-none').hidden = rows.length > 0;
    byId('panel-kept').hidden = worktrees.length === 0;
    byId('panel-worktrees').replaceChildren(...worktrees.map(worktreeView));
    all.hidden = stopped().length < 2;
    // Drawn again: the focus stays on the button of the same session.
    if (focused) list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  function rowView(row) {
    const runs = row.state !== undefined;
    const { words } = runs ? stateParts(row.state) : { words: WHY[row.because] ?? '' };
    const detail = [
      row.host,
      row.agent,
      row.branch && `${row.branch}${row.isWorktree ? ' (worktree)' : ''}`,
      row.model,
      row.context !== undefined && `${row.context}% context`,
      runs && row.at !== undefined && `active ${shortAge(Date.now() - row.at)}`,
    ].filter(Boolean);
    const button = (name, words, look) => {
      const made = h(
        'button',
        { type: 'button', class: `button ${look}`, 'data-key': row.label, 'aria-label': `${words} ${row.label}` },
        words,
      );
      made.disabled = pending.has(row.label);
      made.addEventListener('click', () => void act(name, row.label));
      return made;
    };
    return h(
      'li',
      {},
      h('span', { class: `state ${runs ? row.state.state : 'closed'}`, 'aria-hidden': 'true' }),
      h(
        'span',
        { class: 'about' },
        row.thread ? h('a', { href: hrefOf(row.thread) }, h('bdi', {}, row.label)) : h('bdi', {}, row.label),
        h('span', { class: 'note' }, [words, ...detail].join(' · ')),
      ),
      runs ? button('kill', 'Stop', 'plain') : row.because !== 'starting' && button('start', 'Start', 'good'),
    );
  }

  all.addEventListener('click', () => {
    for (const { label } of stopped()) void act('start', label);
  });
  byId('panel-new').addEventListener('click', () => {
    dialog.close();
    onNew();
  });
  byId('panel-close').addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', (event) => {
    if (event.target.closest('a')) dialog.close();
  });
  byId('open-panel').addEventListener('click', () => {
    dialog.showModal();
    draw();
  });

  return {
    /** For the form for a new session. */
    get choices() {
      return choices;
    },
    /** @param {string} type @param {any} data */
    hear(type, data) {
      if (type !== 'THREADMUX_PANEL') return;
      const behind = Date.now() - data.now;
      ({ worktrees } = data);
      if (JSON.stringify(choices) !== JSON.stringify(data.choices)) {
        choices = data.choices;
        onChoices();
      }
      rows = data.rows.map((row) => ({ ...row, at: row.at === undefined ? undefined : row.at + behind }));
      drawWhenReleased(draw);
    },
  };
}

/** Its thread says what is in it, with buttons. */
function worktreeView({ project, name, branch, host, thread }) {
  const words = h('bdi', {}, `${project}/${name}`);
  return h(
    'li',
    {},
    h(
      'span',
      { class: 'about' },
      thread ? h('a', { href: hrefOf(thread) }, words) : words,
      h('span', { class: 'note' }, `${host} · ${branch}`),
    ),
  );
}
