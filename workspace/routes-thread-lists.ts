// Lists of threads: the active ones of the guild, the archived ones page by page, and who is in one.

import { UNKNOWN_GUILD, WRONG_CHANNEL_TYPE } from '../discord/error-codes.ts';
import { readForm } from './form.ts';
import { archivedPageSchema } from './limits.ts';
import { findThread } from './posting.ts';
import { type Answer, refuse } from './refusal.ts';
import type { Call, Route } from './router.ts';
import { compareIds } from './snowflake.ts';
import type { StoredThread } from './store.ts';
import { idOf } from './wire-guild.ts';
import { wireThread, wireThreadMember } from './wire-message.ts';
import type { World } from './world.ts';

const CHANNEL = '/channels/:channel';

export const threadListRoutes: readonly Route[] = [
  { method: 'GET', path: '/guilds/:guild/threads/active', who: 'both', run: listActive },
  { method: 'GET', path: `${CHANNEL}/threads/archived/public`, who: 'both', run: listArchived },
  { method: 'GET', path: `${CHANNEL}/thread-members`, who: 'both', run: listMembers },
];

function listArchived({ world, viewer, query, param }: Call): Answer {
  if (findThread(world, param('channel')) !== undefined) refuse(WRONG_CHANNEL_TYPE);
  const { before, limit } = readForm(archivedPageSchema, query);
  const latest = before === undefined ? Number.POSITIVE_INFINITY : microseconds(before);
  const archived = [...world.state.threads.values()]
    .filter((thread) => thread.archived && microseconds(thread.archive_timestamp) < latest)
    .sort(
      (a, b) =>
        microseconds(b.archive_timestamp) - microseconds(a.archive_timestamp) ||
        compareIds(b.id, a.id),
    );
  const page = archived.slice(0, limit);
  return {
    status: 200,
    body: { ...wireList(world, viewer, page), has_more: archived.length > limit },
  };
}

/** `Date.parse` drops what is finer than a millisecond, and paging must not. */
function microseconds(iso: string): number {
  const fraction = /\.(\d+)/.exec(iso)?.[1] ?? '';
  const micro = Number(fraction.padEnd(6, '0').slice(3, 6));
  return Date.parse(iso) * 1000 + micro;
}

function listActive({ world, viewer, param }: Call): Answer {
  if (param('guild') !== world.identity.guildId) refuse(UNKNOWN_GUILD);
  const active = [...world.state.threads.values()]
    .filter((thread) => !thread.archived)
    .sort((a, b) => compareIds(b.id, a.id));
  return { status: 200, body: { ...wireList(world, viewer, active), has_more: false } };
}

function wireList(world: World, viewer: Call['viewer'], threads: readonly StoredThread[]) {
  const self = idOf(world.identity, viewer.actor);
  return {
    threads: threads.map((thread) => wireThread(world, thread, viewer)),
    members: threads.flatMap((thread) =>
      thread.members
        .filter(({ user }) => user === self)
        .map((member) => wireThreadMember(thread, member)),
    ),
  };
}

function listMembers({ world, param }: Call): Answer {
  const thread = findThread(world, param('channel')) ?? refuse(WRONG_CHANNEL_TYPE);
  return { status: 200, body: thread.members.map((member) => wireThreadMember(thread, member)) };
}
