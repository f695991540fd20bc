// Notes the branch of a session on this machine whenever the session becomes idle: what its agent did may have changed it. On other hosts,
// the agent's reports tell it. Another process reads it, because a file system that does not answer would stop this one.

import { createConcurrencyLimit, createNextRun } from '../core/keyed-queue.ts';
import { repositoryAt } from '../hosts/repository.ts';
import type { Shared } from './shared-services.ts';
import type { SessionStates } from './watch-panes.ts';

/** Each of them starts a few processes of git. */
const AT_ONCE = 4;

export function noteBranches(
  { hosts, threads: { registry }, log }: Pick<Shared, 'hosts' | 'threads' | 'log'>,
  { onState }: Pick<SessionStates, 'onState'>,
): void {
  const atOnce = createConcurrencyLimit(AT_ONCE);
  const nextRun = createNextRun<void>();

  async function note(thread: string): Promise<void> {
    const { host = '', cwd = '' } = registry.get(thread) ?? {};
    const found = await repositoryAt(hosts.get(host), cwd);
    const now = registry.get(thread);
    if (found === undefined || now?.cwd !== cwd) return;
    const { branch, isWorktree } = found;
    if (now.told?.branch === branch && now.told.isWorktree === isWorktree) return;
    registry.change(thread, { told: { ...now.told, branch, isWorktree } });
  }

  onState((thread, { state }) => {
    const record = registry.get(thread);
    if (state !== 'idle' || record === undefined || !hosts.isLocal(record.host)) return;
    nextRun(thread, () => atOnce(() => note(thread))).catch((error: Error) =>
      log.info('reading the branch', { because: error.message }),
    );
  });
}
