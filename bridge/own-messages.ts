// Messages of the bot that are typed for a user: a scheduled message, a declared prompt, the first message of a form, a slash command.
// What they say is not always what is typed, so that is kept here, and Retry can type it again.

import * as z from 'zod';
import { readJson, writeBestEffort } from '../home/atomic-write.ts';
import type { CommandCall, CommandContext } from './commands/command.ts';
import type { AcceptedMessage, Inbox } from './inbox.ts';

const ownMessageSchema = z.object({
  id: z.string(),
  channelId: z.string(),
  authorId: z.string(),
  author: z.string(),
  text: z.string(),
});
type OwnMessage = Readonly<z.output<typeof ownMessageSchema>>;

export interface OwnMessages extends Pick<Inbox, 'put' | 'isOpen'> {
  /** Undefined if the bot did not post it for a user, or long ago. */
  find(id: string): OwnMessage | undefined;
}

const KEPT = 100;

export function openOwnMessages(path: string, inbox: Pick<Inbox, 'put' | 'isOpen'>): OwnMessages {
  let all = readJson(path, z.array(ownMessageSchema).readonly()) ?? [];
  return {
    find: (id) => all.find((one) => one.id === id),
    isOpen: inbox.isOpen,
    put(message: AcceptedMessage) {
      all = [...all.filter(({ id }) => id !== message.id), ownMessageSchema.parse(message)].slice(-KEPT);
      writeBestEffort(path, all);
      inbox.put(message);
    },
  };
}

const LONGEST_SHOWN = 1_900;

/** What is posted of a text that is typed as a whole. */
export function shownPart(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

/** The first message of a session that a user has started with one. */
export async function sendFirstMessage(
  text: string,
  thread: string,
  { id, by, byId }: CommandCall,
  context: CommandContext,
): Promise<void> {
  const message = await context.postNotice(thread, [id, 'prompt'], { content: shownPart(text), silent: true });
  const ref = await context.known.find(thread);
  if (message === undefined || ref === undefined) return;
  context.accept({ id: message, channelId: thread, authorId: byId, author: by, text, attachments: [] }, ref);
}
