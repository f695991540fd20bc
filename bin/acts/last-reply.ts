// The last reply of a session's agent, from its transcript or its reports.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../../agents/list.ts';
import { textsOf } from '../../agents/turn.ts';
import type { FileSource } from '../../home/file-source.ts';
import type { Home } from '../../home/home.ts';
import { hostFiles } from '../../hosts/host-files.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { loadReportedReply, type ReportedReply } from '../../threads/reported-reply.ts';
import { recordNow, type SessionFinder, type SessionTarget } from '../find-session.ts';

interface LastReply {
  readonly text: string;
  /** The agent has ended its turn. */
  readonly finished: boolean;
  readonly at: number | undefined;
}

const LOOK_MS = 50;

/** Undefined if it has said nothing yet, or runs without our hooks. `settleMs`: how long the transcript or the last report may lag behind. */
export async function lastReply(
  target: SessionTarget,
  { home, hosts }: SessionFinder,
  settleMs = 0,
): Promise<LastReply | undefined> {
  const record = recordNow(home, target);
  if (record === undefined || record.claudeSession === '') return undefined;
  const files = hosts.isLocal(target.host) ? undefined : hostFiles(hosts.get(target.host));
  for (const deadline = Date.now() + settleMs; ; await sleep(LOOK_MS)) {
    const last = await readLast(record, home, files);
    if (last?.ended !== true && Date.now() < deadline) continue;
    if (last === undefined || last.text === '') return undefined;
    return {
      text: last.text,
      finished: last.ended || record.state === 'idle',
      at: last.at === 0 ? undefined : last.at,
    };
  }
}

/** Without a text if the turn has none yet. */
async function readLast(
  { agent, transcript, thread }: ThreadRecord,
  home: Home,
  files: FileSource | undefined,
): Promise<ReportedReply | undefined> {
  const { turns } = driverOf(agent);
  if (turns === undefined) return loadReportedReply(home, thread);
  const turn = transcript === '' ? undefined : await turns.read(transcript, { files });
  const { text = '', writtenAt = 0 } = textsOf(turn).at(-1) ?? {};
  return turn && { text, at: writtenAt, ended: turn.state !== 'running' };
}
