// What a screen means for a person, and whether a text of ours still stands in the box.

import { code } from '../core/outside-words.ts';
import type { Screen } from './screen.ts';
import type { DialogName } from './screen-dialog.ts';

/**
 * Whether the box holds this text and nothing else. `maybe`: the box shows a placeholder for what was pasted, or only the
 * end of a long text, and what can be seen of it fits; or the box cannot be seen.
 */
export function boxHolds(screen: Screen, text: string): 'yes' | 'no' | 'maybe' {
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

/** How often the screen shows this text as submitted: in the conversation, or in the queue above the box. */
export function timesShown(screen: string, text: string): number {
  const wanted = squash(text.trim().split('\n', 1)[0] ?? '');
  const lines = screen.split('\n');
  return lines.filter((line, at) => {
    const shown = squash(/^ {0,2}❯[ \u00a0](.*)$/u.exec(line)?.[1] ?? '').replace(IMAGES, '');
    if (shown === '' || lines[at - 1]?.startsWith('─')) return false; // nothing, or the box itself
    return wanted.startsWith(shown) || shown.startsWith(wanted) || /^\[Pastedtext#/u.test(shown);
  }).length;
}

/** One sentence. */
export function describeScreen(screen: Screen): string {
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
      return "Claude's box is in shell mode: what is submitted there runs as a command.";
    case 'aside':
      return "Claude's box does not have the keyboard: a search or a line under the box is selected.";
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
        ? 'Claude is suspended; a shell is there (`fg` brings it back).'
        : 'Claude has exited; a shell is there.';
    case 'dead':
      return 'The program in the pane has ended.';
    case 'otherProgram':
      return `Another program (${code(screen.command)}) has the pane.`;
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
  model: 'The choice of models is open',
  config: "Claude Code's settings are open",
  settings: "Claude Code's settings are open",
  cost: 'The usage panel is open',
  status: 'The status panel is open',
  help: 'The help panel is open',
  resume: 'The list of earlier conversations is open',
  permissions: 'The list of permission rules is open',
  search: 'The search through earlier prompts is open',
  theme: 'The choice of themes is open',
  memory: 'The memory panel is open',
  hooks: 'The list of hooks is open',
  effort: 'The choice of effort is open',
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
  // The paths of images are gone from the box, which shows a mark for each.
  const words = seen.replace(IMAGES, '');
  if (words !== seen && wanted.startsWith(words)) return 'maybe';
  const parts = seen.split(PLACEHOLDER);
  if (parts.length > 1 && inOrder(parts, wanted)) return 'maybe';
  const scrolled = shown.split('\n').length >= SCROLLS_FROM_LINES;
  return scrolled && wanted.endsWith(seen) ? 'maybe' : 'no';
}

/** The box breaks lines where it likes and draws neither tabs nor what has no width: only the ink counts. */
function squash(text: string): string {
  return text.replace(/\s|\p{Cf}|\p{Variation_Selector}/gu, '');
}

/** Whether `text` begins with the first part, ends with the last, and has the others between, in order. */
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
