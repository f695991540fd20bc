// Slash commands as one writes them: "/new shop mini", or "/new shop command:bash". Pure.

/** @typedef {{ name: string, type: number, description: string, required?: boolean, autocomplete?: boolean, choices?: any[] }} Option */

/**
 * What a text that begins with a slash means so far.
 * @param {string} text
 * @param {readonly any[]} commands
 */
export function parseSlash(text, commands) {
  const [, name, rest] = /^\/([\p{L}\p{N}_-]*)(\s[\s\S]*)?$/u.exec(text) ?? [];
  if (name === undefined) return undefined;
  const command = commands.find((each) => each.name === name);
  if (rest === undefined || command === undefined) return { kind: 'naming', begun: name.toLowerCase(), command };
  const given = fillOptions(command.options ?? [], wordsOf(rest.trimStart()));
  return { kind: 'filling', command, ...given };
}

/** Words, with quotes kept together; the last is what is being written. */
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
    // Words beyond the last option belong to it: "/sh git status".
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

/** As the workspace wants them. */
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

/** The text with the word that is being written replaced by a suggestion. */
export function completed(text, option, value, isLast) {
  const quoted = /\s/.test(value) && !isLast ? `"${value}"` : value;
  const word = text.split(/\s/).at(-1);
  const named = word.startsWith(`${option.name}:`);
  const head = text.slice(0, text.length - word.length);
  return `${head}${named ? `${option.name}:` : ''}${quoted} `;
}
