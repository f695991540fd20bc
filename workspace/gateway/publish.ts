// The events for changed messages and threads, with the intent that each needs.

import { EPHEMERAL } from '../request-schemas.ts';
import type { StoredMessage, StoredThread } from '../storage/store.ts';
import { wireMember } from '../wire/guild.ts';
import { wireMessageEvent, wireThread, wireThreadMember } from '../wire/message.ts';
import { INTENT_BITS, type PanelData, type ThreadState, type WorkspaceContext } from '../workspace-context.ts';

export function publishMessage(
  context: WorkspaceContext,
  type: 'MESSAGE_CREATE' | 'MESSAGE_UPDATE',
  message: StoredMessage,
): void {
  context.publish({
    type,
    intent: INTENT_BITS.messages,
    ...((message.flags & EPHEMERAL) !== 0 && { only: 'person' as const }),
    dataFor: (viewer) => ({
      ...wireMessageEvent(context, message, viewer),
      ...(type === 'MESSAGE_CREATE' && message.nonce !== undefined && { nonce: message.nonce }),
    }),
  });
}

export function publishMessageGone(context: WorkspaceContext, message: StoredMessage): void {
  context.publish({
    type: 'MESSAGE_DELETE',
    intent: INTENT_BITS.messages,
    ...((message.flags & EPHEMERAL) !== 0 && { only: 'person' as const }),
    dataFor: () => ({ id: message.id, channel_id: message.channel_id, guild_id: context.identity.guildId }),
  });
}

export function publishThread(
  context: WorkspaceContext,
  type: 'THREAD_CREATE' | 'THREAD_UPDATE',
  thread: StoredThread,
): void {
  context.publish({
    type,
    intent: INTENT_BITS.guilds,
    dataFor: (viewer) => ({
      ...wireThread(context, thread, viewer),
      ...(type === 'THREAD_CREATE' && { newly_created: true }),
    }),
  });
}

export function publishThreadGone(context: WorkspaceContext, thread: StoredThread): void {
  context.publish({
    type: 'THREAD_DELETE',
    intent: INTENT_BITS.guilds,
    dataFor: () => ({ id: thread.id, guild_id: context.identity.guildId, parent_id: thread.parent_id, type: 11 }),
  });
}

export function publishMembers(
  context: WorkspaceContext,
  thread: StoredThread,
  change: { readonly added?: string; readonly removed?: string },
): void {
  const { identity } = context;
  const added = thread.members.filter(({ user }) => user === change.added);
  context.publish({
    type: 'THREAD_MEMBERS_UPDATE',
    intent: INTENT_BITS.guilds,
    dataFor: () => ({
      id: thread.id,
      guild_id: identity.guildId,
      member_count: thread.members.length,
      added_members: added.map((member) => ({
        ...wireThreadMember(thread, member),
        member: wireMember(identity, member.user),
        presence: null,
      })),
      removed_member_ids: change.removed === undefined ? [] : [change.removed],
    }),
  });
}

/** Not an event of Discord: only the page receives it. `now` corrects a browser whose clock is wrong. */
export const STATES_EVENT = 'THREADMUX_STATES';

/** All states that are known, of threads that still exist. */
export function statesOf({ states, state, identity }: WorkspaceContext) {
  const isThere = (id: string) => id === identity.channelId || state.threads.has(id);
  for (const thread of states.keys()) if (!isThere(thread)) states.delete(thread);
  return statesData([...states]);
}

function statesData(states: readonly (readonly [thread: string, state: ThreadState])[]) {
  return { now: Date.now(), states: states.map(([thread, state]) => ({ channel_id: thread, ...state })) };
}

/** Not an event of Discord, either: what the view of all sessions shows. */
export const PANEL_EVENT = 'THREADMUX_PANEL';

export function panelOf({ panel }: WorkspaceContext) {
  return { now: Date.now(), ...panel.view };
}

export function publishPanel(context: WorkspaceContext, view: PanelData): void {
  context.panel.view = view;
  context.publish({ type: PANEL_EVENT, intent: 0, only: 'person', dataFor: () => panelOf(context) });
}

export function publishState(context: WorkspaceContext, thread: string, state: ThreadState): void {
  context.states.set(thread, state);
  context.publish({ type: STATES_EVENT, intent: 0, only: 'person', dataFor: () => statesData([[thread, state]]) });
}
