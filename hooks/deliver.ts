// Journey 1, from start to end: a letter of Claude's becomes messages in its session's thread.
// Whatever happens in between, the letter is done with only when this has returned.

import type { HookEvent, HookInput } from '../claude/hook-input.ts';
import { isShell } from '../claude/screen.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { loadPaneRecord, type PaneRecord, savePaneRecord } from '../home/pane-record.ts';
import type { Whereabouts } from '../tmux/whoami.ts';
import type { Desk } from './desk.ts';
import type { Handler, Outcome, Report } from './event.ts';
import { fit } from './fit.ts';
import type { Letter } from './letter.ts';
import { notification } from './notification.ts';
import { postParts } from './post.ts';
import { preToolUse } from './pre-tool-use.ts';
import { sessionEnd } from './session-end.ts';
import { sessionStart } from './session-start.ts';
import { stop } from './stop.ts';
import { stopFailure } from './stop-failure.ts';
import { userPromptSubmit } from './user-prompt-submit.ts';

export async function deliver(
  letter: Letter,
  desk: Desk,
  risky: () => void = () => {},
): Promise<void> {
  const { input } = letter;
  if (isNested(letter)) return;
  const begins = input.hook_event_name === 'SessionStart';
  const session = await desk.sessionOf(letter.tmux, letter.pane, begins);
  if (session === undefined) return giveUpOn(letter, desk);
  const to = desk.destinationOf(letter.project || input.cwd);
  if (to === undefined) return;

  const rest = desk.restOf(to.server);
  const thread = (gone?: string) => desk.threadOf(session, input.cwd, to, gone);
  const report = { letter, session, desk, rest, thread: await thread() };
  risky();
  const outcome = await handle(input, report);
  if (outcome.say !== undefined) {
    risky();
    const parts = fit(outcome.say);
    const { botId } = await desk.placeOf(to);
    await desk.inTurn(report.thread.thread, () =>
      postParts(parts, {
        rest,
        botId,
        letter: letter.id,
        pane: letter.pane,
        since: letter.writtenAt,
        thread,
        onPosted: (posted) => desk.posted(session, posted),
      }),
    );
  }
  await outcome.after?.();
  try {
    record({ ...report, thread: await thread() }, outcome);
  } catch (error) {
    // What was said has been said: a full disk must not make it wait and come again.
    desk.log.warn('recording a pane', { because: (error as Error).message });
  }
}

/** In place of a report that killed the process twice; nothing of its text is looked at. */
export async function sayAside(letter: Letter, desk: Desk, name: string): Promise<void> {
  const session = await desk.sessionOf(letter.tmux, letter.pane, false);
  const to = desk.destinationOf(letter.project || letter.input.cwd);
  if (session === undefined || to === undefined) return;
  const rest = desk.restOf(to.server);
  const thread = (gone?: string) => desk.threadOf(session, letter.input.cwd, to, gone);
  const text = `⚠️ One report of the agent could not be processed and was set aside: \`${name}\`. \`threadmux outbox\` shows it.`;
  const { botId } = await desk.placeOf(to);
  const { thread: id } = await thread();
  await desk.inTurn(id, () =>
    postParts(fit({ text }), {
      rest,
      botId,
      letter: `aside ${letter.id}`,
      pane: letter.pane,
      since: letter.writtenAt,
      thread,
      onPosted: (posted) => desk.posted(session, posted),
    }),
  );
}

/** Until then tmux may only have been too busy to say whose pane it is. */
const UNKNOWN_FOR_MS = 30_000;

function giveUpOn({ pane, writtenAt }: Letter, { log }: Desk): void {
  if (Date.now() - writtenAt < UNKNOWN_FOR_MS)
    throw new ThreadmuxError(
      'session_not_found',
      `finding the session of pane ${pane}: tmux does not know it`,
    );
  log.warn('letter of an unknown pane', { pane });
}

/** `claude -p` inside a session, or a program that uses Claude, runs the same hooks in the same pane. */
function isNested({ entrypoint, input }: Letter): boolean {
  return (entrypoint !== '' && entrypoint !== 'cli') || input.agent_id !== undefined;
}

const HANDLERS: {
  readonly [E in HookEvent]?: Handler<Extract<HookInput, { hook_event_name: E }>>;
} = {
  Stop: stop,
  StopFailure: stopFailure,
  Notification: notification,
  SessionStart: sessionStart,
  SessionEnd: sessionEnd,
  UserPromptSubmit: userPromptSubmit,
  PreToolUse: preToolUse,
};

async function handle(input: HookInput, report: Report): Promise<Outcome> {
  const handler = HANDLERS[input.hook_event_name] as Handler<HookInput> | undefined;
  return (await handler?.(input, report)) ?? {};
}

/** For the bridge: which pane this thread speaks to, and what Claude does there. */
function record({ letter, session, desk, thread }: Report, outcome: Outcome): void {
  const { input } = letter;
  const before = loadPaneRecord(desk.home, thread.thread);
  savePaneRecord(desk.home, {
    thread: thread.thread,
    server: thread.server,
    host: desk.config.host,
    socket: session.socket,
    serverPid: session.serverPid,
    paneId: session.paneId,
    panePid: session.panePid,
    sessionId: session.sessionId,
    sessionName: session.sessionName,
    command: agentCommand(letter, session, before),
    cwd: input.cwd,
    claudeSession: input.session_id,
    transcript: input.transcript_path,
    state: outcome.state ?? before?.state ?? 'idle',
    shell: 'no',
    at: letter.writtenAt,
  });
}

/** When the letter is read, Claude may have left: what has the pane then is not the agent. */
function agentCommand(
  { input }: Letter,
  { command, panePid }: Whereabouts,
  before: PaneRecord | undefined,
): string {
  const same = before?.claudeSession === input.session_id && before.panePid === panePid;
  const left = input.hook_event_name === 'SessionEnd' || isShell(command);
  return same && left ? before.command : command;
}
