// What a prompt looks like in the thread: everything a person needs to decide, shown as what it
// is. Text that tries to hide (bidi overrides, zero-width characters, fences) is made visible.

import type { PermissionUpdate } from '../claude/hook-input.ts';
import { insideFence, neutralise } from '../core/neutralise.ts';
import type { Progress, Question } from '../core/prompt.ts';
import type { Upload } from '../discord/rest.ts';

export interface Shown {
  readonly text: string;
  /** The whole of it, if it is too long for a message. */
  readonly files: readonly Upload[];
}

const ROOM = 1_300;

export function permissionText(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  cwd: string,
  suggestions: readonly PermissionUpdate[],
): Shown {
  const { body, language, name } = preview(tool, input);
  const shown = fenced(body, language, name);
  const lines = [
    `🔔 Claude wants to use **${plain(tool)}**${about(input)}`,
    shown.text,
    `in ${code(cwd)}`,
    ...(suggestions.length === 0 ? [] : [`*Always allow* would add: ${rules(suggestions)}`]),
    '-# `allow` or `yes` allows it once; anything else you write denies it, with your words as the reason.',
  ];
  return { text: lines.join('\n'), files: shown.files };
}

export function planText(plan: string): Shown {
  const clean = neutralise(plan);
  const long = clean.length > ROOM;
  const text = long ? `${clean.slice(0, ROOM)}…\n*The whole plan is attached.*` : clean;
  return {
    text: `📋 Claude has a plan:\n${text}\n-# \`approve\` starts it; anything else you write goes back as feedback.`,
    files: long ? [upload('plan.md', plan)] : [],
  };
}

export function questionText(questions: readonly Question[], { chosen }: Progress): Shown {
  const asked = questions[chosen.length];
  const before = chosen.map(
    (answer, at) => `✔ **${plain(questions[at]?.header ?? '')}**: ${plain(answer)}`,
  );
  if (asked === undefined)
    return { text: ['❓ Your answers:', ...before].join('\n').slice(0, 1_900), files: [] };
  const count = questions.length === 1 ? '' : ` (${chosen.length + 1} of ${questions.length})`;
  const options = asked.options.map(
    ({ label, description }, at) =>
      `**${at + 1}.** ${plain(label)}${description === '' ? '' : ` — ${plain(description)}`}`,
  );
  const lines = [
    ...before,
    `❓ **${plain(asked.header)}**${count}: ${plain(asked.question)}`,
    ...options,
    `-# Tap, or write a number, a label or your own words.${asked.multiSelect ? ' Several: with commas.' : ''}`,
  ];
  return { text: lines.join('\n').slice(0, 1_900), files: [] };
}

/** What the tool will do, in full: a command, a change of a file, or its input as it is. */
function preview(
  tool: string,
  input: Readonly<Record<string, unknown>>,
): { body: string; language: string; name: string } {
  if (typeof input.command === 'string')
    return { body: input.command, language: 'bash', name: 'command.txt' };
  const path = typeof input.file_path === 'string' ? input.file_path : undefined;
  if (
    path !== undefined &&
    typeof input.old_string === 'string' &&
    typeof input.new_string === 'string'
  )
    return {
      body: `${path}\n${marked('-', input.old_string)}\n${marked('+', input.new_string)}`,
      language: 'diff',
      name: 'change.diff',
    };
  if (path !== undefined && typeof input.content === 'string')
    return {
      body: `${path}\n${marked('+', input.content)}`,
      language: 'diff',
      name: 'change.diff',
    };
  return {
    body: JSON.stringify(input, null, 2),
    language: 'json',
    name: `${tool.replace(/\W/g, '')}.json`,
  };
}

function marked(sign: string, text: string): string {
  return text
    .split('\n')
    .map((line) => `${sign} ${line}`)
    .join('\n');
}

function fenced(body: string, language: string, name: string): Shown {
  const clean = neutralise(body);
  if (clean.length <= ROOM) return { text: insideFence(body, language), files: [] };
  const half = Math.floor(ROOM / 2);
  const head = insideFence(body.slice(0, half), language);
  const tail = insideFence(body.slice(-half / 2), language);
  const left = body.length - half - Math.floor(half / 2);
  return {
    text: `${head}\n**… ${left} more characters, all of them in ${code(name)} …**\n${tail}`.slice(
      0,
      1_700,
    ),
    files: [upload(name, body)],
  };
}

function about(input: Readonly<Record<string, unknown>>): string {
  return typeof input.description === 'string' && input.description !== ''
    ? `: ${plain(input.description).slice(0, 200)}`
    : '';
}

function rules(suggestions: readonly PermissionUpdate[]): string {
  const names = suggestions.flatMap((one) => [
    ...(one.rules ?? []).map(
      ({ toolName, ruleContent }) =>
        `${toolName}${ruleContent === undefined ? '' : `(${ruleContent})`}`,
    ),
    ...(one.mode === undefined ? [] : [`mode ${one.mode}`]),
    ...(one.directories ?? []).map((folder) => `folder ${folder}`),
  ]);
  const where = suggestions[0]?.destination;
  return `${names
    .map((name) => code(name.slice(0, 150)))
    .join(', ')
    .slice(0, 400)}${where === undefined ? '' : ` (${plain(where)})`}`;
}

function upload(name: string, text: string): Upload {
  return { name, data: new TextEncoder().encode(text) };
}

/** Shown letter by letter: nothing in it is Markdown, a mention or invisible. */
function plain(text: string): string {
  return neutralise(text)
    .replace(/[\\*_~`|>#[\]<@]/g, '\\$&')
    .replace(/\s+/g, ' ')
    .trim();
}

function code(text: string): string {
  return `\`${neutralise(text).replaceAll('`', "'").replace(/\s+/g, ' ')}\``;
}
