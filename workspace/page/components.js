// Buttons, menus and forms. A pressed button is shown as pending until the workspace reports the outcome.

import { call } from './api.js';
import { byId, h } from './dom.js';
import { newNonce, timeOfId } from './session-state.js';

const STYLES = { 1: 'primary', 2: 'plain', 3: 'good', 4: 'bad', 5: 'plain' };

/**
 * @param {any} message
 * @param {(message: any, customId: string, values?: string[]) => Promise<any>} tap
 */
export function componentsView(message, tap) {
  const trouble = h('p', { class: 'trouble', role: 'alert' });
  const box = h('div', { class: 'components' });
  const act = async (customId, values, chosen) => {
    if (box.getAttribute('aria-busy') === 'true') return;
    box.setAttribute('aria-busy', 'true');
    chosen.classList.add('busy');
    trouble.textContent = '';
    const outcome = await tap(message, customId, values);
    box.removeAttribute('aria-busy');
    chosen.classList.remove('busy');
    if (!outcome.ok) trouble.textContent = outcome.message;
  };
  for (const row of message.components) {
    const made = h(
      'div',
      { class: 'row' },
      ...row.components.map((each) => (each.type === 2 ? button(each, act) : menu(each, message.id, act))),
    );
    if (!row.components.every((each) => KEY.test(each.custom_id ?? ''))) holdUntilRead(message, made);
    box.append(made);
  }
  box.append(trouble);
  return box;
}

/** Keys, which one presses one after the other. */
const KEY = /^(?:key:|dialog:[^:]*:key-)/;
const READ_MS = 1_100;

/** Under a double click, buttons may have taken the place of others: the bridge does nothing for a tap in their first second. */
function holdUntilRead({ id, edited_timestamp: edited }, row) {
  const shownAt = Math.max(timeOfId(id), Date.parse(edited ?? '') || 0);
  const left = Math.min(READ_MS, shownAt + READ_MS - Date.now());
  if (left <= 0) return;
  row.inert = true;
  setTimeout(() => {
    row.inert = false;
  }, left);
}

function button(each, act) {
  const label = [each.emoji?.name, each.label].filter(Boolean).join(' ');
  const look = `button ${STYLES[each.style] ?? 'plain'}`;
  if (each.style === 5)
    return /^https?:\/\//i.test(each.url ?? '')
      ? h('a', { class: look, href: each.url, target: '_blank', rel: 'noopener noreferrer' }, label)
      : h('span', { class: look }, label);
  const made = h(
    'button',
    { type: 'button', class: look, 'data-key': each.custom_id, disabled: each.disabled === true },
    label,
  );
  made.addEventListener('click', () => void act(each.custom_id, undefined, made));
  return made;
}

/** Moving through the options sends nothing, so the user can read them all before choosing. */
function menu(each, messageId, act) {
  if (each.type !== 3) return h('span', { class: 'note' }, 'This menu only works in Discord.');
  const many = (each.max_values ?? 1) > 1;
  const options = optionList(each, `${messageId}:${each.custom_id}`, many);
  const confirm = h('button', { type: 'button', class: 'button primary', 'data-key': each.custom_id }, 'Choose');
  const chosen = () => chosenIn(options);
  const check = () => {
    const count = chosen().length;
    confirm.disabled = each.disabled === true || count < (each.min_values ?? 1) || count > (each.max_values ?? 1);
  };
  options.addEventListener('change', check);
  confirm.addEventListener('click', () => void act(each.custom_id, chosen(), confirm));
  check();
  return h('div', { class: 'menu' }, options, confirm);
}

/** @param {any} select @param {string} name @param {boolean} many */
function optionList(select, name, many) {
  return h(
    'fieldset',
    {},
    h('legend', {}, select.placeholder ?? (many ? 'Choose' : 'Choose one')),
    ...select.options.map((option) => {
      const input = h('input', { type: many ? 'checkbox' : 'radio', name, value: option.value });
      input.checked = option.default === true;
      return h(
        'label',
        {},
        input,
        h(
          'span',
          {},
          [option.emoji?.name, option.label].filter(Boolean).join(' '),
          option.description ? h('small', {}, option.description) : undefined,
        ),
      );
    }),
  );
}

function chosenIn(options) {
  return [...options.querySelectorAll('input:checked')].map((input) => input.value);
}

// The form that a button may open. The input stays until it has arrived.
/**
 * @param {{ id: string, title: string, components: any[] }} modal
 * @param {(values: Record<string, string | string[]>) => Promise<{ ok: boolean, message?: string }>} submit
 */
export function showModal(modal, submit) {
  const fields = modal.components.map((each) =>
    each.type === 18
      ? field(each.component, each.label, each.description)
      : field(each.components[0], each.components[0].label, undefined, modal.title),
  );
  const trouble = h('p', { class: 'trouble', role: 'alert' });
  const send = h('button', { type: 'submit', class: 'button primary' }, 'Send');
  const cancel = h('button', { type: 'button', class: 'button plain' }, 'Cancel');
  const form = h(
    'form',
    { method: 'dialog' },
    h('h2', { id: 'modal-title' }, modal.title),
    ...fields.map(({ view }) => view),
    trouble,
    h('div', { class: 'row end' }, cancel, send),
  );
  const dialog = h('dialog', { class: 'modal', 'aria-labelledby': 'modal-title' }, form);
  const before = document.activeElement;
  cancel.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    dialog.remove();
    const back = before?.isConnected ? before : byId('text');
    back?.focus?.();
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    send.disabled = true;
    const outcome = await submit(Object.fromEntries(fields.map(({ id, value }) => [id, value()])));
    send.disabled = false;
    if (outcome.ok) dialog.close();
    else trouble.textContent = outcome.message ?? 'Not sent. Try again.';
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  document.body.append(dialog);
  dialog.showModal();
  form.querySelector('input, textarea')?.focus();
}

function field(input, label, description, title) {
  const id = `field-${input.custom_id}`;
  if (input.type === 3) {
    const many = (input.max_values ?? 1) > 1;
    const options = optionList({ ...input, placeholder: label }, id, many);
    return { id: input.custom_id, view: options, value: () => chosenIn(options) };
  }
  const box = h(input.style === 2 ? 'textarea' : 'input', {
    id,
    required: input.required !== false,
    minlength: input.min_length,
    maxlength: input.max_length ?? 4000,
    placeholder: input.placeholder,
    ...(input.style === 2 ? { rows: '5' } : { type: 'text', autocomplete: 'off' }),
  });
  box.value = input.value ?? '';
  return {
    id: input.custom_id,
    view: h(
      'div',
      { class: 'field' },
      h('label', { for: id, class: label === title && 'unseen' }, label ?? 'Text'),
      description ? h('small', {}, description) : undefined,
      box,
    ),
    value: () => box.value,
  };
}

// Sends the user's presses and commands as interactions, each with a nonce, and settles it when the workspace reports
// the outcome with the same nonce.
const PATIENCE_MS = 6_000;
const NO_ANSWER = 'Nobody answered. Is the program still running?';

/** @typedef {{ ok: true, choices?: any[] } | { ok: false, message: string }} Outcome */

/** @param {(channelId: string, modal: any) => void} openModal */
export function makePersonInteractions(openModal) {
  const waiting = new Map();

  /** @returns {Promise<Outcome>} */
  const ask = (body) =>
    new Promise((resolve) => {
      const nonce = newNonce();
      const settle = (outcome) => {
        clearTimeout(timer);
        waiting.delete(nonce);
        resolve(outcome);
      };
      const timer = setTimeout(() => settle({ ok: false, message: NO_ANSWER }), PATIENCE_MS);
      waiting.set(nonce, settle);
      call('POST', '/interactions', { ...body, nonce }).then((answer) => {
        if (!answer.ok) settle(answer);
      });
    });

  return {
    tap: (message, customId, values) =>
      ask({
        type: 3,
        channel_id: message.channel_id,
        message_id: message.id,
        data: { custom_id: customId, ...(values && { values }) },
      }),
    command: (channelId, name, options) => ask({ type: 2, channel_id: channelId, data: { name, options } }),
    complete: (channelId, name, options) => ask({ type: 4, channel_id: channelId, data: { name, options } }),
    submit: (channelId, interactionId, values) =>
      ask({ type: 5, channel_id: channelId, interaction_id: interactionId, data: { values } }),
    /** @param {string} type @param {any} data */
    hear(type, data) {
      const settle = waiting.get(data?.nonce);
      if (settle === undefined) return;
      switch (type) {
        case 'INTERACTION_SUCCESS':
          return settle({ ok: true });
        case 'INTERACTION_FAILURE':
          return settle({ ok: false, message: NO_ANSWER });
        case 'APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE':
          return settle({ ok: true, choices: data.choices });
        case 'INTERACTION_MODAL_CREATE':
          openModal(data.channel_id, data);
          return settle({ ok: true });
      }
    },
  };
}
