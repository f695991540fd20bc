// The list above the composer while a slash command is written: commands first, then what its options can be.

import { byId, h } from './dom.js';
import { completed, optionsOf, parseSlash } from './slash.js';

/**
 * @param {{ box: any, commands(): readonly any[], complete(name: string, options: any[]): Promise<any>, onPick(text: string): void }} options
 */
export function makeSuggestions({ box, commands, complete, onPick }) {
  const popup = byId('suggestions');
  const hint = byId('hint');
  let items = [];
  let active = -1;
  let asked = 0;

  const draw = () => {
    popup.replaceChildren(
      ...items.map(({ label, about }, at) => {
        const row = h(
          'div',
          { id: `suggestion-${at}`, role: 'option', 'aria-selected': String(at === active) },
          h('strong', {}, label),
          about ? h('span', {}, about) : undefined,
        );
        row.addEventListener('pointerdown', (event) => {
          event.preventDefault(); // the box keeps the focus
          pick(at);
        });
        return row;
      }),
    );
    popup.hidden = items.length === 0;
    if (active >= 0) box.setAttribute('aria-activedescendant', `suggestion-${active}`);
    else box.removeAttribute('aria-activedescendant');
    popup.children[active]?.scrollIntoView({ block: 'nearest' });
  };
  const show = (next, first = 0) => {
    items = next;
    active = next.length > 0 ? first : -1;
    draw();
  };
  const tell = (...parts) => {
    hint.replaceChildren(...parts);
    hint.hidden = parts.length === 0;
  };
  const pick = (at) => {
    const item = items[at];
    show([]);
    onPick(item.text);
  };

  const update = async () => {
    const mine = ++asked;
    const parsed = box.value.startsWith('/') ? parseSlash(box.value, commands()) : undefined;
    if (parsed === undefined) {
      tell();
      return show([]);
    }
    if (parsed.kind === 'naming') {
      tell();
      const found = commands().filter(({ name }) => name.startsWith(parsed.begun));
      return show(
        found.map((command) => ({
          label: `/${command.name}`,
          about: command.description,
          text: `/${command.name}${command.options?.length ? ' ' : ''}`,
        })),
      );
    }
    const { command, values, focused } = parsed;
    tell(...usage(command, focused));
    if (focused === undefined) return show([]);
    const begun = (values.get(focused.name) ?? '').toLowerCase();
    let choices = focused.choices ?? [];
    if (focused.autocomplete) {
      const answer = await complete(command.name, optionsOf(command, values, focused.name));
      if (mine !== asked) return;
      choices = answer.ok ? (answer.choices ?? []) : [];
    } else {
      choices = choices.filter(({ name }) => name.toLowerCase().includes(begun));
    }
    const isLast = command.options.at(-1) === focused;
    const useful = choices.filter(({ value }) => String(value).toLowerCase() !== begun);
    // Nothing is chosen by itself here: Enter sends what was written.
    show(
      useful.map(({ name, value }) => ({
        label: name,
        text: completed(box.value, focused, String(value), isLast),
      })),
      -1,
    );
  };

  return {
    update,
    get open() {
      return items.length > 0;
    },
    close: () => show([]),
    /** True if the key was for the list. @param {KeyboardEvent} event */
    key(event) {
      if (items.length === 0) return false;
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        const step = event.key === 'ArrowDown' ? 1 : -1;
        active = (active + step + items.length) % items.length;
        draw();
      } else if (event.key === 'Escape') show([]);
      else if (event.key === 'Tab') pick(Math.max(active, 0));
      else if (event.key === 'Enter' && active >= 0 && items[active].text.trim() !== box.value.trim()) pick(active);
      else return false;
      event.preventDefault();
      return true;
    },
  };
}

function usage(command, focused) {
  const words = (command.options ?? []).map((option) => {
    const shown = option.required ? option.name : `[${option.name}]`;
    return h(option === focused ? 'strong' : 'span', {}, ` ${shown}`);
  });
  return [
    h('code', {}, `/${command.name}`),
    ...words,
    h('span', { class: 'about' }, ` · ${focused?.description ?? command.description}`),
  ];
}
