// Whether the dialog in the terminal is still open. Nobody tells a waiting hook that the person
// answered there: the transcript does when the tool has run, the screen does at once.

import { setTimeout as sleep } from 'node:timers/promises';
import { hasDialog } from '../claude/dialog-line.ts';
import { readScreen } from '../claude/screen.ts';
import { openTool, readTurn, toolAnswered } from '../claude/transcript.ts';
import type { PaneRecord } from '../home/pane-record.ts';
import { look } from '../tmux/look.ts';
import type { Tmux } from '../tmux/tmux.ts';

export interface Request {
  readonly transcript: string;
  readonly promptId: string | undefined;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export type Terminal =
  | 'open'
  /** Somebody answered there, or pressed Esc. */
  | 'answered'
  | 'exited';

/** Asked again and again; it remembers what it has seen. */
export function watchTerminal(
  tmux: Tmux,
  record: PaneRecord,
  request: Request,
): () => Promise<Terminal> {
  const words = tellingWords(request.input);
  let toolId: string | undefined;
  let seen: 'nothing' | 'a dialog' | 'this dialog' = 'nothing';

  async function inTranscript(): Promise<boolean> {
    if (toolId === undefined) {
      const turn = await readTurn(request.transcript, { promptId: request.promptId });
      toolId = turn === undefined ? undefined : openTool(turn, request.tool, request.input)?.id;
    }
    return toolId !== undefined && (await toolAnswered(request.transcript, toolId)) !== undefined;
  }

  async function onScreen(): Promise<Terminal> {
    const first = await glance();
    if (first !== 'answered') return first;
    // One look may catch a half-drawn screen; two in a row do not.
    await sleep(120);
    return glance();
  }

  async function glance(): Promise<Terminal> {
    const pane = await look(tmux, record).catch(() => undefined);
    if (pane === undefined) return 'open';
    if (pane.kind === 'gone' || pane.dead || pane.panePid !== record.panePid) return 'exited';
    const screen = readScreen(`${pane.ansi}\n`, {
      cursorX: pane.cursor.x,
      cursorY: pane.cursor.y,
      width: pane.width,
      height: pane.height,
      inMode: pane.mode !== undefined,
      currentCommand: pane.command,
      agentCommand: record.command,
    });
    if (screen.kind === 'shell') return 'exited';
    const dialog = screen.kind === 'dialog' || hasDialog(pane.text);
    const mine = dialog && words !== '' && squashed(pane.text).includes(words);
    if (mine) seen = 'this dialog';
    else if (dialog && seen === 'nothing') seen = 'a dialog';
    const isOver =
      (seen === 'this dialog' && dialog && !mine) ||
      (seen !== 'nothing' && !dialog && (screen.kind === 'empty' || screen.kind === 'draft'));
    return isOver ? 'answered' : 'open';
  }

  return async () => {
    const shown = await onScreen();
    if (shown !== 'open') return shown;
    return (await inTranscript().catch(() => false)) ? 'answered' : 'open';
  };
}

/** What the dialog is sure to show: the beginning of the command, the file, or the question. */
function tellingWords(input: Readonly<Record<string, unknown>>): string {
  const question = (input.questions as { question?: unknown }[] | undefined)?.[0]?.question;
  const words = [input.command, question, input.file_path, input.url].find(
    (one) => typeof one === 'string',
  );
  const line = typeof words === 'string' ? (words.split('\n')[0] ?? '') : '';
  return squashed(words === input.file_path ? (line.split('/').at(-1) ?? '') : line).slice(0, 20);
}

/** The terminal breaks lines where it likes. */
function squashed(text: string): string {
  return text.replace(/\s/g, '');
}
