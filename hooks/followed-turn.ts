// A running turn, with all that is needed to follow it: how it is read, where its texts are posted, and what the screen shows.

import { statSync } from 'node:fs';
import type { AgentDriver } from '../agents/driver.ts';
import { driverOf } from '../agents/list.ts';
import { newest } from '../core/snowflake.ts';
import type { Rest } from '../discord/rest.ts';
import type { Host } from '../hosts/host.ts';
import { screenOf } from '../threads/read-pane.ts';
import type { SessionPane } from '../threads/session-threads.ts';
import { lookAtPane } from '../tmux/look.ts';
import { tmuxOn } from '../tmux/tmux.ts';
import type { CourierContext } from './courier-context.ts';
import { postTexts } from './post-texts.ts';
import type { FollowedTurn } from './progress.ts';
import type { TurnRecord } from './progress-message.ts';

/** `session` is looked up if it is not known: an earlier process has begun to follow the turn. */
export function followedTurn(
  key: string,
  record: TurnRecord,
  context: CourierContext,
  rest: Rest,
  session?: SessionPane,
): FollowedTurn {
  const { registry } = context.threads;
  const driver = driverOf(record.agent);
  const find = async () => session ?? (await context.sessionOf(record.tmux, record.pane));
  return {
    key,
    record,
    rest,
    ...source(key, record, driver, context),
    async say(texts) {
      const known = texts.length === 0 ? undefined : await find();
      const thread = registry.get(record.thread);
      if (known === undefined || thread === undefined || thread.deleted || thread.closed) return; // makes no new thread
      await postTexts({ ...record, context, session: known, thread }, texts);
    },
    lastPosted: () => newest('0', ...(registry.get(record.thread)?.posted ?? []).flatMap(({ messages }) => messages)),
    isAsking: () => context.prompts.inThread(record.thread).length > 0,
    async look() {
      const known = await find();
      return known === undefined ? 'idle' : lookAtAgent(context.host, known, driver);
    },
  };
}

/** From the agent's transcript, or from what it has reported. */
function source(
  key: string,
  { transcript, promptId }: TurnRecord,
  { turns }: AgentDriver,
  { hosts, host, files, reported }: CourierContext,
): Pick<FollowedTurn, 'read' | 'version'> {
  if (turns === undefined || transcript === '')
    return { read: async () => reported.of(key), version: () => reported.version(key) };
  const isLocal = hosts.isLocal(host.name);
  return {
    read: () => turns.read(transcript, { promptId, ...(isLocal ? {} : { files }) }),
    version: () => (isLocal ? sizeOf(transcript) : undefined),
  };
}

/** A transcript only grows, so its size shows a change. It is polled, because the system may not have enough file watches. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0; // the file does not exist yet
  }
}

/** What the agent does in a pane, read from its screen: not every agent reports a turn that was interrupted. */
async function lookAtAgent(host: Host, session: SessionPane, driver: AgentDriver): Promise<'idle' | 'dialog' | 'busy'> {
  const pane = await lookAtPane(tmuxOn(host, session.socket), session);
  if (pane.kind === 'gone' || pane.panePid !== session.panePid) return 'idle';
  const screen = screenOf(pane, session, driver);
  if (screen.kind === 'dialog') return 'dialog';
  return (screen.kind === 'empty' || screen.kind === 'draft') && !screen.busy ? 'idle' : 'busy';
}
