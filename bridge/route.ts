// Decides what one message means. Pure: it looks at the message and never acts.

import type { ServerConfig } from '../core/config.ts';
import { cleanInbound } from '../core/untrusted-text.ts';
import { type RefusedSpeaker, refusalReason } from './allow-list.ts';

export interface Incoming {
  readonly id: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly fromBot: boolean;
  readonly fromWebhook: boolean;
  /** A default message or a reply; not Discord telling about itself. */
  readonly written: boolean;
  readonly text: string;
  readonly attachments: number;
}

/** Where it was written: one of our threads, a channel of the configuration, or anywhere else. */
export type RouteContext = 'thread' | 'channel' | 'elsewhere';

type RouteDecision =
  | {
      readonly kind: 'ignore';
      readonly because: RefusedSpeaker | 'elsewhere' | 'system' | 'empty' | 'talk';
    }
  | { readonly kind: 'forward'; readonly text: string }
  | { readonly kind: 'command'; readonly name: string; readonly rest: string };

/** What is to be done about a message that is heard. */
export type RouteAction = Exclude<RouteDecision, { kind: 'ignore' }>;

export function route(message: Incoming, where: RouteContext, server: Pick<ServerConfig, 'allow'>): RouteDecision {
  if (where === 'elsewhere') return { kind: 'ignore', because: 'elsewhere' };
  if (!message.written) return { kind: 'ignore', because: 'system' };
  const stranger = refusalReason(
    { userId: message.authorId, isBot: message.fromBot, isWebhook: message.fromWebhook },
    server,
  );
  if (stranger !== undefined) return { kind: 'ignore', because: stranger };

  const text = cleanInbound(message.text).trim();
  // A message that begins with "!" is ours to answer. It is never typed: Claude Code would run it.
  if (text.startsWith('!')) {
    const [, name = '', rest = ''] = text.match(/^!(\S*)\s*(.*)$/s) ?? [];
    return { kind: 'command', name: name.toLowerCase(), rest: rest.trim() };
  }
  if (where === 'channel') return { kind: 'ignore', because: 'talk' };
  if (text === '' && message.attachments === 0) return { kind: 'ignore', because: 'empty' };
  return { kind: 'forward', text };
}
