// Why a message that has waited is not typed any more: the configuration has changed since it was accepted.

import type { Config, ServerConfig } from '../core/config.ts';
import type { AttemptOutcome } from './delivery-attempt.ts';
import type { AcceptedMessage } from './inbox.ts';
import { NO_LONGER_LISTED, refusalReason } from './route.ts';
import { isRestricted } from './slash-decision.ts';
import type { TypedText } from './typed-text.ts';

const RESTRICTED = 'Its command is not in "slashCommands" of the configuration, which has changed meanwhile.';

/** Undefined if it may be typed. */
export function refusedMeanwhile(
  { authorId, text }: Pick<AcceptedMessage, 'authorId' | 'text'>,
  { kind }: Pick<TypedText, 'kind'>,
  { server, config }: { readonly server: ServerConfig; readonly config: Pick<Config, 'slashCommands'> },
): AttemptOutcome | undefined {
  const stranger = refusalReason({ userId: authorId, isBot: false, isWebhook: false }, server);
  if (stranger !== undefined) return { kind: 'failed', because: NO_LONGER_LISTED, screen: undefined };
  if (kind !== 'slash' || !isRestricted(text, config.slashCommands)) return undefined;
  return { kind: 'failed', because: RESTRICTED, screen: undefined };
}
