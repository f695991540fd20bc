// threadmux capture: what a pane shows, and what it showed before. Never more than asked for or than a program can
// take, and what was left out is said.

import { ThreadmuxError } from '../../core/errors.ts';
import { spelledOut } from '../../core/neutralise.ts';
import { type LookResult, lookAtPane } from '../../tmux/look.ts';
import { findTarget, openSessionFinder, paneOf, type SessionTarget } from '../find-session.ts';
import { printJson, printNote, printText, withProgress } from '../print.ts';

interface CaptureFlags {
  readonly host?: string;
  readonly json?: boolean;
  readonly lines?: number;
}

const MOST_LINES = 10_000;
const LAST_WORDS = 200;
const DEAD_LINE = 'Pane is dead (';

export async function capture(name: string | undefined, flags: CaptureFlags): Promise<void> {
  const target = await findTarget(openSessionFinder(), name, flags.host);
  const { host, session } = target;
  const wanted = flags.lines === undefined ? undefined : Math.min(flags.lines, MOST_LINES);
  // Above the line that tmux writes below a program that has ended, its last words have scrolled away.
  const history = wanted ?? (session.pane.dead ? LAST_WORDS : 0);
  const seen = await withProgress(`looking at ${session.name}`, lookAt(target, history));
  if (seen.kind === 'gone')
    throw new ThreadmuxError('session_not_found', `the pane of session ${session.name} is gone`, {
      hint: '`threadmux sessions` lists those there are.',
    });
  const older = Math.max(0, seen.historyLines - history);
  const text = seen.dead ? withoutDeadLine(seen.text) : seen.text;
  const clip = clipLines(text, older, wanted);
  if (flags.json)
    return printJson({
      host,
      name: session.name,
      text: clip.lines.join('\n'),
      lines: clip.lines.length,
      truncated: clip.omitted > 0,
      omittedLines: clip.omitted,
      dead: seen.dead,
      exitStatus: seen.exitStatus ?? null,
    });
  if (clip.omitted > 0) printText(truncationMark(clip.omitted));
  printText(withoutControls(clip.lines.join('\n')));
  if (seen.dead) printNote(`Its program has ended with status ${seen.exitStatus ?? 'unknown'}.`);
}

/** The agent's pane; once that is closed, the one that has the focus. */
async function lookAt(target: SessionTarget, history: number): Promise<LookResult> {
  const { tmux, record } = target;
  const seen = await lookAtPane(tmux, paneOf(target), { history });
  if (seen.kind === 'gone') return record === undefined ? seen : lookAt({ ...target, record: undefined }, history);
  if (!seen.dead || seen.exitStatus !== undefined) return seen;
  // tmux 3.3 now and then learns how a program ended only when another of its children ends.
  await tmux.run(['run-shell', 'true']);
  return lookAtPane(tmux, paneOf(target), { history });
}

/** tmux prints none, but a hostile host may answer with sequences that set the clipboard or the title of this terminal. */
function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, spelledOut);
}

function withoutDeadLine(screen: string): string {
  const text = screen.trimEnd();
  const at = text.lastIndexOf(DEAD_LINE);
  if (at < 0 || !text.endsWith(')') || text.includes('\n', at)) return screen;
  return text.slice(0, at).replace(/\n$/, '');
}

function truncationMark(omitted: number): string {
  return `[… ${omitted} earlier ${omitted === 1 ? 'line' : 'lines'} left out]`;
}

/** The last lines, without the empty ones below them; `older` lines were not even read. */
function clipLines(
  text: string,
  older: number,
  wanted: number | undefined,
): { readonly lines: readonly string[]; readonly omitted: number } {
  const trimmed = text.trimEnd();
  const all = trimmed === '' ? [] : trimmed.split('\n').map((line) => line.trimEnd());
  const lines = wanted === undefined ? all : all.slice(-wanted);
  return { lines, omitted: older + all.length - lines.length };
}
