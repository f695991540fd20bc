// Waits until a session that was just started runs. A program that quits at once is reported with its last lines: until then
// tmux keeps its pane.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../../agents/list.ts';
import { hasDialog } from '../../agents/screen-fingerprint.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { cutMessage, untrustedCode } from '../../core/untrusted-text.ts';
import { screenBlock } from '../../threads/notices.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { lookForExit, QUIT_HISTORY, quitReport } from '../../tmux/last-output.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { killSession, type Session, stopKeeping } from '../../tmux/sessions.ts';
import { type CommandContext, replyWith } from './command.ts';
import type { WantedSession } from './new.ts';
import { showScreen } from './screen.ts';

/** Before this, the screen may not be drawn completely. */
const ASKS_AFTER_MS = 1_500;
const SILENT_FOR_MS = 20_000;
/** How long another program than the agent is watched. */
const OTHER_PROGRAM_MS = 500;

interface Starting {
  readonly wanted: WantedSession;
  readonly session: Session;
  readonly thread: ThreadRecord;
  readonly isAgent: boolean;
  /** tmux keeps its pane also later. */
  readonly isKept: boolean;
}

/**
 * Waits for the agent's first report, or a moment for another program. If the agent asks something first (such as whether to trust
 * the folder), the thread has a card for it.
 */
export async function untilItSpeaks(starting: Starting, context: CommandContext): Promise<'up' | 'asks' | 'silent'> {
  const { wanted, session, thread, isAgent } = starting;
  const began = Date.now();
  const tmux = context.hosts.tmux(wanted.host);
  const ref = { serverPid: session.serverPid, paneId: session.pane.id, panePid: session.pane.pid };
  const driver = driverOf(thread.agent);
  const record = () => context.threads.registry.get(thread.thread);
  const isUp = () => (isAgent ? record()?.claudeSession !== '' : Date.now() - began > OTHER_PROGRAM_MS);
  for (;;) {
    const seen = await lookAtPane(tmux, ref);
    if (seen.kind === 'gone' || seen.dead) throw await quitAtOnce(starting, context);
    const waitedMs = Date.now() - began;
    const asks =
      isAgent && waitedMs > ASKS_AFTER_MS && (hasDialog(seen.text, driver.screen) || record()?.dialog !== undefined);
    if (isUp() || asks || waitedMs > SILENT_FOR_MS) {
      // From now on the pane closes with its program.
      if (!starting.isKept && !(await stopKeeping(tmux, session))) continue;
      if (isUp()) return 'up';
      const hasCard = asks && (await context.dialogs.look(thread.thread));
      if (!hasCard) await showItsScreen(thread, context);
      return asks ? 'asks' : 'silent';
    }
    await sleep(isAgent ? 300 : 100, undefined, { ref: false }); // the next process goes on with it
  }
}

async function showItsScreen(
  { thread: id, title, channel, panePid, agent }: ThreadRecord,
  context: CommandContext,
): Promise<void> {
  const pane = await context.panes.find({ id, title, parentId: channel });
  const shown = pane === undefined ? replyWith('') : await showScreen(pane, context);
  const words = `${driverOf(agent).title} has not reported yet. This is what its pane shows.`;
  await context.postNotice(id, [id, 'starts', panePid], {
    ...shown,
    content: cutMessage(`🔔 ${words}\n${pane === undefined ? '' : shown.content}`, 2_000),
  });
}

/** Removes what is left of the session, and remembers it as it was before. Its thread, if it has one yet, says why it is closed. */
export async function quitAtOnce(
  { wanted, session, thread }: Pick<Starting, 'wanted' | 'session'> & { readonly thread?: ThreadRecord },
  context: CommandContext,
): Promise<ThreadmuxError> {
  const tmux = context.hosts.tmux(wanted.host);
  const ref = { serverPid: session.serverPid, paneId: session.pane.id, panePid: session.pane.pid };
  const seen = await lookForExit(tmux, ref, QUIT_HISTORY);
  if (seen.kind === 'pane') await killSession(tmux, session).catch(() => {}); // it ended by itself
  const { how, lines } = quitReport(seen);
  const said = lines === '' ? 'It printed nothing.' : `Its last lines:\n${screenBlock(lines)}`;
  const hint = `\`!new ${wanted.name}\` tries it again.`;
  if (thread !== undefined) {
    const { before } = wanted;
    if (before !== undefined) {
      const { claudeSession, project, transcript, started, shell, cwd } = before;
      context.threads.registry.change(thread.thread, { claudeSession, project, transcript, started, shell, cwd });
    }
    const content = `⏹️ It ${how}. ${said}\n${hint}`;
    await context.postNotice(thread.thread, [thread.thread, 'quit', session.pane.pid], { content, silent: true });
    await context.threads.archive(thread.thread, { ended: thread });
  }
  return new ThreadmuxError('session_not_found', `${untrustedCode(wanted.name)} ${how}. ${said}`, { hint });
}
