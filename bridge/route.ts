// Decides what one message means. Pure: it looks at the message and never acts.

import { cleanInbound } from '../core/clean-input.ts';
import type { ServerConfig } from '../core/config.ts';

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

// Who may speak. The one function that every way in asks: messages, taps, modals, slash commands, autocomplete and what
// was missed while we were away.

interface Speaker {
  readonly userId: string;
  readonly isBot: boolean;
  readonly isWebhook: boolean;
}

type RefusedSpeaker = 'bot' | 'webhook' | 'not listed';

/** Undefined: may speak. By user id alone; names and roles can be given to anybody. */
export function refusalReason(speaker: Speaker, server: Pick<ServerConfig, 'allow'>): RefusedSpeaker | undefined {
  if (speaker.isWebhook) return 'webhook';
  if (speaker.isBot) return 'bot';
  return server.allow.includes(speaker.userId) ? undefined : 'not listed';
}
