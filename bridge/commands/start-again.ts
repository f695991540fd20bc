// The buttons under the message that a session has ended: start it again where it was, or continue its conversation. They
// work as long as the registry knows the session, also after a restart.

import { parseSessionName } from '../../core/session-name.ts';
import { untrustedCode, untrustedHint, untrustedText } from '../../core/untrusted-text.ts';
import { followUp, followUpPrivately, type Interaction, takeTap } from '../../discord/interactions.ts';
import { isConversation, startOf } from '../../threads/remembered-session.ts';
import type { CommandCall, CommandContext } from './command.ts';
import { beginSession } from './new.ts';

interface StartTap {
  /** The thread of the session. */
  readonly thread: string;
  readonly conversation: string | undefined;
}

export async function startAgain(
  tap: StartTap,
  interaction: Interaction,
  order: CommandCall,
  context: CommandContext,
): Promise<void> {
  const { rest, threads } = context;
  // A tap cannot be answered in an archived thread.
  if (order.thread?.archived) await threads.reopen(order.thread.id).catch(() => {}); // the tap's answer fails with a reason
  if (!(await takeTap(rest, interaction))) return;
  const reply = await begin(tap, order, context);
  if (reply.isUp) {
    await followUp(rest, interaction, { content: reply.text, components: [] });
    return;
  }
  await followUpPrivately(rest, interaction, reply.text);
  if (order.thread !== undefined && threads.registry.get(order.thread.id)?.closed)
    await threads.archive(order.thread.id);
}

/** `text` replaces the message and its buttons if the session is up; otherwise only the user who tapped sees it. Never rejects. */
async function begin(
  { thread, conversation }: StartTap,
  order: CommandCall,
  context: CommandContext,
): Promise<{ readonly isUp: boolean; readonly text: string }> {
  const before = context.threads.registry.get(thread);
  if (before?.server !== context.server.name || (conversation !== undefined && !isConversation(conversation)))
    return { isUp: false, text: 'This session is no longer known. `!new <name>` in the channel starts a new one.' };
  try {
    const { directory, command } = startOf(before);
    const name = parseSessionName(before.sessionName);
    const { begun } = await beginSession(
      {
        name,
        host: before.host,
        before,
        conversation,
        // A conversation is found only in the directory of its project.
        directory: conversation === undefined ? directory : before.project || directory,
        command: command.length > 0 ? command : undefined,
      },
      context,
    );
    if (begun.is === 'there') return { isUp: false, text: `${untrustedCode(name)} already runs${begun.link}` };
    const what = conversation === undefined ? 'Started again' : 'Continued';
    const link = order.thread?.id === begun.thread ? '.' : `: <#${begun.thread}>`;
    return { isUp: true, text: `⏹️ Ended. ▶️ ${what} by ${untrustedText(order.by)}${link}` };
  } catch (error) {
    context.log.info('starting a session again', { because: (error as Error).message });
    return { isUp: false, text: `⚠️ ${untrustedHint(error)}` };
  }
}
