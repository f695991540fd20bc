// Who may speak. The one function that every way in asks: messages, taps, modals, slash commands,
// autocomplete and what was missed while we were away.

import type { ServerConfig } from '../core/config.ts';

interface Speaker {
  readonly userId: string;
  readonly isBot: boolean;
  readonly isWebhook: boolean;
}

export type RefusedSpeaker = 'bot' | 'webhook' | 'not listed';

/** Undefined: may speak. By user id alone; names and roles can be given to anybody. */
export function refusalReason(speaker: Speaker, server: Pick<ServerConfig, 'allow'>): RefusedSpeaker | undefined {
  if (speaker.isWebhook) return 'webhook';
  if (speaker.isBot) return 'bot';
  return server.allow.includes(speaker.userId) ? undefined : 'not listed';
}
