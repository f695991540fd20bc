// A short label for a tool call, for progress lines. Pure.

const LONGEST = 80;

/** Fields that describe a tool call to people, the most useful first. */
const DESCRIBING = [
  'description',
  'command',
  'file_path',
  'notebook_path',
  'path',
  'pattern',
  'query',
  'url',
  'skill',
  'prompt',
  'plan',
] as const;

export function toolLabel(name: string, input: unknown): string {
  const fields = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
  const described = DESCRIBING.map((field) => fields[field]).find(isText);
  const about = described ?? Object.values(fields).find(isText);
  return about === undefined ? name : `${name}: ${oneLine(about)}`;
}

/** For the thread of a headless agent, where the command itself says more than the model's description of it. */
export function headlessLabel(name: string, input: unknown): string {
  const fields = typeof input === 'object' && input !== null ? { ...input } : {};
  if ('command' in fields && 'description' in fields) delete fields.description;
  const label = toolLabel(name, fields);
  return label === name ? name : `${name} · ${label.slice(name.length + 2)}`;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function oneLine(text: string): string {
  const line = text.slice(0, 1000).trim().replace(/\s+/g, ' ');
  return [...line].length > LONGEST ? `${[...line].slice(0, LONGEST - 1).join('')}…` : line;
}
