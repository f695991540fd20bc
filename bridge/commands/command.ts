// What every command receives and returns. It runs in the same way as a "!" message and as a slash command.

import type { ConfiguredAgent } from '../../agents/configured-agent.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { Variables } from '../../core/session-environment.ts';
import type { MessageDraft } from '../../discord/messages.ts';
import type { ThreadRef } from '../../discord/threads.ts';
import type { AllowedHostDirectories } from '../../streams/allowed-host-directories.ts';
import type { AgentStatus } from '../../threads/agent-status.ts';
import type { ServerParts } from '../bridge-options.ts';
import type { DeclaredSessions } from '../declared/declared-parts.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import type { AcceptedMessage } from '../inbox.ts';
import type { Retry } from '../retry-message.ts';
import type { Scheduled } from '../scheduled.ts';
import type { HowShown, ShownScreens } from '../shown-screens.ts';
import type { SlashMessages } from '../slash-messages.ts';
import type { StreamThreads } from '../stream-threads.ts';
import type { UsageLimits } from '../usage-limits.ts';
import type { ProgramPlace } from './launch-agent.ts';

export interface CommandContext extends ServerParts {
  readonly statusOf: AgentStatus;
  readonly dialogs: Dialogs;
  readonly declared: DeclaredSessions;
  readonly program: ProgramPlace;
  /** What sessions of this agent on this machine get of our own environment. */
  readonly environmentOf: (agent: ConfiguredAgent) => Variables;
  readonly streams: StreamThreads;
  readonly directories: AllowedHostDirectories;
  /** One queue per thread: keys are pressed in the order of their commands. */
  readonly pressing: KeyedQueue;
  readonly shownScreens: ShownScreens;
  /** Stores a message that the bot posted for a user. */
  readonly store: (message: AcceptedMessage) => void;
  /** Takes a message that the bot posted for a user, like one that was written. */
  readonly accept: (message: AcceptedMessage, thread: ThreadRef) => void;
  readonly slash: SlashMessages;
  readonly scheduled: Scheduled;
  readonly limits: UsageLimits;
  /** Types a failed message again. */
  readonly retry: Retry;
}

export interface CommandCall {
  /** The id of the message or interaction; newer commands have larger ids. */
  readonly id: string;
  /** The thread it was given in; undefined in the channel itself. */
  readonly thread: ThreadRef | undefined;
  /** The channel or thread it was given in. */
  readonly channel: string;
  readonly rest: string;
  /** Of a button: the print of the session that it was shown for. */
  readonly session?: string | undefined;
  /** The message that it replies to. */
  readonly repliedTo?: string | undefined;
  /** The name and the id of the user who gave it. */
  readonly by: string;
  readonly byId: string;
  /** When it was written (`performance.now`); undefined if it was missed. See `isFresh`. */
  readonly liveAt: number | undefined;
}

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly about: string;
  run(order: CommandCall, context: CommandContext): Promise<CommandReply>;
}

export interface CommandReply extends MessageDraft {
  /**
   * Runs after the reply was shown in this channel, because posting would reopen an archived thread. `message`: the reply, which was posted,
   * or an older message that shows it now.
   */
  readonly after?: (said: string, message: string | undefined, how?: HowShown) => Promise<void>;
}

export const replyWith = (content: string): CommandReply => ({ content });
