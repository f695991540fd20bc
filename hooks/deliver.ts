// Journey 1, from start to end: a letter of Claude's becomes messages in its session's thread.
// Whatever happens in between, the letter is done with only when this has returned.

import type { HookEvent, HookInput } from '../claude/hook-input.ts';
import { isShell } from '../claude/screen.ts';
import { ThreadmuxError } from '../core/errors.ts';
import type { Draft } from '../discord/messages.ts';
import type { ThreadRecord } from '../threads/record.ts';
import type { SessionPane } from '../threads/threads.ts';
import { readTmuxVariable } from '../tmux/whoami.ts';
import type { CourierContext } from './context.ts';
import type { Handler, Outcome, Report } from './event.ts';
import { fit } from './fit.ts';
import type { Letter } from './letter.ts';
import { notification } from './notification.ts';
import { postParts, withPosted } from './post.ts';
import { preToolUse } from './pre-tool-use.ts';
import { sessionEnd } from './session-end.ts';
import { sessionStart } from './session-start.ts';
import { stop } from './stop.ts';
import { stopFailure } from './stop-failure.ts';
import { userPromptSubmit } from './user-prompt-submit.ts';

/** `risky` is called before anything is done with the letter's text. */
export async function deliver(
  letter: Letter,
  context: CourierContext,
  risky: () => void = () => {},
): Promise<void> {
  const { input } = letter;
  risky();
  if (input.hook_event_name === 'PermissionRequest')
    return context.prompts.open(letter, input, context.host.name);
  if (isNested(letter)) return;
  const begins = input.hook_event_name === 'SessionStart';
  const session = await context.sessionOf(letter.tmux, letter.pane, begins);
  if (session === undefined) return giveUpOn(letter, context);
  const directory = letter.project || input.cwd;
  // A thread that a person deleted comes back when its session has something to say.
  const known = context.threads.registry.ofSession(session.host, session);
  if (known?.deleted && QUIET.includes(input.hook_event_name)) return;
  const thread = await context.threads.ensure(session, { directory, shell: 'no' });
  const connection = thread && context.threads.connections.named(thread.server);
  if (thread === undefined || connection === undefined) return; // it belongs nowhere

  const { rest } = connection;
  const report = { letter, session, context, rest, thread };
  const outcome = await handle(input, report);
  if (outcome.say !== undefined) {
    risky();
    await post(report, directory, letter.id, fit(outcome.say));
  }
  await outcome.after?.();
  record(report, outcome);
}

const QUIET: readonly HookEvent[] = ['UserPromptSubmit', 'PreToolUse'];

/** Into the session's thread; into a new one if it turns out to be deleted. */
async function post(
  { letter, session, context, thread, rest }: Report,
  directory: string,
  id: string,
  parts: readonly Draft[],
): Promise<void> {
  const { threads } = context;
  const place = await threads.connections.named(thread.server)?.place(thread.channel);
  await context.inTurn(thread.thread, () =>
    postParts(parts, {
      ...{ rest, botId: place?.botId ?? '', letter: id, pane: letter.pane },
      since: letter.writtenAt,
      thread: async (gone) => {
        const again = gone === undefined ? {} : { gone };
        return (await threads.ensure(session, { directory, shell: 'no', ...again })) ?? thread;
      },
      onPosted(posted) {
        const record = threads.registry.ofSession(session.host, session);
        if (record !== undefined)
          threads.registry.change(record.thread, {
            ...withPosted(record, posted),
            archived: 'no', // what was posted has reopened it
          });
      },
    }),
  );
}

/** In place of a report that killed the process twice; nothing of its text is looked at. */
export async function sayAside(
  letter: Letter,
  context: CourierContext,
  name: string,
): Promise<void> {
  const session = await context.sessionOf(letter.tmux, letter.pane);
  const directory = letter.project || letter.input.cwd;
  const thread = session && (await context.threads.ensure(session, { directory, shell: 'no' }));
  const rest = thread && context.threads.connections.named(thread.server)?.rest;
  if (session === undefined || thread === undefined || rest === undefined) return;
  const text = `⚠️ One report of the agent could not be processed and was set aside: \`${name}\`. \`threadmux outbox\` shows it.`;
  const report = { letter, session, context, rest, thread };
  await post(report, directory, `aside ${letter.id}`, fit({ text }));
}

/** As soon as a letter is here, before the letters in front of it are posted: a receipt needs no request. */
export function arrived(letter: Letter, { threads, receipts, host }: CourierContext): void {
  const { input } = letter;
  if (input.hook_event_name !== 'UserPromptSubmit' || isNested(letter)) return;
  const server = readTmuxVariable(letter.tmux);
  const thread = server && threads.registry.ofPane(host.name, server.pid, letter.pane);
  if (thread !== undefined) receipts.submitted(thread.thread, [input.prompt], letter);
}

/** Until then tmux may only have been too busy to say whose pane it is. */
const UNKNOWN_FOR_MS = 30_000;

function giveUpOn({ pane, writtenAt }: Letter, { log }: CourierContext): void {
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

/** Which pane this thread speaks to, and what Claude does there. */
function record({ letter, session, context }: Report, outcome: Outcome): void {
  const { input } = letter;
  const { registry } = context.threads;
  const before = registry.ofSession(session.host, session);
  if (before === undefined) return;
  const { path: _, ...pane } = session;
  registry.change(before.thread, {
    ...pane,
    command: agentCommand(letter, session, before),
    cwd: input.cwd,
    claudeSession: input.session_id,
    transcript: input.transcript_path,
    state: outcome.state ?? before.state,
    shell: 'no',
    at: letter.writtenAt,
  });
}

/** When the letter is read, Claude may have left: what has the pane then is not the agent. */
function agentCommand(
  { input }: Letter,
  { command, panePid }: SessionPane,
  before: ThreadRecord,
): string {
  const same = before.claudeSession === input.session_id && before.panePid === panePid;
  const left = input.hook_event_name === 'SessionEnd' || isShell(command);
  return same && left ? before.command : command;
}
