// Decides whether a message is ignored, a command, or typed, and who may write. Pure.

import type { ServerConfig } from '../core/config.ts';
import { cleanInbound } from '../core/untrusted-text.ts';

export interface Incoming {
  readonly authorId: string;
  readonly fromBot: boolean;
  readonly fromWebhook: boolean;
  /** A normal message or a reply, not a system message. */
  readonly written: boolean;
  readonly text: string;
  readonly attachments: number;
}

/** Where it was written: one of our threads, a channel of the configuration, or anywhere else. */
export type RouteContext = 'thread' | 'channel' | 'elsewhere';

type RouteDecision =
  | { readonly kind: 'ignore'; readonly because: RefusedSpeaker | 'elsewhere' | 'system' | 'empty' | 'talk' }
  | { readonly kind: 'forward'; readonly text: string }
  | { readonly kind: 'command'; readonly name: string; readonly rest: string };

/** What to do with a message that is not ignored. */
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
  // A message that starts with "!" is a command. It is never typed, because Claude Code would run it in a shell.
  if (text.startsWith('!')) {
    const [, name = '', rest = ''] = text.match(/^!(\S*)\s*(.*)$/s) ?? [];
    return { kind: 'command', name: name.toLowerCase(), rest: rest.trim() };
  }
  if (where === 'channel') return { kind: 'ignore', because: 'talk' };
  if (text === '' && message.attachments === 0) return { kind: 'ignore', because: 'empty' };
  return { kind: 'forward', text };
}

// Who may write: the only check, for messages (live or missed), taps, forms, slash commands and autocomplete.

interface Speaker {
  readonly userId: string;
  readonly isBot?: boolean;
  readonly isWebhook?: boolean;
}

type RefusedSpeaker = 'bot' | 'webhook' | 'not listed';

/** Undefined if allowed. Checks only the user id, because anybody can get a name or a role. */
export function refusalReason(speaker: Speaker, server: Pick<ServerConfig, 'allow'>): RefusedSpeaker | undefined {
  if (speaker.isWebhook) return 'webhook';
  if (speaker.isBot) return 'bot';
  return server.allow.includes(speaker.userId) ? undefined : 'not listed';
}
