// A short hash of what a key would act on. A key button carries the hash, and its key is pressed only while the pane still has
// the same one. It includes the pane and the program, but not spinners and what runs beside them, or no button would ever work.

import { createHash } from 'node:crypto';
import type { ScreenReader } from './driver.ts';
import type { AgentScreen } from './screen.ts';

/** The state of a pane at one moment. */
export interface PaneView {
  readonly serverPid: number;
  readonly panePid: number;
  readonly command: string;
  readonly cursor: { readonly x: number; readonly y: number };
  readonly cursorShown?: boolean;
  readonly width: number;
  readonly height: number;
  readonly dead: boolean;
  readonly title: string;
  readonly text: string;
  readonly ansi: string;
}

export function screenFingerprint(paneId: string, view: PaneView, reader: ScreenReader): string {
  const { serverPid, panePid, command } = view;
  const facts = [serverPid, paneId, panePid, command, ...shownTo(readView(view, reader), view.text, reader)];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 16);
}

/**
 * The last lines of a dialog as extended regular expressions, which tmux checks at the moment of the key; empty if the pane
 * shows no dialog.
 */
export function dialogPatterns(view: PaneView, reader: ScreenReader): readonly string[] {
  if (!hasDialog(view.text, reader) && readView(view, reader).kind !== 'dialog') return [];
  const lines = view.text.split('\n').filter((line) => /[a-z]/i.test(line));
  return lines.slice(-DIALOG_LINES).map(patternOf);
}

const DIALOG_LINES = 10;
/** Of a wider line, only the beginning is compared. */
const LINE_ROOM = 400;

/** The whole line: another command may begin like this one. Only characters that no shell and no format interprets stay themselves. */
function patternOf(line: string): string {
  const whole = line.trimEnd();
  // What is not ASCII may have another number of characters for tmux. A dot would match ASCII as well: with many of these in a line, tmux
  // would try so many ways that it stops for seconds, with all sessions.
  const pattern = whole
    .slice(0, LINE_ROOM)
    .replace(/[^ -~]+|[^a-z0-9 /=_-]/gi, (part) => (/[ -~]/.test(part) ? '.' : '[^ -~]*'));
  return `^${pattern}${whole.length > LINE_ROOM ? '' : '$'}`;
}

/** A dialog may be open above a box that looks ready; typed text would then answer the dialog. */
export function hasDialog(text: string, { dialogLine }: Pick<ScreenReader, 'dialogLine'>): boolean {
  return dialogLine !== undefined && new RegExp(dialogLine, 'm').test(text);
}

/** Ignores copy mode: pressing a key leaves it first, and then the key reaches the screen below it. */
export function readView(view: PaneView, reader: ScreenReader): AgentScreen {
  const { ansi, cursor, cursorShown, width, height, dead, title } = view;
  // tmux prints a newline after the last line too.
  return reader.read(`${ansi}\n`, {
    cursorX: cursor.x,
    cursorY: cursor.y,
    width,
    height,
    title,
    paneDead: dead,
    ...(cursorShown === undefined ? {} : { cursorShown }),
  });
}

/** Above a box there is only conversation. A plan is shown above its dialog, so for a dialog the whole screen counts. */
function shownTo(screen: AgentScreen, text: string, reader: ScreenReader): readonly unknown[] {
  if (hasDialog(text, reader) && screen.kind !== 'dialog') return [stillInDialog(text)];
  switch (screen.kind) {
    case 'empty':
      return ['box', ''];
    case 'draft':
    case 'menu':
    case 'shellMode':
      return [screen.kind, screen.text];
    case 'dialog':
      return screen.full ? [screen.which, ...answered(screen)] : [stillInDialog(text), highlighted(screen)];
    case 'transcript':
      return [screen.kind];
    default:
      return [stillInDialog(text)]; // it may be a question of any program
  }
}

/** The numbers of a panel may change by themselves, and a key answers nothing there. */
function answered({ form, title, text, options }: AgentScreen & { kind: 'dialog' }): readonly unknown[] {
  if (form === 'panel') return [];
  const list = options.map(({ number, label, selected }) => [number, label, selected]);
  return [title, list, text.map(withoutAge)];
}

/** Only colours may show which option Enter takes. */
function highlighted({ options }: AgentScreen & { kind: 'dialog' }): readonly string[] {
  return options.flatMap(({ label, selected }) => (selected ? [label] : []));
}

/** How long ago something was changes by itself. */
export function withoutAge(line: string): string {
  return line.replace(/\b\d+ ?[a-z]+ ago\b/gu, 'ago');
}

/** Only status lines may change: a number in the text to approve, or in the question of a program, is never a clock. */
function stillInDialog(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => (STATUS.test(line) ? still(line) : line.replace(BLINKING, '•').trimEnd()));
  return lines.join('\n').trimEnd();
}

/** A spinner in the first column, where no dialog writes, or the state of a running tool. */
const STATUS = /^(?:[\u2800-\u28ff·✢✳✶✻✽∗] \S.*…| {2}⎿ {2}\p{L}+…)/u;

/** In front of a tool that runs, also in the first column. */
const BLINKING = /^◦(?= \S)/u;

/** Removes what changes by itself: spinners, clocks, durations and percentages. */
function still(text: string): string {
  return text
    .replace(/[\u2800-\u28ff·✢✳✶✻✽∗]/g, '*')
    .replace(/\d{1,2}(?::\d{2}){1,2}/g, '0:00')
    .replace(/\d{1,9}(?:\.\d{1,3})?\s?(?:ms|s|m|h|%)(?![a-z])/g, '0s')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trimEnd();
}
