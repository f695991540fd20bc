// The last reply of a session's agent, from its transcript.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../../agents/list.ts';
import { textsOf } from '../../agents/turn.ts';
import { hostFiles } from '../../hosts/host-files.ts';
import { recordNow, type SessionFinder, type SessionTarget } from '../find-session.ts';

export interface LastReply {
  readonly text: string;
  /** The agent has ended its turn. */
  readonly finished: boolean;
  readonly at: number | undefined;
}

const LOOK_MS = 50;

/** Undefined if it has said nothing yet, runs without our hooks, or has no transcript that we read. `settleMs`: how long the transcript may lag behind. */
export async function lastReply(
  target: SessionTarget,
  { home, hosts }: SessionFinder,
  settleMs = 0,
): Promise<LastReply | undefined> {
  const record = recordNow(home, target);
  const path = record?.transcript ?? '';
  const { turns } = driverOf(record?.agent ?? '');
  if (path === '' || turns === undefined) return undefined;
  const files = hosts.isLocal(target.host) ? undefined : hostFiles(hosts.get(target.host));
  for (const deadline = Date.now() + settleMs; ; await sleep(LOOK_MS)) {
    const turn = await turns.read(path, { files });
    const isWritten = turn !== undefined && turn.state !== 'running';
    if (!isWritten && Date.now() < deadline) continue;
    const finished = isWritten || record?.state === 'idle';
    const last = textsOf(turn).at(-1);
    if (last === undefined) return undefined;
    return { text: last.text, finished, at: last.writtenAt === 0 ? undefined : last.writtenAt };
  }
}
