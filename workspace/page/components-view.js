// Buttons and menus under a message. A tap is shown as under way until the workspace tells what became of it.

import { h } from './dom.js';

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
    box.append(
      h(
        'div',
        { class: 'row' },
        ...row.components.map((each) => (each.type === 2 ? button(each, act) : menu(each, message.id, act))),
      ),
    );
  }
  box.append(trouble);
  return box;
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

/** One may read all that can be chosen before choosing; nothing is sent by moving through it. */
function menu(each, messageId, act) {
  if (each.type !== 3) return h('span', { class: 'note' }, 'This menu is only for Discord.');
  const many = (each.max_values ?? 1) > 1;
  const options = optionList(each, `${messageId}:${each.custom_id}`, many);
  const confirm = h('button', { type: 'button', class: 'button primary', 'data-key': each.custom_id }, 'Choose');
  const chosen = () => [...options.querySelectorAll('input:checked')].map((input) => input.value);
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
export function optionList(select, name, many) {
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
