// Whether the dialog in the terminal is still open. Nobody tells a waiting hook that the person
// answered there: the transcript does when the tool has run, the screen does at once.

import { setTimeout as sleep } from 'node:timers/promises';
import { screenFingerprint } from '../../agents/claude/screen/fingerprint.ts';
import { hasDialog, readScreen } from '../../agents/claude/screen/screen.ts';
import { openTool, readTurn, toolAnswered } from '../../agents/claude/transcript/transcript.ts';
import type { FileSource } from '../../home/file-source.ts';
import { lookAtPane, type PaneLook } from '../../tmux/look.ts';
import type { Tmux } from '../../tmux/tmux.ts';
import type { PromptPane } from './prompt-record.ts';

interface ToolRequest {
  readonly transcript: string;
  readonly promptId: string | undefined;
  readonly agentId: string | undefined;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Where the transcript is, if it is on another host. */
  readonly files?: FileSource;
}

type TerminalDialog =
  | 'open'
  /** Somebody answered there, or pressed Esc. */
  | 'answered'
  | 'exited';

/** So many looks at a box without ever a dialog: it was answered before the first look. */
const NEVER_SEEN = 5;

export interface WatchedTerminal {
  /** Asked again and again; it remembers what it has seen. 'open' if it is not sure. */
  now(): Promise<TerminalDialog>;
  /** The print of the screen if the dialog of this very prompt is certainly on it. */
  dialog(): Promise<string | undefined>;
}

export function watchTerminal(tmux: Tmux, record: Omit<PromptPane, 'socket'>, request: ToolRequest): WatchedTerminal {
  const words = tellingWords(request.input);
  const from = request.files === undefined ? {} : { files: request.files };
  // The dialog of an agent in the background comes after us, and its turn is not the one we can read.
  const isMain = request.agentId === undefined;
  let toolId: string | undefined;
  let seen: 'nothing' | 'a dialog' | 'this dialog' = 'nothing';
  let boxes = 0;

  async function inTranscript(): Promise<boolean> {
    if (toolId === undefined) {
      const turn = await readTurn(request.transcript, { promptId: request.promptId, ...from });
      toolId = turn === undefined ? undefined : openTool(turn, request.tool, request.input)?.id;
      if (toolId === undefined && isMain && turn !== undefined && turn.state !== 'running') return true;
    }
    return toolId !== undefined && (await toolAnswered(request.transcript, toolId, from)) !== undefined;
  }

  async function onScreen(): Promise<TerminalDialog> {
    const first = await glance();
    if (first === 'open') return first;
    // One look may catch a half-drawn screen, or a command that has the foreground; two in a row do not.
    await sleep(120);
    return glance();
  }

  async function glance(): Promise<TerminalDialog> {
    const pane = await lookAtPane(tmux, record).catch(() => undefined);
    if (pane === undefined) return 'open';
    if (pane.kind === 'gone' || pane.dead || pane.panePid !== record.panePid) return 'exited';
    const { screen, dialog, mine } = read(pane);
    if (screen.kind === 'shell') return 'exited';
    const box = !dialog && (screen.kind === 'empty' || screen.kind === 'draft');
    if (mine) seen = 'this dialog';
    else if (dialog && seen === 'nothing') seen = 'a dialog';
    boxes = box ? boxes + 1 : 0;
    const isOver =
      (seen === 'this dialog' && dialog && !mine) || (box && (seen !== 'nothing' || (isMain && boxes > NEVER_SEEN)));
    return isOver ? 'answered' : 'open';
  }

  function read(pane: PaneLook) {
    const screen = readScreen(`${pane.ansi}\n`, {
      cursorX: pane.cursor.x,
      cursorY: pane.cursor.y,
      width: pane.width,
      height: pane.height,
      inMode: pane.mode !== undefined,
      currentCommand: pane.command,
      agentCommand: record.command,
    });
    const dialog = screen.kind === 'dialog' || hasDialog(pane.text);
    const text = squashed(pane.text);
    return { screen, dialog, mine: dialog && words.some((some) => text.includes(some)) };
  }

  return {
    async now() {
      const shown = await onScreen();
      if (shown !== 'open') return shown;
      return (await inTranscript().catch(() => false)) ? 'answered' : 'open';
    },
    async dialog() {
      const pane = await lookAtPane(tmux, record).catch(() => undefined);
      if (pane?.kind !== 'pane' || pane.dead || pane.panePid !== record.panePid) return undefined;
      const { screen, dialog, mine } = read(pane);
      // A dialog that shows none of the input (a plan, a tool of a server) cannot be told from others.
      const isIt = screen.kind !== 'shell' && (mine || (dialog && words.length === 0));
      if (!isIt || (await inTranscript().catch(() => false))) return undefined;
      return screenFingerprint(record.paneId, pane);
    },
  };
}

/** What the dialog is sure to show: the beginning of the command, the file, or one of the questions. */
function tellingWords(input: Readonly<Record<string, unknown>>): readonly string[] {
  const questions = Array.isArray(input.questions) ? input.questions : [];
  const path = typeof input.file_path === 'string' ? input.file_path.split('/').at(-1) : undefined;
  const asked = questions.map((one: { question?: unknown } | undefined) => one?.question);
  const candidates = asked.length > 0 ? asked : [input.command ?? path ?? input.url];
  return candidates
    .filter((one) => typeof one === 'string')
    .map((one) => squashed(one.split('\n')[0] ?? '').slice(0, 20))
    .filter((one) => one !== '');
}

/** The terminal breaks lines where it likes. */
function squashed(text: string): string {
  return text.replace(/\s/g, '');
}
