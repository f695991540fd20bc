// The threads in which a message was refused because their agent has exited: what is written there later is meant for the shell. The notice
// of the exit alone does not count, because somebody may be writing to the agent. Not stored, so that it is said again after a restart.

import type { Registry, ThreadRecord } from '../threads/registry.ts';
import { isShellStart } from '../threads/remembered-session.ts';
import type { PaneState } from './decide-typing.ts';

interface ToldExits {
  /** This was said now. */
  told(thread: string, outcome: { readonly kind: string; readonly isExit?: boolean | undefined }): void;
  /** For a message that came at `liveAt`. What the agent reports later makes it unknown again. */
  after(record: Pick<ThreadRecord, 'thread' | 'at' | 'started'>, liveAt: number | undefined): PaneState['afterExit'];
}

export function createToldExits(registry: Pick<Registry, 'get'>): ToldExits {
  const exits = new Map<string, { readonly reportedAt: number; readonly since: number }>();
  return {
    told(thread, { isExit }) {
      const { at: reportedAt } = registry.get(thread) ?? {};
      if (isExit && reportedAt !== undefined) exits.set(thread, { reportedAt, since: performance.now() });
    },
    after({ thread, at, started }, liveAt = 0) {
      if (!isShellStart(started)) return 'never';
      const exit = exits.get(thread);
      return exit?.reportedAt === at && liveAt > exit.since ? 'known' : 'unknown';
    },
  };
}
