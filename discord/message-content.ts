// Without the message content intent Discord delivers messages with nothing in them and no error.
// These tell that silence from a person who wrote nothing.

import { type DiscordMessage, isWritten } from './payloads.ts';

const MAY_READ = (1 << 18) | (1 << 19);

export const CONTENT_HINT =
  'Turn on "Message Content Intent" in the Discord developer portal (Bot, Privileged Gateway Intents) and restart threadmux.';

/** From READY: whether the intent is switched on for the application at all. */
export function mayReadContent(applicationFlags: number): boolean {
  return (applicationFlags & MAY_READ) !== 0;
}

/** A person's message cannot be wholly empty, so this one was emptied on its way. */
export function looksEmptied(message: DiscordMessage): boolean {
  const parts = [
    message.attachments,
    message.embeds,
    message.components,
    message.sticker_items,
    message.message_snapshots,
  ];
  return (
    isWritten(message) &&
    !message.author.bot &&
    message.content === '' &&
    message.poll === undefined &&
    parts.every((part) => part.length === 0)
  );
}
