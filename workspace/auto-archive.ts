// Threads nobody has written in for as long as they were set to are archived, as on Discord.

import { attempt } from '../home/keep.ts';
import { changeThread } from './posting.ts';
import { timeOf } from './snowflake.ts';
import type { State, StoredThread } from './store.ts';
import type { World } from './world.ts';

const LOOK_EVERY_MS = 60_000;

/** Returns the function that stops it. */
export function archiveIdleThreads(world: World): () => void {
  const timer = setInterval(() => {
    attempt('the journal of the workspace', () => {
      for (const thread of idleThreads(world.state, Date.now()))
        changeThread(world, thread, { archived: true });
    });
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

export function idleThreads(state: State, now: number): StoredThread[] {
  return [...state.threads.values()].filter((thread) => {
    const lastMessage = state.lastMessage.get(thread.id);
    const said = lastMessage === undefined ? 0 : timeOf(lastMessage);
    const activeAt = Math.max(said, Date.parse(thread.archive_timestamp));
    return !thread.archived && now - activeAt > thread.auto_archive_duration * 60_000;
  });
}
