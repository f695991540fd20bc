// Threads nobody has written in for as long as they were set to are archived, as on Discord.

import { tryBestEffort } from '../home/whole-file.ts';
import { changeThread } from './posting.ts';
import { idTime } from './storage/new-snowflake.ts';
import type { StoredThread, WorkspaceState } from './storage/store.ts';
import type { WorkspaceContext } from './workspace-context.ts';

const LOOK_EVERY_MS = 60_000;

/** Returns the function that stops it. */
export function archiveIdleThreads(world: WorkspaceContext): () => void {
  const timer = setInterval(() => {
    tryBestEffort('the journal of the workspace', () => {
      for (const thread of idleThreads(world.state, Date.now())) changeThread(world, thread, { archived: true });
    });
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

export function idleThreads(state: WorkspaceState, now: number): StoredThread[] {
  return [...state.threads.values()].filter((thread) => {
    const lastMessage = state.lastMessage.get(thread.id);
    const said = lastMessage === undefined ? 0 : idTime(lastMessage);
    const activeAt = Math.max(said, Date.parse(thread.archive_timestamp));
    return !thread.archived && now - activeAt > thread.auto_archive_duration * 60_000;
  });
}
