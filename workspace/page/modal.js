// The form that a tap may open. What was filled in stays until it has arrived.

import { optionList } from './components-view.js';
import { byId, h } from './dom.js';

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
    else trouble.textContent = outcome.message ?? 'It did not get there.';
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
    return {
      id: input.custom_id,
      view: options,
      value: () => [...options.querySelectorAll('input:checked')].map((each) => each.value),
    };
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
