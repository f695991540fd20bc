// The form for a new session: its name, where it works, how it starts, and its first message. What is left empty is as the project
// and the configuration say.

import { announce, byId, h } from './dom.js';

const NAME = '[A-Za-z0-9][A-Za-z0-9_\\-]{0,63}';

/**
 * @param {{ choices(): any, start(options: { name: string, value: string | boolean }[]): Promise<any>, onStarted(): void }} options
 */
export function makeNewSession({ choices, start, onStarted }) {
  const dialog = byId('new');
  const form = byId('new-form');
  const trouble = byId('new-trouble');
  const [name, project, host, directory, model, mode, worktree, prompt] = [
    ...['name', 'project', 'host', 'directory', 'model', 'mode', 'worktree', 'prompt'],
  ].map((field) => byId(`new-${field}`));
  name.pattern = NAME;
  /** The user has chosen where it works. */
  let isChosen = false;

  const chosen = () => (choices().projects ?? []).find((one) => String(one.name) === project.value);

  function fill() {
    const { projects = [], hosts = [], defaultHost, models = [], modes = [] } = choices();
    options(project, ['Another directory', ''], ...projects.map((one) => [`${one.name} · ${one.directory}`, one.name]));
    options(host, ...hosts.map((one) => [one, one]));
    options(mode, ['As configured', ''], ...modes.map((one) => [one, one]));
    if (!isChosen) project.value = projects[0]?.name ?? '';
    if (!isChosen) host.value = defaultHost ?? '';
    byId('new-models').replaceChildren(...models.map((one) => h('option', { value: one })));
    byId('new-project-field').hidden = projects.length === 0;
    byId('new-host-field').hidden = hosts.length < 2;
    drawPlace();
  }

  /** A project has its own directory and host; a directory inside it may still be given. */
  function drawPlace() {
    const of = chosen();
    directory.placeholder = of?.directory ?? '~';
    if (of !== undefined) host.value = of.host;
  }

  function values() {
    const of = chosen();
    const at = directory.value.trim() || of?.directory || '';
    const given = {
      name: name.value.trim(),
      directory: at,
      model: model.value.trim(),
      mode: mode.value,
      host: host.value === choices().defaultHost ? '' : host.value,
      prompt: prompt.value.trim(),
    };
    const texts = Object.entries(given).filter(([, value]) => value !== '');
    return [
      ...texts.map(([field, value]) => ({ name: field, value })),
      ...(worktree.checked ? [{ name: 'worktree', value: true }] : []),
    ];
  }

  for (const select of [project, host])
    select.addEventListener('change', () => {
      isChosen = true;
    });
  project.addEventListener('change', drawPlace);
  byId('new-cancel').addEventListener('click', () => dialog.close());
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const send = byId('new-start');
    send.disabled = true;
    trouble.textContent = '';
    const outcome = await start(values());
    send.disabled = false;
    if (!outcome.ok) {
      trouble.textContent = outcome.message;
      return;
    }
    announce(`Starting ${name.value.trim()}`);
    form.reset();
    dialog.close();
    onStarted();
  });

  return {
    open() {
      trouble.textContent = '';
      isChosen = false;
      fill();
      dialog.showModal();
      name.focus();
    },
    /** There are other choices now. */
    refresh() {
      if (dialog.open) fill();
    },
  };
}

/** Keeps what is chosen. @param {any} select @param {...string[]} pairs the words and the value of each option */
function options(select, ...pairs) {
  const { value: before } = select;
  select.replaceChildren(...pairs.map(([words, value]) => h('option', { value }, words)));
  if (pairs.some(([, value]) => value === before)) select.value = before;
}
