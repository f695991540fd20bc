// The list above the composer while the user types a slash command: first commands, ours and those of Claude Code, then values
// for options.
import { byId, h } from './dom.js';

/**
 * @param {{ box: any, commands(): readonly any[], complete(name: string, options: any[]): Promise<any>, onPick(text: string): void }} options
 */
export function makeSuggestions({ box, commands, complete, onPick }) {
  const popup = byId('suggestions');
  const hint = byId('hint');
  let items = [];
  let active = -1;
  /** The active one was chosen with the arrow keys. */
  let isChosen = false;
  let asked = 0;
  /** The name of a command of Claude Code that was picked from the list. Where ours has the same name, the pick decides. */
  let picked = '';

  const draw = () => {
    popup.replaceChildren(
      ...items.map(({ label, about, owner }, at) => {
        const row = h(
          'div',
          { id: `suggestion-${at}`, role: 'option', 'aria-selected': String(at === active) },
          h('strong', {}, label),
          about ? h('span', {}, about) : undefined,
          owner ? h('span', { class: 'owner' }, owner) : undefined,
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
    isChosen = false;
    draw();
  };
  const tell = (...parts) => {
    hint.replaceChildren(...parts);
    hint.hidden = parts.length === 0;
  };
  const pick = (at) => {
    const item = items[at];
    show([]);
    picked = item.isClaude ? item.label.slice(1) : '';
    onPick(item.text);
  };

  /** Enter sends a text that is complete and can mean only one command, and does not replace it by another name (/cost by /usage). */
  const mustPick = ({ text, isClaude }) => {
    if (isChosen) return true;
    return text.startsWith(box.value.trim()) && isOpen(text, isClaude);
  };
  const isOpen = (text, isClaude) =>
    text.trim() !== box.value.trim() || (isClaude && commands().some(({ name }) => `/${name}` === text.trim()));

  const update = async () => {
    const mine = ++asked;
    const named = slashName(box.value);
    if (named !== picked) picked = '';
    const parsed = named === undefined ? undefined : parseSlash(box.value, commands());
    if (parsed === undefined || picked !== '') {
      tell(...(picked === '' ? [] : [h('code', {}, `/${picked}`), h('span', { class: 'about' }, ' · Claude Code')]));
      return show([]);
    }
    if (parsed.kind === 'naming') {
      tell();
      if (/\s/.test(box.value)) return show([]); // arguments of a command that is not ours
      const ours = commands().filter(({ name }) => name.startsWith(parsed.begun) && name !== CLAUDE);
      const first = ours.map((command) => ({
        label: `/${command.name}`,
        about: command.description,
        owner: 'threadmux',
        text: `/${command.name}${command.options?.length ? ' ' : ''}`,
      }));
      show(first);
      if (!commands().some(({ name }) => name === CLAUDE)) return;
      const answer = await complete(CLAUDE, [{ name: 'command', value: `/${named}`, focused: true }]);
      if (mine !== asked || !answer.ok) return;
      return show([...first, ...(answer.choices ?? []).map(claudeItem)], Math.max(active, 0));
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
    // Nothing is preselected here: Enter sends the typed text.
    show(
      useful.map(({ name, value }) => ({ label: name, text: completed(box.value, focused, String(value), isLast) })),
      -1,
    );
  };

  return {
    update,
    /** True if the text is a command of Claude Code that was picked, whatever ours are called. */
    isForClaude: () => picked !== '' && slashName(box.value) === picked,
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
        isChosen = true;
        draw();
      } else if (event.key === 'Escape') show([]);
      else if (event.key === 'Tab') pick(Math.max(active, 0));
      else if (event.key === 'Enter' && active >= 0 && mustPick(items[active])) pick(active);
      else return false;
      event.preventDefault();
      return true;
    },
  };
}

/** Our command that passes one to Claude Code; its suggestions are the commands of Claude Code. */
const CLAUDE = 'claude';

/** A suggestion is "/name · owner · what it does". */
function claudeItem({ name, value }) {
  const [, owner, ...about] = name.split(' · ');
  return { label: value, owner, about: about.join(' · '), text: `${value} `, isClaude: true };
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

// Slash commands as the user types them: "/new shop mini", or "/new shop command:bash". Pure.

/** @typedef {{ name: string, type: number, description: string, required?: boolean, autocomplete?: boolean, choices?: any[] }} Option */

/** What stands between the slash and the first space. @param {string} text */
function slashName(text) {
  return /^\/(\S*)/.exec(text)?.[1];
}

/**
 * What a text with a leading slash means so far.
 * @param {string} text
 * @param {readonly any[]} commands
 */
export function parseSlash(text, commands) {
  const [, name, rest] = /^\/([\p{L}\p{N}_:.-]*)(\s[\s\S]*)?$/u.exec(text) ?? [];
  if (name === undefined) return undefined;
  const command = commands.find((each) => each.name === name);
  if (rest === undefined || command === undefined) return { kind: 'naming', begun: name.toLowerCase(), command };
  const given = fillOptions(command.options ?? [], wordsOf(rest.trimStart()));
  return { kind: 'filling', command, ...given };
}

/** Words, with quotes kept together; the last one is still being typed. */
function wordsOf(text) {
  const words = [...text.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map(([word]) => word);
  if (text === '' || /\s$/.test(text)) words.push('');
  return words;
}

function fillOptions(options, words) {
  const values = new Map();
  let focused;
  for (const word of words) {
    const named = /^([\p{L}\p{N}_-]+):([\s\S]*)$/u.exec(word);
    const byName = options.find(({ name }) => name === named?.[1]);
    const free = options.find(({ name }) => !values.has(name)) ?? options.at(-1);
    // Words after the last option belong to it: "/sh git status".
    const option = byName ?? free;
    if (option === undefined) continue;
    const value = (byName ? named[2] : word).replaceAll('"', '');
    const before = byName === undefined && values.has(option.name) ? `${values.get(option.name)} ` : '';
    values.set(option.name, before + value);
    focused = option;
  }
  if (focused !== undefined && values.get(focused.name)?.trim() === '') values.delete(focused.name);
  const missing = options.find(({ name, required }) => required === true && !values.has(name));
  return { values, focused: focused ?? options[0], missing };
}

/** In the form that the API expects. */
export function optionsOf(command, values, focused) {
  return (command.options ?? [])
    .filter(({ name }) => values.has(name) || name === focused)
    .map((option) => ({
      name: option.name,
      value: focused === undefined ? typedValue(option, values.get(option.name)) : (values.get(option.name) ?? ''),
      ...(option.name === focused && { focused: true }),
    }));
}

function typedValue({ type }, text) {
  if (type === 4 || type === 10) return Number(text);
  if (type === 5) return /^(?:true|yes|1)$/i.test(text);
  return text.trim();
}

/** The text with the last word replaced by a suggestion. */
function completed(text, option, value, isLast) {
  const quoted = /\s/.test(value) && !isLast ? `"${value}"` : value;
  const word = text.split(/\s/).at(-1);
  const named = word.startsWith(`${option.name}:`);
  const head = text.slice(0, text.length - word.length);
  return `${head}${named ? `${option.name}:` : ''}${quoted} `;
}
