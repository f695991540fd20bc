// The place where a session starts: its directory, or a worktree of its own. The set-up of a new worktree runs before the agent
// starts, and its output is one message in the thread.

import { stripVTControlCharacters } from 'node:util';
import type { SessionSettings } from '../core/session-settings.ts';
import { cutMessage, untrustedCode, untrustedReason } from '../core/untrusted-text.ts';
import { editMessage } from '../discord/messages.ts';
import { WORKTREE_SETUP } from '../hosts/worktree-scripts.ts';
import { screenBlock } from '../threads/notices.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import { startOf } from '../threads/remembered-session.ts';
import type { PreparedWorktree } from '../threads/worktrees.ts';
import { listSessions } from '../tmux/sessions.ts';
import type { CommandContext } from './commands/command.ts';
import type { WantedSession } from './commands/new.ts';

interface StartPlace {
  readonly directory: string;
  readonly branch: string | undefined;
  /** The session waits for this file; undefined if nothing must be done before. */
  readonly startsAfter: string | undefined;
  /** Nothing removes the worktree while the session is being started. */
  during<T>(start: () => Promise<T>): Promise<T>;
  /** Runs the set-up. Never rejects: the session starts anyway. */
  begin(thread: ThreadRecord): Promise<void>;
}

/** The directory without a worktree: what was started in a worktree may start in another one. */
export function outsideWorktrees({ host, directory, before }: WantedSession, { worktrees }: CommandContext): string {
  if (!worktrees.isInside({ host, directory })) return directory;
  const origin = worktrees.originOf({ host, directory }).directory;
  return origin === directory && before !== undefined ? startOf(before).directory : origin;
}

export async function takePlace(
  wanted: WantedSession & { readonly settings: SessionSettings },
  context: CommandContext,
): Promise<StartPlace> {
  const { name, host, directory, project, settings } = wanted;
  const plain: StartPlace = {
    directory,
    branch: undefined,
    startsAfter: undefined,
    during: (start) => start(),
    begin: async () => {},
  };
  if (!settings.worktree) return plain;
  const running = (await listSessions(context.hosts.tmux(host))).find((one) => one.name === name);
  if (running !== undefined && !running.pane.dead) return plain; // it is said, and gets no worktree
  const worktree = await context.worktrees.prepare({
    host,
    directory,
    project,
    session: name,
    byAgent: wanted.request !== undefined,
  });
  const setup = worktree.needsSetup ? project?.worktreeSetup : undefined;
  return {
    directory: worktree.start,
    branch: worktree.branch,
    startsAfter: setup === undefined ? undefined : worktree.record,
    during: (start) => start().finally(worktree.release),
    async begin(thread) {
      worktree.usedBy(thread.thread, setup !== undefined);
      if (setup !== undefined) await runSetup({ worktree, host, setup, thread }, context);
      if (worktree.needsSetup) await worktree.ready().catch(failed);
    },
  };

  function failed(error: Error): void {
    context.log.warn('a worktree', { session: name, because: error.message });
  }
}

const EDIT_MS = 2_000;
const LONGEST_MS = 14 * 60_000;
/** Only the end is shown. */
const KEPT = 20_000;

interface Setup {
  readonly worktree: PreparedWorktree;
  readonly host: string;
  readonly setup: string;
  readonly thread: ThreadRecord;
}

async function runSetup(
  { worktree, host, setup, thread: { thread, server } }: Setup,
  context: CommandContext,
): Promise<void> {
  const rest = context.threads.connections.named(server)?.rest;
  const told = (error: Error) => context.log.info('the set-up of a worktree', { because: error.message });
  const head = `🌿 ${untrustedCode(setup, 200)} in the new worktree`;
  let output = '';
  const show = (end: string) =>
    cutMessage(`${head}${end}\n${output.trim() === '' ? '' : screenBlock(shown(output))}`, 2_000);
  const message = await context
    .postNotice(thread, ['set-up', worktree.path, Date.now()], { content: show(' …'), silent: true })
    .catch(told);
  const run = context.hosts.get(host).start(WORKTREE_SETUP, [worktree.start, setup]);
  const limit = setTimeout(run.stop, LONGEST_MS);
  run.stdout.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-KEPT);
  });
  let edited = Promise.resolve();
  let before = '';
  const edit = async (content: string) => {
    if (rest === undefined || typeof message !== 'string' || content === before) return;
    before = content;
    await editMessage(rest, thread, message, { content }).catch(told);
  };
  const timer = setInterval(() => {
    // The session counts as starting until the set-up has run.
    context.threads.registry.change(thread, { at: Date.now() });
    edited = edited.then(() => edit(show(' …')));
  }, EDIT_MS);
  const why = await run.ended;
  clearInterval(timer);
  clearTimeout(limit);
  await edited;
  const code = /\0exit (\d{1,3})\n$/.exec(output)?.[1];
  const result =
    code === '0'
      ? ': done, exit code 0.'
      : code === undefined
        ? `: ⚠️ not completed, because ${untrustedReason(new Error(why))}. The session starts anyway.`
        : `: ⚠️ failed with exit code ${code}. The session starts anyway.`;
  await edit(show(result));
  context.threads.registry.change(thread, { at: Date.now() });
}

/** Without our last line, and without what moves the cursor or sets colours. */
function shown(output: string): string {
  return stripVTControlCharacters(output.replace(/\0exit \d{1,3}\n$/, ''))
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n');
}
