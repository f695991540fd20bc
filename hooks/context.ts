// What the courier works with. Every handler gets the same context; nothing is global.

import { basename } from 'node:path';
import { footer, parseStatus } from '../claude/status.ts';
import { createInTurn, type InTurn } from '../core/in-turn.ts';
import { plain } from '../core/outside-words.ts';
import { loadStatus } from '../home/status-file.ts';
import type { Host } from '../hosts/host.ts';
import type { Shared } from '../threads/shared.ts';
import type { SessionPane } from '../threads/threads.ts';
import { createProgress, type Progress } from './progress.ts';
import { openShown, type Shown } from './shown.ts';

export interface CourierContext extends Shared {
  /** This machine. */
  readonly host: Host;
  readonly shown: Shown;
  readonly progress: Progress;
  /** One letter at a time into each thread: the parts of two replies must not mix. */
  readonly inTurn: InTurn;
  header(session: SessionPane, cwd: string): string;
  footer(claudeSession: string): string;
}

export function openCourierContext(shared: Shared): CourierContext {
  const { home, config, log, hosts } = shared;
  return {
    ...shared,
    host: hosts.get(config.host),
    shown: openShown(home),
    progress: createProgress({ home, log }),
    inTurn: createInTurn(),
    header: (session, cwd) =>
      [session.host, plain(basename(cwd)), plain(session.group ?? session.sessionName)].join(' · '),
    footer(claudeSession) {
      const status = parseStatus(loadStatus(home, claudeSession));
      return status === undefined
        ? ''
        : footer(status, (seconds) => `<t:${Math.round(seconds)}:R>`);
    },
  };
}
