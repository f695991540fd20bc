// Search: the newest messages whose text holds the words, in one place or everywhere.

import * as z from 'zod';
import { MISSING_ACCESS, UNKNOWN_GUILD } from '../discord/error-codes.ts';
import { readForm, snowflake, text } from './form.ts';
import { type Answer, refuse } from './refusal.ts';
import type { Call, Route } from './router.ts';
import { compareIds } from './snowflake.ts';
import { wireMessage } from './wire-message.ts';

export const searchRoutes: readonly Route[] = [
  { method: 'GET', path: '/guilds/:guild/messages/search', who: 'both', run: search },
];

const searchSchema = z.object({
  content: text(1, 1024),
  channel_id: snowflake.optional(),
  limit: z.coerce.number().int().min(1).max(25).default(25),
  offset: z.coerce.number().int().min(0).max(9975).default(0),
});

function search({ world, viewer, query, param }: Call): Answer {
  if (param('guild') !== world.identity.guildId) refuse(UNKNOWN_GUILD);
  // The bot finds only what it may read.
  if (!viewer.seesContent && viewer.actor === 'bot') refuse(MISSING_ACCESS);
  const { content, channel_id: channel, limit, offset } = readForm(searchSchema, query);
  const words = content.toLowerCase().split(/\s+/).filter(Boolean);
  const logs =
    channel === undefined
      ? [...world.state.messages.values()]
      : [world.state.messages.get(channel) ?? []];
  const found = logs
    .flatMap((log) =>
      log.filter((message) => {
        const said = message.content.toLowerCase();
        return words.every((word) => said.includes(word));
      }),
    )
    .sort((a, b) => compareIds(b.id, a.id));
  return {
    status: 200,
    body: {
      doing_deep_historical_index: false,
      total_results: found.length,
      messages: found
        .slice(offset, offset + limit)
        .map((message) => [wireMessage(world, message, viewer)]),
    },
  };
}
