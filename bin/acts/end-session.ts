// Ends a session. A declared one is marked first: the bridge would start it again.

import { declaresName } from '../../core/project.ts';
import { putEndMark, removeEndMark } from '../../home/ended-on-purpose.ts';
import { killSession } from '../../tmux/sessions.ts';
import type { SessionFinder, SessionTarget } from '../find-session.ts';

export async function endSession(
  { host, tmux, session }: SessionTarget,
  { home, config }: SessionFinder,
): Promise<void> {
  const ended = { host, name: session.group ?? session.name };
  if (declaresName(config, ended.name))
    putEndMark(home, ended, { serverPid: session.serverPid, sessionId: session.id });
  await killSession(tmux, session).catch((error: unknown) => {
    removeEndMark(home, ended);
    throw error;
  });
}
