// Describes a screen for people, and tells whether a text that we typed is still in the box.

import { untrustedCode } from '../../../core/untrusted-text.ts';
import type { AnsiRow } from './box.ts';
import type { ClaudeScreen } from './screen.ts';

/**
 * Whether the box contains exactly this text. `maybe`: the box shows a placeholder for pasted text or only the end of a long
 * text, and the visible part matches; or the box is not visible.
 */
export function boxHolds(screen: ClaudeScreen, text: string): 'yes' | 'no' | 'maybe' {
  switch (screen.kind) {
    case 'draft':
    case 'menu':
      return compare(screen.text, text);
    case 'unknown':
    case 'transcript':
    case 'copyMode':
    case 'aside':
      return 'maybe';
    default:
      return 'no';
  }
}

/** How often the screen shows this text as submitted, in the conversation or in the queue above the box. */
export function timesShown(screen: string, text: string): number {
  const wanted = squash(text.trim().split('\n', 1)[0] ?? '');
  const lines = screen.split('\n');
  return lines.filter((line, at) => {
    const shown = squash(/^ {0,2}❯[ \u00a0](.*)$/u.exec(line)?.[1] ?? '').replace(IMAGES, '');
    if (shown === '' || lines[at - 1]?.startsWith('─')) return false; // an empty line, or the box itself
    return wanted.startsWith(shown) || shown.startsWith(wanted) || /^\[Pastedtext#/u.test(shown);
  }).length;
}

/** One sentence for people. */
export function describeScreen(screen: ClaudeScreen): string {
  switch (screen.kind) {
    case 'empty':
      return screen.busy ? 'Claude is working.' : 'Claude is waiting for a message.';
    case 'draft':
      return screen.busy
        ? 'Claude is working, and there is a half-written message in its box.'
        : "There is a half-written message in Claude's box.";
    case 'menu':
      return "A list of commands or files is open over a half-written message in Claude's box.";
    case 'shellMode':
      return "Claude's box is in shell mode: submitted text runs as a command.";
    case 'aside':
      return "Claude's box does not have the focus: a search or a line below the box is selected.";
    case 'dialog':
      return `${DIALOGS[screen.which]}.`;
    case 'agents':
      return 'Claude shows the list of all agents, where a message would start a new session.';
    case 'subagent':
      return 'Claude shows the conversation of a subagent, which would get the message.';
    case 'transcript':
      return 'Claude shows its detailed transcript (Ctrl-O closes it).';
    case 'copyMode':
      return 'The pane is in copy mode.';
    case 'shell':
      return screen.suspended
        ? 'Claude is suspended, and the pane shows a shell (`fg` continues Claude).'
        : 'Claude has exited, and the pane shows a shell.';
    case 'dead':
      return 'The program in the pane has ended.';
    case 'otherProgram':
      return `Another program (${untrustedCode(screen.command)}) runs in the pane.`;
    case 'unknown':
      return 'The pane shows something that threadmux does not recognise.';
  }
}

const DIALOGS: Readonly<Record<DialogName, string>> = {
  permission: 'Claude is asking for permission to use a tool',
  question: 'Claude is asking a question',
  plan: 'Claude is asking whether its plan is approved',
  trust: 'Claude is asking whether this folder is trusted',
  onboarding: 'Claude Code is being set up for the first time',
  'auto-mode': 'Claude is asking about auto mode',
  rewind: 'The Rewind dialog is open',
  model: 'The list of models is open',
  config: "Claude Code's settings are open",
  settings: "Claude Code's settings are open",
  cost: 'The usage panel is open',
  status: 'The status panel is open',
  help: 'The help panel is open',
  resume: 'The list of earlier conversations is open',
  permissions: 'The list of permission rules is open',
  search: 'The search through earlier prompts is open',
  theme: 'The list of themes is open',
  memory: 'The memory panel is open',
  hooks: 'The list of hooks is open',
  effort: 'The list of effort levels is open',
  export: 'The export dialog is open',
  agents: 'The panel of subagents is open',
  btw: 'The answer to a side question is open',
  tasks: 'The list of background tasks is open',
  unknown: 'Claude shows a dialog that threadmux does not know',
};

const PLACEHOLDER = /\[Pastedtext#\d+(?:\+\d+lines)?\]/u;
const IMAGES = /\[Image#\d+\]/gu;
/** A box that shows fewer lines than this shows all of its text. */
const SCROLLS_FROM_LINES = 2;

function compare(shown: string, text: string): 'yes' | 'no' | 'maybe' {
  const [seen, wanted] = [squash(shown), squash(text)];
  if (seen === wanted) return 'yes';
  // The box shows a placeholder instead of the path of an image.
  const words = seen.replace(IMAGES, '');
  if (words !== seen && wanted.startsWith(words)) return 'maybe';
  const parts = seen.split(PLACEHOLDER);
  if (parts.length > 1 && inOrder(parts, wanted)) return 'maybe';
  const scrolled = shown.split('\n').length >= SCROLLS_FROM_LINES;
  return scrolled && wanted.endsWith(seen) ? 'maybe' : 'no';
}

/** The box adds line breaks and does not draw tabs or zero-width characters, so only visible characters are compared. */
function squash(text: string): string {
  return text.replace(/\s|\p{Cf}|\p{Variation_Selector}/gu, '');
}

/** Whether `text` begins with the first part, ends with the last, and contains the others between them in order. */
function inOrder(parts: readonly string[], text: string): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.endsWith(last) && text.length - last.length >= at;
}

// Reads the dialogs of Claude Code, to tell the user which one is open, its options and its keys. A dialog that this file does
// not know is still a dialog, `unknown`; nothing here decides whether typing is safe.

type DialogName = (typeof KINDS)[number][0] | 'unknown';

interface DialogOption {
  readonly number: number | undefined;
  readonly label: string;
  readonly selected: boolean;
}

export interface Dialog {
  readonly which: DialogName;
  /** A panel that the user opened with a command or a key: Esc closes it, and nothing waits for an answer. */
  readonly full: boolean;
  readonly title: string;
  readonly options: readonly DialogOption[];
  /** The line of keys, as the dialog shows it. */
  readonly help: string;
}

export function findDialog(rows: readonly AnsiRow[]): Dialog | undefined {
  const body = bodyOf(rows.map((row) => row.text));
  const options = optionsOf(body);
  const help = helpOf(body);
  if (!options.some((option) => option.selected) && help === '' && !PANEL.test(body.join('\n'))) return undefined;
  const said = body.join('\n');
  const [which, , full] = KINDS.find(([, words]) => words.test(said)) ?? (['unknown', /./, false] as const);
  return { which, full, title: titleOf(body), options, help };
}

/** Matched in this order against the whole dialog; true for a panel that the user opened. */
const KINDS = [
  ['auto-mode', /^ *(?:Make auto mode your default|Auto mode can['’]t check)/mu, false],
  ['trust', /^ *(?:Accessing workspace|Do you trust the files)|\bI trust this folder$/mu, false],
  ['onboarding', /^ *(?:Let['’]s get started|To change this later, run \/theme)/mu, false],
  ['question', /^(?:← )? *[☐☒] \S|^ *Review your answers|^ *\d+\. Chat about this/mu, false],
  ['plan', /^ *(?:Exit plan mode\?|Ready to code\?)|\bhas written up a plan\b/mu, false],
  ['permission', /^ *Do you want to\b|^ *Do you want Claude\b/mu, false],
  ['rewind', /^ *Rewind$/mu, true],
  ['model', /^ *Select model$/mu, true],
  ['config', /⌕ Search settings|^ *No settings match/mu, true],
  ['cost', /^ *Total cost:/mu, true],
  ['status', /^ *Version: +\d/mu, true],
  ['settings', /^ *Settings +Status +Config/mu, true],
  ['help', /^ *(?:Claude Code v[\d.]+ +General|Help +)/mu, true],
  ['resume', /^ *Resume session/mu, true],
  ['permissions', /^ *Permissions:? +/mu, true],
  ['search', /^ *Search prompts/mu, true],
  ['theme', /^ *Theme$/mu, true],
  ['memory', /^ *Memory$/mu, true],
  ['hooks', /^ *Hooks$/mu, true],
  ['effort', /^ *Effort$/mu, true],
  ['export', /^ *Export [Cc]onversation/mu, true],
  ['agents', /^ *Agents +Running/mu, true],
  ['btw', /^ *\/btw /mu, true],
  ['tasks', /^ *(?:Background tasks|Shell details)/mu, true],
] as const;

/** Panels that may be too tall to show their line of keys. */
const PANEL = /^ *(?:Settings +Status +Config|Search prompts|Help +General)/mu;

/** The lines below the last rule across the screen, except the rule inside a question. */
function bodyOf(lines: readonly string[]): readonly string[] {
  let top = lines.findLastIndex(isTop);
  if (OPTION_NUMBER.test(lines[top + 1] ?? '')) top = lines.slice(0, top).findLastIndex(isTop);
  return lines.slice(top + 1);
}

/** In newer versions a notice may overwrite a part of the upper edge. */
function isTop(line: string): boolean {
  return /^─{10,}$|^ {2}─{10,}$|^[ ▔].*▔$/u.test(line);
}

const OPTION = /^( *)(❯ *)?((?:[↑↓✔] )*)(?:(\d+)\. +)?(\S.*)$/su;

/** Numbered lines; in a dialog without numbers, the lines that begin in the same column as the selected one. */
function optionsOf(body: readonly string[]): readonly DialogOption[] {
  const found = body.flatMap((line) => {
    const [, margin = '', mark, arrows = '', number, label = ''] = OPTION.exec(line) ?? [];
    const column = margin.length + (mark?.length ?? 0) + arrows.length;
    return label === '' ? [] : [{ column, number, label, selected: mark !== undefined }];
  });
  const numbered = found.some((option) => option.number !== undefined);
  const column = found.find((option) => option.selected)?.column;
  return found
    .filter((one) => (numbered ? one.number !== undefined : one.column === column))
    .map(({ number, label, selected }) => ({
      number: number === undefined ? undefined : Number(number),
      label: label.split('  ', 1)[0] ?? '',
      selected,
    }));
}

const OPTION_NUMBER = /^ *(?:❯ *)?\d+\. /u;
const KEYS = /\b(?:esc|enter|tab|shift\+tab)(?:\/\S{1,20})? to \w+/iu;

/** The last block of lines, if it names keys. */
function helpOf(body: readonly string[]): string {
  const lines = body.slice(0, body.findLastIndex((line) => line !== '') + 1);
  const block = lines.slice(lines.lastIndexOf('') + 1);
  const help = block.slice(block.findLastIndex((line) => OPTION_NUMBER.test(line)) + 1);
  return help.some((line) => KEYS.test(line)) ? help.map((line) => line.trim()).join(' ') : '';
}

function titleOf(body: readonly string[]): string {
  return body.find((line) => line.trim() !== '')?.trim() ?? '';
}
