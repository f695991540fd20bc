// Classifies what Claude Code's pane shows. Only a visible, empty box that has the focus counts as safe to type into;
// everything that is not recognised is `unknown`, and nothing is typed into it.

import { exceedsScreen } from '../../agent-rows.ts';
import type { AgentScreen, PaneFacts } from '../../screen.ts';
import { isShell } from '../../shell-name.ts';
import { type AnsiRow, type Box, findBox, hasStash, isBusy, menuOpen, modeOf, parseAnsi } from './box.ts';
import { findDialog } from './dialog.ts';

/** Reads the visible part of a pane. `ansi` is the unchanged output of `capture-pane -e -p`. */
export function readScreen(ansi: string, facts: PaneFacts = {}): AgentScreen {
  if (facts.paneDead) return { kind: 'dead' };
  if (exceedsScreen(ansi)) return { kind: 'unknown' };
  const rows = parseAnsi(ansi);
  const whole = facts.height === undefined || rows.length === facts.height;
  const box = whole ? findBox(rows, facts.width, facts.cursorY) : undefined;
  const dialog = findDialog(rows, facts.width);
  if (facts.currentCommand !== undefined && facts.currentCommand !== facts.agentCommand) {
    const contradicted = hasCursor(box, facts) || (dialog !== undefined && !atPrompt(rows, facts));
    const program = readProgram(rows, facts.currentCommand, facts.agentCommand);
    if (program !== undefined) return contradicted ? { kind: 'unknown' } : program;
  }
  if (facts.inMode) return { kind: 'copyMode' };
  if (!whole) return { kind: 'unknown' };
  if (isAgentsView(rows, facts)) return { kind: 'agents' };
  if (box !== undefined) return readBox(rows, box, facts);
  if (isTranscript(rows)) return { kind: 'transcript' };
  return dialog === undefined ? { kind: 'unknown' } : { kind: 'dialog', ...dialog };
}

const SUSPENDED = /^Claude Code has been suspended\./u;

/** The program that runs in the foreground instead of Claude Code, judged by its name. */
function readProgram(rows: readonly AnsiRow[], command: string, agent?: string): AgentScreen | undefined {
  if (isShell(command)) {
    const said = rows.filter((row) => row.text !== '').slice(-6);
    return { kind: 'shell', suspended: said.some((row) => SUSPENDED.test(row.text)) };
  }
  return agent === undefined ? undefined : { kind: 'otherProgram', command };
}

/**
 * The cursor is after the last text on the screen, as at a shell prompt but never in a dialog. A subprocess of Claude Code
 * may be in the foreground for a moment: then the program name is a shell's, but the screen is still Claude's.
 */
function atPrompt(rows: readonly AnsiRow[], { cursorX, cursorY }: PaneFacts): boolean {
  const last = rows.findLastIndex((row) => row.text !== '');
  return cursorY === last && cursorX !== undefined && cursorX >= lastText(rows).length;
}

/** A box without the cursor may be a remainder of the last screen before Claude Code exited. */
function hasCursor(box: Box | undefined, { cursorY }: PaneFacts): boolean {
  if (box === undefined) return false;
  return cursorY === undefined || (cursorY > box.top && cursorY < box.bottom);
}

function isTranscript(rows: readonly AnsiRow[]): boolean {
  const below = rows[rows.findLastIndex((row) => /^─+$/u.test(row.text)) + 1];
  return below !== undefined && /^ {2}(?:.* · )?Showing detailed transcript\b/u.test(below.text);
}

const AGENTS_KEYS = /^ {2}.*\b(?:enter to (?:open|return|create|collapse)|space to close)\b/u;
const AGENTS_COUNT = /^[\s▘▝]*\d+ awaiting input · \d+ working · \d+ completed$/u;

function isAgentsView(rows: readonly AnsiRow[], facts: PaneFacts): boolean {
  if (facts.title !== undefined && /\bclaude agents$/.test(facts.title)) return true;
  const below = rows.slice(rows.findLastIndex((row) => /^[─╰]/u.test(row.text)) + 1);
  return below.some((row) => AGENTS_KEYS.test(row.text)) || rows.slice(0, 6).some((row) => AGENTS_COUNT.test(row.text));
}

const NEW_SESSION = 'describe a task for a new session';
const OTHER_AGENT = /◯ main$/u;
const QUEUED = 'Press up to edit queued messages';

function readBox(rows: readonly AnsiRow[], box: Box, facts: PaneFacts): AgentScreen {
  if (box.hint === NEW_SESSION) return { kind: 'agents' };
  if (box.hint.startsWith('Message @') || box.agents.some((agent) => OTHER_AGENT.test(agent)))
    return { kind: 'subagent' };
  if (!hasKeyboard(box, facts)) return { kind: 'aside' };
  if (box.shell) return { kind: 'shellMode', text: box.text };
  const busy = isBusy(rows, box);
  const stashed = hasStash(rows, box);
  if (box.empty) return { kind: 'empty', busy, queued: box.hint === QUEUED, stashed, mode: modeOf(box) };
  if (menuOpen(rows, box)) return { kind: 'menu', text: box.text };
  return { kind: 'draft', text: box.text, busy, stashed };
}

/** If the cursor position is unknown, inverse text below a box without a cursor counts as the cursor. */
function hasKeyboard(box: Box, { cursorX, cursorY }: PaneFacts): boolean {
  if (box.footer.some((row) => /^ {2}search prompts:/u.test(row.text))) return false;
  if (box.agents.some((agent) => agent.startsWith('❯'))) return false;
  if (cursorY !== undefined && (cursorY <= box.top || cursorY >= box.bottom)) return false;
  if (cursorX !== undefined && box.empty && cursorX !== 2) return false;
  if (cursorY !== undefined) return true;
  return box.cursor || !box.footer.some((row) => row.cells.some((cell) => cell.inverse));
}

function lastText(rows: readonly AnsiRow[]): string {
  return rows.findLast((row) => row.text !== '')?.text ?? '';
}

/**
 * The line that Claude Code shows below every dialog, as an extended regular expression for tmux. It is checked on the screen
 * before typing, and again inside tmux at the moment a key is pressed.
 */
export const DIALOG = '^ *(Esc to cancel|Enter to select|Enter to confirm)';
