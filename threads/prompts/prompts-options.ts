// What the prompts of a process need.

import type { Log } from '../../core/log.ts';
import type { Home } from '../../home/home.ts';
import type { HostList } from '../../tmux/host-list.ts';
import type { RemoteHosts } from '../remote-hosts.ts';
import type { SessionLookup } from '../session-lookup.ts';
import type { Threads } from '../session-threads.ts';
import type { PromptWatch } from './watch-prompt.ts';

export interface PromptsOptions {
  readonly home: Home;
  readonly threads: Threads;
  readonly log: Log;
  readonly sessionOf: SessionLookup;
  readonly hosts: HostList;
  readonly remote: RemoteHosts;
  readonly watch: PromptWatch;
  /** How long the dialog may stay in the terminal after its hook has left. */
  readonly checkAfterMs?: number;
  readonly sweepMs?: number;
}
