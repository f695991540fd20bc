// Lists of threads: the active ones of the guild, the archived ones page by page, and who is in one.

import { UNKNOWN_GUILD, WRONG_CHANNEL_TYPE } from '../../discord/error-codes.ts';
import { readForm } from '../check-form.ts';
import { requireThread } from '../posting.ts';
import { type RefusalAnswer, refuse } from '../refusal.ts';
import { archivedPageSchema } from '../request-schemas.ts';
import { compareSnowflakes } from '../storage/new-snowflake.ts';
import type { StoredThread } from '../storage/store.ts';
import { idOf } from '../wire/guild.ts';
import { wireThread, wireThreadMember } from '../wire/message.ts';
import type { WorkspaceContext } from '../workspace-context.ts';
import type { RestRoute, RouteCall } from './router.ts';

const CHANNEL = '/channels/:channel';

export const threadListRoutes: readonly RestRoute[] = [
  { method: 'GET', path: '/guilds/:guild/threads/active', who: 'both', run: listActive },
  { method: 'GET', path: `${CHANNEL}/threads/archived/public`, who: 'both', run: listArchived },
  { method: 'GET', path: `${CHANNEL}/thread-members`, who: 'both', run: listMembers },
];

function listArchived({ world, viewer, query, param }: RouteCall): RefusalAnswer {
  if (requireThread(world, param('channel')) !== undefined) refuse(WRONG_CHANNEL_TYPE);
  const { before, limit } = readForm(archivedPageSchema, query);
  const latest = before === undefined ? Number.POSITIVE_INFINITY : microseconds(before);
  const archived = [...world.state.threads.values()]
    .filter((thread) => thread.archived && microseconds(thread.archive_timestamp) < latest)
    .sort(
      (a, b) => microseconds(b.archive_timestamp) - microseconds(a.archive_timestamp) || compareSnowflakes(b.id, a.id),
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

function listActive({ world, viewer, param }: RouteCall): RefusalAnswer {
  if (param('guild') !== world.identity.guildId) refuse(UNKNOWN_GUILD);
  const active = [...world.state.threads.values()]
    .filter((thread) => !thread.archived)
    .sort((a, b) => compareSnowflakes(b.id, a.id));
  return { status: 200, body: { ...wireList(world, viewer, active), has_more: false } };
}

function wireList(world: WorkspaceContext, viewer: RouteCall['viewer'], threads: readonly StoredThread[]) {
  const self = idOf(world.identity, viewer.actor);
  return {
    threads: threads.map((thread) => wireThread(world, thread, viewer)),
    members: threads.flatMap((thread) =>
      thread.members.filter(({ user }) => user === self).map((member) => wireThreadMember(thread, member)),
    ),
  };
}

function listMembers({ world, param }: RouteCall): RefusalAnswer {
  const thread = requireThread(world, param('channel')) ?? refuse(WRONG_CHANNEL_TYPE);
  return { status: 200, body: thread.members.map((member) => wireThreadMember(thread, member)) };
}
