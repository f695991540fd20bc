// The last output of a program that has exited, while tmux keeps its pane (remain-on-exit).

import { type LookResult, lookAtPane } from './look.ts';
import type { PaneRef } from './pane.ts';
import type { Tmux } from './tmux.ts';

const DEAD_LINE = 'Pane is dead (';
const LINES = 10;
/** The lines above the screen that may belong to the last output. */
export const QUIT_HISTORY = 20;
const COLUMNS = 60;

/** Like `lookAtPane`, and an exit status is known if there is one. */
export async function lookForExit(tmux: Tmux, pane: PaneRef, history = 0): Promise<LookResult> {
  const seen = await lookAtPane(tmux, pane, { history });
  if (seen.kind === 'gone' || !seen.dead || seen.exitStatus !== undefined) return seen;
  // tmux 3.3 sometimes learns the exit status of a program only when another child process exits.
  await tmux.run(['run-shell', 'true']);
  return lookAtPane(tmux, pane, { history });
}

/** For "… quit at once", and its last lines; empty if it printed nothing. */
export function quitReport(seen: LookResult): { readonly how: string; readonly lines: string } {
  if (seen.kind === 'gone') return { how: 'quit at once', lines: '' };
  const code = seen.exitStatus === undefined ? '' : ` (exit code ${seen.exitStatus})`;
  return { how: `quit at once${code}`, lines: lastLines(withoutDeadLine(seen.text)) };
}

/** Removes the line that tmux adds when the program exits. */
export function withoutDeadLine(screen: string): string {
  const text = screen.trimEnd();
  const at = text.lastIndexOf(DEAD_LINE);
  if (at < 0 || !text.endsWith(')') || text.includes('\n', at)) return screen;
  return text.slice(0, at).replace(/\n$/, '');
}

/** At most 10 lines of 60 columns, so that they can be read on a phone. */
function lastLines(screen: string): string {
  const lines = screen.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .slice(-LINES)
    .flatMap(wrapped)
    .slice(-LINES)
    .join('\n');
}

function wrapped(line: string): readonly string[] {
  const rows: string[] = [];
  let rest = line;
  while (rest.length > COLUMNS) {
    const space = rest.lastIndexOf(' ', COLUMNS);
    const at = space > COLUMNS / 2 ? space : COLUMNS;
    rows.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(at).trimStart();
  }
  return rest === '' ? rows : [...rows, rest];
}
