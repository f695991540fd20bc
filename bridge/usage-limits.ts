// Usage limits in the bridge: messages wait for the reset, "continue" is sent once, and the dialog that the agent opens is
// answered with "Stop and wait". The registry keeps the limit, so a restart changes nothing.

import { driverOf } from '../agents/list.ts';
import type { AgentDialog } from '../agents/screen.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import { untrustedText } from '../core/untrusted-text.ts';
import { fullTime, localZone } from '../core/zoned-time.ts';
import { freeAt, isHeld, mayContinue } from '../threads/limit-record.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { ServerParts } from './bridge-options.ts';
import type { Scheduled } from './scheduled.ts';

export interface UsageLimits {
  /** Why messages of this thread wait; undefined if they do not. */
  waitsBecause(thread: string): string | undefined;
  /** A user wrote this message in the thread. */
  wrote(thread: string, message: string): void;
  /** What replaces the button; undefined if there is nothing to cancel. */
  cancel(thread: string, letter: string, by: string): string | undefined;
  /** The option that is chosen without asking a person. */
  ownChoice(thread: string, dialog: AgentDialog): number | undefined;
  /** Continues with the limits that an earlier process left. */
  takeUp(): void;
}

interface UsageLimitsParts extends ServerParts {
  readonly scheduled: () => Scheduled;
  /** The dialog may have been open before the limit was reported. */
  readonly lookAtDialog: (thread: string) => void;
}

export function createUsageLimits(parts: UsageLimitsParts): UsageLimits {
  const { registry } = parts.threads;
  const limitOf = (thread: string) => registry.get(thread)?.limit;

  function reached({ thread, server, host, project, cwd, limit }: ThreadRecord): void {
    if (server !== parts.server.name || limit?.state !== 'held') return;
    parts.lookAtDialog(thread);
    const { onLimit } = parts.threads.destinationOf({ host, directory: project || cwd })?.project ?? {};
    const [authorId = ''] = parts.server.allow;
    if (onLimit !== 'continue' || !mayContinue(limit)) return;
    parts.scheduled().add({
      origin: `limit ${limit.letter}`,
      limit: limit.letter,
      thread,
      authorId,
      author: 'threadmux',
      text: 'continue',
      rule: { kind: 'once', at: freeAt(limit) },
      due: freeAt(limit),
    });
  }

  registry.onChange((now, before) => {
    if (now.limit !== undefined && now.limit.letter !== before?.limit?.letter) reached(now);
  });

  return {
    waitsBecause(thread) {
      const { limit, closed } = registry.get(thread) ?? {};
      // An ended session is said at once, or started.
      if (closed || !isHeld(limit, Date.now())) return undefined;
      return `A usage limit is reached. It resets on ${fullTime(limit.resetsAt, localZone())}.`;
    },
    wrote(thread, message) {
      const limit = limitOf(thread);
      if (limit?.state !== 'held' || limit.wrote || snowflakeTime(message) < limit.at) return;
      registry.change(thread, { limit: { ...limit, wrote: true } });
    },
    cancel(thread, letter, by) {
      const limit = limitOf(thread);
      if (limit?.letter !== letter || limit.state !== 'held') return undefined;
      registry.change(thread, { limit: { ...limit, state: 'cancelled' } });
      return `⏳ Cancelled by ${untrustedText(by, 60)}: messages do not wait for the reset any more.`;
    },
    ownChoice(thread, dialog) {
      if (!isHeld(limitOf(thread), Date.now())) return undefined;
      return driverOf(registry.get(thread)?.agent ?? '').limitChoice?.(dialog);
    },
    takeUp() {
      for (const record of registry.all()) if (!record.closed) reached(record);
    },
  };
}
