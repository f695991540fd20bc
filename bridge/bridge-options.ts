// What the bridge is started with, and what all of its servers share.

import type { ConfigEnvironment, ServerConfig } from '../core/config.ts';
import type { ThreadmuxError } from '../core/errors.ts';
import type { Shared } from '../threads/shared-services.ts';
import type { SessionStates } from '../threads/watch-panes.ts';
import type { ProgramPlace } from './commands/launch-agent.ts';
import type { Waits } from './delivery-waits.ts';

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
