// What the bridge is started with, what all of its servers share, and what the parts of one server share.

import type { ConfigEnvironment, ServerConfig } from '../core/config.ts';
import type { ThreadmuxError } from '../core/errors.ts';
import type { Rest } from '../discord/rest.ts';
import type { KnownThreads } from '../threads/connections.ts';
import type { Notices } from '../threads/notices.ts';
import type { Shared } from '../threads/shared-services.ts';
import type { SessionStates } from '../threads/watch-panes.ts';
import type { ProgramPlace } from './commands/launch-agent.ts';
import type { Waits } from './delivery-waits.ts';
import type { Inbox } from './inbox.ts';
import type { MessageNotices } from './message-notice.ts';
import type { Outcomes } from './outcomes.ts';
import type { StatusReactions } from './status-reactions.ts';

export interface BridgeOptions {
  readonly servers: readonly ServerConfig[];
  readonly env: ConfigEnvironment;
  readonly onFatal: (error: ThreadmuxError) => void;
  readonly program?: ProgramPlace;
  readonly settleMs?: number;
  readonly waits?: Partial<Waits>;
  readonly startsMs?: number;
  /** The pauses before a declared session that crashed starts again. */
  readonly startAgainMs?: readonly number[];
  readonly panelLastMs?: number;
}

export interface BridgeParts extends Shared {
  readonly states: SessionStates;
}

export interface ServerParts extends BridgeParts {
  readonly server: ServerConfig;
  readonly rest: Rest;
  readonly botId: string;
  readonly channels: readonly string[];
  /** The threads of this server. */
  readonly known: KnownThreads;
  readonly inbox: Inbox;
  readonly reactions: StatusReactions;
  readonly postNotice: Notices;
  readonly notices: MessageNotices;
  readonly outcomes: Outcomes;
  /** Aborted when the bridge stops. */
  readonly signal: AbortSignal;
}
