// OpenCode's words for tools, permissions, questions and failures, and ours. Pure: it runs inside OpenCode.

import { type Fields, fieldsOf, listField, textField } from '../loose-fields.ts';

/** The names of OpenCode's tools and of their fields, and ours. */
const TOOLS: Readonly<Record<string, readonly [name: string, fields: Readonly<Record<string, string>>]>> = {
  bash: ['Bash', {}],
  edit: [
    'Edit',
    { filePath: 'file_path', oldString: 'old_string', newString: 'new_string', replaceAll: 'replace_all' },
  ],
  write: ['Write', { filePath: 'file_path' }],
  read: ['Read', { filePath: 'file_path' }],
  webfetch: ['WebFetch', {}],
  websearch: ['WebSearch', {}],
  grep: ['Grep', {}],
  glob: ['Glob', {}],
  task: ['Task', {}],
  todowrite: ['TodoWrite', {}],
};

export function inOurWords(tool: string, input: Fields): { readonly tool: string; readonly input: Fields } {
  const known = Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : undefined;
  if (known === undefined) return { tool, input };
  const [name, names] = known;
  // The agent could add a field with our name for another one: it must not take that one's place.
  const ours = Object.values(names);
  const renamed = (key: string) =>
    Object.hasOwn(names, key) ? (names[key] ?? key) : ours.includes(key) ? `${key} (ignored)` : key;
  return { tool: name, input: Object.fromEntries(Object.entries(input).map(([key, one]) => [renamed(key), one])) };
}

/** The request names a rule ("edit"); the call that needs it has the details. Both are shown if they differ. */
export function permissionInOurWords(
  asked: Fields,
  call: { readonly tool: string; readonly input: Fields } | undefined,
): { readonly tool: string; readonly input: Fields } {
  const rule = textField(asked.permission);
  const metadata = fieldsOf(asked.metadata);
  if (call !== undefined && ((Object.hasOwn(RULE_OF, call.tool) && RULE_OF[call.tool]) || call.tool) === rule) {
    const { tool, input } = inOurWords(call.tool, call.input);
    return Object.keys(input).length > 0 ? { tool, input } : { tool, input: metadata };
  }
  const patterns = listField(asked.patterns).map(textField);
  const isOfCall = textField(fieldsOf(asked.tool).callID) !== '';
  const about = call !== undefined ? { tool: call.tool, input: call.input } : isOfCall ? UNKNOWN_CALL : {};
  if (rule === 'bash' && metadata.command !== undefined) return { tool: 'Bash', input: { ...metadata, ...about } };
  return { tool: rule, input: { patterns, ...metadata, ...about } };
}

/** Its folder or its other arguments may matter as much as what OpenCode names. */
const UNKNOWN_CALL = { '⚠️': 'The rest of the call is not known here. Read it in the terminal first.' };

/** Tools that need the rule of another one. */
const RULE_OF: Readonly<Record<string, string>> = {
  write: 'edit',
  multiedit: 'edit',
  apply_patch: 'edit',
  patch: 'edit',
};

export function questionInOurWords({ question, header, multiple, options }: Fields): Fields {
  return {
    question: textField(question),
    header: textField(header),
    multiSelect: multiple === true,
    options: listField(options)
      .map(fieldsOf)
      .map(({ label, description }) => ({ label: textField(label), description: textField(description) })),
  };
}

/** What was written or pasted. OpenCode puts "[Image 1]" in the place of a pasted path of an image, and the image beside it. */
export function promptInOurWords(parts: readonly Fields[]): string {
  const written = parts
    .filter((part) => part.type === 'text' && part.synthetic !== true && part.ignored !== true)
    .map((part) => textField(part.text))
    .join('\n');
  const files = parts.map((part) => fieldsOf(part.source));
  return files
    .reduce((text, { path, text: shown }) => {
      const mark = textField(fieldsOf(shown).value);
      return /^\[(?:Image|PDF) \d{1,4}\]$/.test(mark) ? text.replace(mark, () => textField(path)) : text;
    }, written)
    .trim();
}

/** OpenCode's names of errors, as the end of the sentence "OpenCode stopped: …". */
const FAILURES: Readonly<Record<string, string>> = {
  APIError: 'the model failed',
  ProviderAuthError: 'the provider refused its login',
  ContextOverflowError: 'the conversation is too long for the model',
  MessageOutputLengthError: 'the answer is too long',
};

export function failureInOurWords(error: Fields): Fields {
  const { message, statusCode } = fieldsOf(error.data);
  const name = textField(error.name);
  const words = (Object.hasOwn(FAILURES, name) ? FAILURES[name] : undefined) ?? 'an error';
  const status = typeof statusCode === 'number' ? ` (status ${statusCode})` : '';
  const details = textField(message);
  return { error: `${words}${status}`, code: name, ...(details === '' ? {} : { details }) };
}
