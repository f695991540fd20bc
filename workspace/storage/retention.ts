// Which messages and files are kept. Pure; README.md tells the limits.

import { compareSnowflakes } from './new-snowflake.ts';
import type { StoredMessage, WorkspaceState } from './store.ts';

export const KEPT = { perChannel: 20_000, altogether: 100_000 } as const;

interface Kept {
  readonly perChannel: number;
  readonly altogether: number;
}

/** The oldest messages, as many as there are too many after a post into the channel. */
export function beyondLimits(state: WorkspaceState, channel: string, kept: Kept = KEPT): StoredMessage[] {
  const log = state.messages.get(channel) ?? [];
  const excess = log.slice(0, Math.max(0, log.length - kept.perChannel));
  let total = -excess.length;
  for (const { length } of state.messages.values()) total += length;
  if (total <= kept.altogether) return excess;
  const oldest = [...state.messages.values()]
    .flatMap((all) => (all === log ? all.slice(excess.length) : all).slice(0, total - kept.altogether))
    .sort((a, b) => compareSnowflakes(a.id, b.id));
  return [...excess, ...oldest.slice(0, total - kept.altogether)];
}

/** The ids of all files that messages have. */
export function uploadsOf(state: WorkspaceState): Set<string> {
  const messages = [...state.messages.values()].flat();
  return new Set(messages.flatMap(({ attachments }) => attachments.map(({ id }) => id)));
}
