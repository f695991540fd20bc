// Describes a screen for people, and tells whether a text that we typed is still in the box.

import { untrustedCode } from '../../../core/untrusted-text.ts';
import type { DialogName } from './dialog.ts';
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
  stats: 'The statistics panel is open',
  skills: 'The list of skills is open',
  plugin: 'The list of plugins is open',
  doctor: "Claude Code's self-check is open",
  limit: 'A usage limit is reached, and Claude is asking what to do',
  login: 'Claude is asking how to log in',
  key: 'Claude is asking whether to use an API key',
  bypass: 'Claude is asking whether it may run without asking for permission',
  server: 'Claude is asking whether to use an MCP server of this project',
  add: 'Claude is asking for a directory to add',
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
