// The first message of a session that a user has started with one: the bot posts it in the thread, for the user, and it is typed and
// marked like one that the user wrote.

import type { CommandCall, CommandContext } from './commands/command.ts';

const LONGEST_SHOWN = 1_900;

export async function sendFirstMessage(
  text: string,
  thread: string,
  { id, by = '', byId = '' }: Pick<CommandCall, 'id' | 'by' | 'byId'>,
  tools: Pick<CommandContext, 'say' | 'known' | 'accept'>,
): Promise<void> {
  const content = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
  const message = await tools.say(thread, [id, 'prompt'], { content, silent: true });
  const ref = await tools.known.find(thread);
  if (message === undefined || ref === undefined) return;
  tools.accept({ id: message, channelId: thread, authorId: byId, author: by, text, attachments: [] }, ref);
}
