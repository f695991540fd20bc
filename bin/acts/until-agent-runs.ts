// Waits until an agent that was just started shows that it runs.

import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentDriver } from '../../agents/driver.ts';
import type { AgentScreen } from '../../agents/screen.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { neutralise } from '../../core/untrusted-text.ts';
import { screenOf } from '../../threads/read-pane.ts';
import { lookForExit, QUIT_HISTORY, quitReport } from '../../tmux/last-output.ts';
import { lookAtPane } from '../../tmux/look.ts';
import type { PaneRef } from '../../tmux/pane.ts';
import { killSession, type Session } from '../../tmux/sessions.ts';
import type { Tmux } from '../../tmux/tmux.ts';

/** How long an agent is watched that shows no box to write into. */
const WATCHED_MS = 3_000;

/** Resolves with what it shows, if that is known. Rejects with the last lines of an agent that quits at once. */
export async function untilAgentRuns(
  tmux: Tmux,
  session: Session,
  driver: AgentDriver,
): Promise<AgentScreen['kind'] | undefined> {
  const pane = { serverPid: session.serverPid, paneId: session.pane.id, panePid: session.pane.pid };
  for (const until = Date.now() + WATCHED_MS; Date.now() < until; await sleep(100)) {
    const seen = await lookForExit(tmux, pane, QUIT_HISTORY);
    if (seen.kind === 'pane' && !seen.dead) {
      const shown = await shownNow(tmux, pane, driver);
      if (shown !== undefined && RUNS.includes(shown)) return shown;
      continue;
    }
    if (seen.kind === 'pane') await killSession(tmux, session).catch(() => {}); // it ended by itself
    const { how, lines } = quitReport(seen);
    const said = lines === '' ? 'It printed nothing.' : `Its last lines:\n${neutralise(lines)}`;
    throw new ThreadmuxError('tmux_failed', `${session.name} ${how}. ${said}`, {
      hint: 'Correct that, then start it again.',
    });
  }
  return undefined;
}

const RUNS: readonly AgentScreen['kind'][] = ['empty', 'draft', 'dialog'];

async function shownNow(tmux: Tmux, pane: PaneRef, driver: AgentDriver): Promise<AgentScreen['kind'] | undefined> {
  const seen = await lookAtPane(tmux, pane);
  return seen.kind === 'pane' ? screenOf(seen, seen, driver).kind : undefined;
}
