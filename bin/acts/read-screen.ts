// The last lines that a session shows, with its scrollback.

import { ThreadmuxError } from '../../core/errors.ts';
import { lookForExit, withoutDeadLine } from '../../tmux/last-output.ts';
import type { LookResult } from '../../tmux/look.ts';
import { paneOf, type SessionTarget } from '../find-session.ts';

interface ScreenLines {
  readonly text: string;
  readonly lines: number;
  readonly truncated: boolean;
  readonly omittedLines: number;
  readonly dead: boolean;
  readonly exitStatus: number | null;
}

export const DEFAULT_LINES = 1_000;
const MOST_LINES = 10_000;

export async function readScreenLines(target: SessionTarget, lines: number): Promise<ScreenLines> {
  const wanted = Math.min(lines, MOST_LINES);
  const seen = await lookAt(target, wanted);
  if (seen.kind === 'gone')
    throw new ThreadmuxError('session_not_found', `the pane of session ${target.session.name} is closed`, {
      hint: 'Run `threadmux sessions` to list the sessions.',
    });
  const older = Math.max(0, seen.historyLines - wanted);
  const clip = clipLines(seen.dead ? withoutDeadLine(seen.text) : seen.text, older, wanted);
  return {
    text: clip.lines.join('\n'),
    lines: clip.lines.length,
    truncated: clip.omitted > 0,
    omittedLines: clip.omitted,
    dead: seen.dead,
    exitStatus: seen.exitStatus ?? null,
  };
}

/** The agent's pane; if it is closed, the session's active pane. */
async function lookAt(target: SessionTarget, history: number): Promise<LookResult> {
  const { tmux, record } = target;
  const seen = await lookForExit(tmux, paneOf(target), history);
  if (seen.kind !== 'gone' || record === undefined) return seen;
  return lookAt({ ...target, record: undefined }, history);
}

/** The last lines, without empty lines at the end. `older` is the number of lines that were not read. */
function clipLines(
  text: string,
  older: number,
  wanted: number,
): { readonly lines: readonly string[]; readonly omitted: number } {
  const trimmed = text.trimEnd();
  const all = trimmed === '' ? [] : trimmed.split('\n').map((line) => line.trimEnd());
  const lines = all.slice(-wanted);
  return { lines, omitted: older + all.length - lines.length };
}
