// Journey 1, from start to end: a letter of Claude's becomes messages in its session's thread.
// Whatever happens in between, the letter is done with only when this has returned.

import type { HookEvent, HookInput } from '../claude/hook-input.ts';
import { loadPaneRecord, savePaneRecord } from '../home/pane-record.ts';
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

export async function deliver(letter: Letter, desk: Desk): Promise<void> {
  const { input } = letter;
  if (isNested(letter)) return;
  const session = await desk.sessionOf(letter.tmux, letter.pane);
  if (session === undefined)
    return desk.log.warn('letter of an unknown pane', { pane: letter.pane });
  const to = desk.destinationOf(letter.project || input.cwd);
  if (to === undefined) return;

  const rest = desk.restOf(to.server);
  const thread = (isGone = false) => desk.threadOf(session, input.cwd, to, isGone);
  const report = { letter, session, desk, rest, thread: await thread() };
  const outcome = await handle(input, report);
  if (outcome.say !== undefined)
    await postParts(fit(outcome.say), {
      rest,
      botId: (await desk.placeOf(to)).botId,
      letterId: letter.id,
      since: letter.writtenAt,
      thread,
      onPosted: (last) => desk.posted(session, last),
    });
  await outcome.after?.();
  record(report, outcome);
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
  savePaneRecord(desk.home, {
    thread: thread.thread,
    host: desk.config.host,
    socket: session.socket,
    serverPid: session.serverPid,
    paneId: session.paneId,
    panePid: session.panePid,
    sessionId: session.sessionId,
    sessionName: session.sessionName,
    command: session.command,
    cwd: input.cwd,
    claudeSession: input.session_id,
    transcript: input.transcript_path,
    state: outcome.state ?? loadPaneRecord(desk.home, thread.thread)?.state ?? 'idle',
    at: letter.writtenAt,
  });
}
