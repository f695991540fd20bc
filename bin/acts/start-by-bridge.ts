// Starts a session through the bridge, which also makes its worktree and its thread.

import { newRequestId, type RequestDone } from '../../bridge/program-requests.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import { findTarget, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { askBridge } from './ask-bridge.ts';

interface BridgeStart {
  readonly session: string;
  readonly host: string;
  readonly directory: string | undefined;
  readonly settings: SessionSettings;
  readonly continues: boolean;
  /** An agent asked for it. */
  readonly byAgent: boolean;
}

export async function startByBridge(
  reach: SessionFinder,
  { session: name, directory, ...start }: BridgeStart,
): Promise<{ readonly done: RequestDone; readonly target: SessionTarget }> {
  const done = await askBridge(reach.home, {
    id: newRequestId(),
    asker: process.pid,
    what: 'start',
    name,
    ...start,
    ...(directory === undefined ? {} : { directory }),
  });
  return { done, target: await findTarget(reach, name, start.host) };
}
