// Channels and threads: start, find, list, change, join.
import {
  MISSING_PERMISSIONS,
  THREAD_ALREADY_CREATED,
  THREAD_ARCHIVED,
  UNKNOWN_GUILD,
  WRONG_CHANNEL_TYPE,
} from '../../discord/error-codes.ts';
import { readForm } from '../check-form.ts';
import { publishMembers, publishMessage, publishThread, publishThreadGone } from '../gateway/publish.ts';
import { changeThread, joinThread, postMessage, requireAwake, requireThread } from '../posting.ts';
import { type RefusalAnswer, refuse } from '../request-body.ts';
import {
  archivedPageSchema,
  modifyChannelSchema,
  modifyThreadSchema,
  threadFromMessageSchema,
  threadSchema,
} from '../request-schemas.ts';
import type { RestRoute, RouteCall } from '../rest-server.ts';
import { compareSnowflakes } from '../storage/message-log.ts';
import type { StoredMessage, StoredThread } from '../storage/store.ts';
import { idOf, isoOf, wireChannel } from '../wire/guild.ts';
import { wireThread, wireThreadMember } from '../wire/message.ts';
import { INTENT_BITS, type WorkspaceContext } from '../workspace-context.ts';
import { messageOf } from './messages.ts';

const CHANNEL = '/channels/:channel';
const ME = `${CHANNEL}/thread-members/@me`;
const NAME_CHANGE = 4;
const THREAD_CREATED = 18;
const THREAD_STARTER = 21;

export const threadRoutes: readonly RestRoute[] = [
  { method: 'GET', path: CHANNEL, who: 'both', run: getChannel },
  { method: 'PATCH', path: CHANNEL, who: 'both', run: changeChannel },
  { method: 'DELETE', path: CHANNEL, who: 'both', run: deleteThread },
  { method: 'POST', path: `${CHANNEL}/messages/:message/threads`, who: 'both', run: startFromMessage },
  { method: 'POST', path: `${CHANNEL}/threads`, who: 'both', run: startAlone },
  { method: 'PUT', path: ME, who: 'both', run: join },
  { method: 'DELETE', path: ME, who: 'both', run: leave },
  { method: 'GET', path: '/guilds/:guild/threads/active', who: 'both', run: listActive },
  { method: 'GET', path: `${CHANNEL}/threads/archived/public`, who: 'both', run: listArchived },
  { method: 'GET', path: `${CHANNEL}/thread-members`, who: 'both', run: listMembers },
];

function getChannel({ context, viewer, param }: RouteCall): RefusalAnswer {
  const thread = requireThread(context, param('channel'));
  const body = thread ? wireThread(context, thread, viewer) : wireChannel(context.identity, context.state);
  return { status: 200, body };
}

function changeChannel(call: RouteCall): RefusalAnswer {
  const { context, viewer, body, param } = call;
  const thread = requireThread(context, param('channel'));
  if (thread === undefined) return changeParent(call);
  const form = readForm(modifyThreadSchema, body);
  if (thread.archived && form.archived !== false) refuse(THREAD_ARCHIVED);
  const given = Object.entries({
    name: form.name,
    archived: form.archived,
    locked: form.locked,
    auto_archive_duration: form.auto_archive_duration,
    rate_limit_per_user: form.rate_limit_per_user,
  }).filter(([, value]) => value != null);
  const author = idOf(context.identity, viewer.actor);
  const next = changeThread(context, thread, Object.fromEntries(given));
  if (next.name !== thread.name)
    postMessage(context, systemMessage(context, NAME_CHANGE, thread.id, author, { content: next.name }));
  return { status: 200, body: wireThread(context, next, viewer) };
}

function changeParent({ context, viewer, body }: RouteCall): RefusalAnswer {
  // A bot has the permission to manage threads, not channels.
  if (viewer.actor === 'bot') refuse(MISSING_PERMISSIONS);
  const form = readForm(modifyChannelSchema, body);
  const { name, topic } = context.state.channel;
  context.commit({ t: 'channel', name: form.name ?? name, topic: form.topic === undefined ? topic : form.topic });
  const channel = wireChannel(context.identity, context.state);
  context.publish({ type: 'CHANNEL_UPDATE', intent: INTENT_BITS.guilds, dataFor: () => channel });
  return { status: 200, body: channel };
}

function deleteThread({ context, viewer, param }: RouteCall): RefusalAnswer {
  const thread = requireThread(context, param('channel')) ?? refuse(MISSING_PERMISSIONS);
  const body = wireThread(context, thread, viewer);
  const messages = context.state.messages.get(thread.id) ?? [];
  context.commit({ t: 'thread-gone', id: thread.id });
  for (const { id } of messages.flatMap(({ attachments }) => attachments)) context.attachments.forget(id);
  publishThreadGone(context, thread);
  return { status: 200, body };
}

function startFromMessage(call: RouteCall): RefusalAnswer {
  const { context, viewer, body, param } = call;
  if (requireThread(context, param('channel')) !== undefined) refuse(WRONG_CHANNEL_TYPE);
  const message = messageOf(call);
  const form = readForm(threadFromMessageSchema, body);
  if (context.state.threads.has(message.id)) refuse(THREAD_ALREADY_CREATED);
  const thread = startThread(call, message.id, form);
  publishMessage(context, 'MESSAGE_UPDATE', message);
  const reference = {
    type: 0,
    channel_id: message.channel_id,
    message_id: message.id,
    guild_id: context.identity.guildId,
  };
  postMessage(
    context,
    systemMessage(context, THREAD_STARTER, thread.id, thread.owner, { message_reference: reference }),
  );
  return { status: 201, body: wireThread(context, thread, viewer) };
}

function startAlone(call: RouteCall): RefusalAnswer {
  const { context, viewer, body, param } = call;
  if (requireThread(context, param('channel')) !== undefined) refuse(WRONG_CHANNEL_TYPE);
  const form = readForm(threadSchema, body);
  if (form.type === 10) refuse(WRONG_CHANNEL_TYPE);
  if (form.type === 12) refuse(MISSING_PERMISSIONS); // private threads need a permission that nobody here has
  const thread = startThread(call, context.nextId(), form);
  const reference = { type: 0, channel_id: thread.id, guild_id: context.identity.guildId };
  postMessage(
    context,
    systemMessage(context, THREAD_CREATED, param('channel'), thread.owner, {
      content: thread.name,
      message_reference: reference,
    }),
  );
  return { status: 201, body: wireThread(context, thread, viewer) };
}

interface ThreadForm {
  readonly name: string;
  readonly auto_archive_duration?: number | null | undefined;
  readonly rate_limit_per_user?: number | null | undefined;
}

function startThread({ context, viewer, param }: RouteCall, id: string, form: ThreadForm): StoredThread {
  const owner = idOf(context.identity, viewer.actor);
  const now = isoOf(context.nextId());
  const thread: StoredThread = {
    id,
    parent_id: param('channel'),
    name: form.name,
    owner,
    archived: false,
    locked: false,
    archive_timestamp: now,
    created: now,
    auto_archive_duration: form.auto_archive_duration ?? 4320,
    rate_limit_per_user: form.rate_limit_per_user ?? 0,
    members: [{ user: owner, joined: now }],
  };
  context.commit({ t: 'thread', thread });
  publishThread(context, 'THREAD_CREATE', thread);
  return thread;
}

function systemMessage(
  context: WorkspaceContext,
  type: number,
  channelId: string,
  author: string,
  extra: Partial<StoredMessage>,
): StoredMessage {
  return {
    id: context.nextId(),
    channel_id: channelId,
    author,
    type,
    content: '',
    edited_timestamp: null,
    attachments: [],
    embeds: [],
    components: [],
    mentions: [],
    mention_roles: [],
    mention_everyone: false,
    flags: 0,
    reactions: [],
    ...extra,
  };
}

function join({ context, viewer, param }: RouteCall): RefusalAnswer {
  const thread = requireAwake(context, param('channel')) ?? refuse(WRONG_CHANNEL_TYPE);
  joinThread(context, thread.id, idOf(context.identity, viewer.actor));
  return { status: 204 };
}

function leave({ context, viewer, param }: RouteCall): RefusalAnswer {
  const thread = requireAwake(context, param('channel')) ?? refuse(WRONG_CHANNEL_TYPE);
  const self = idOf(context.identity, viewer.actor);
  const members = thread.members.filter(({ user }) => user !== self);
  context.commit({ t: 'thread', thread: { ...thread, members } });
  publishMembers(context, { ...thread, members }, { removed: self });
  return { status: 204 };
}

function listArchived({ context, viewer, query, param }: RouteCall): RefusalAnswer {
  if (requireThread(context, param('channel')) !== undefined) refuse(WRONG_CHANNEL_TYPE);
  const { before, limit } = readForm(archivedPageSchema, query);
  const latest = before === undefined ? Number.POSITIVE_INFINITY : microseconds(before);
  const archived = [...context.state.threads.values()]
    .filter((thread) => thread.archived && microseconds(thread.archive_timestamp) < latest)
    .sort(
      (a, b) => microseconds(b.archive_timestamp) - microseconds(a.archive_timestamp) || compareSnowflakes(b.id, a.id),
    );
  const page = archived.slice(0, limit);
  return { status: 200, body: { ...wireList(context, viewer, page), has_more: archived.length > limit } };
}

/** `Date.parse` drops everything below a millisecond, but paging needs it. */
function microseconds(iso: string): number {
  const fraction = /\.(\d+)/.exec(iso)?.[1] ?? '';
  const micro = Number(fraction.padEnd(6, '0').slice(3, 6));
  return Date.parse(iso) * 1000 + micro;
}

function listActive({ context, viewer, param }: RouteCall): RefusalAnswer {
  if (param('guild') !== context.identity.guildId) refuse(UNKNOWN_GUILD);
  const active = [...context.state.threads.values()]
    .filter((thread) => !thread.archived)
    .sort((a, b) => compareSnowflakes(b.id, a.id));
  return { status: 200, body: { ...wireList(context, viewer, active), has_more: false } };
}

function wireList(context: WorkspaceContext, viewer: RouteCall['viewer'], threads: readonly StoredThread[]) {
  const self = idOf(context.identity, viewer.actor);
  return {
    threads: threads.map((thread) => wireThread(context, thread, viewer)),
    members: threads.flatMap((thread) =>
      thread.members.filter(({ user }) => user === self).map((member) => wireThreadMember(thread, member)),
    ),
  };
}

function listMembers({ context, param }: RouteCall): RefusalAnswer {
  const thread = requireThread(context, param('channel')) ?? refuse(WRONG_CHANNEL_TYPE);
  return { status: 200, body: thread.members.map((member) => wireThreadMember(thread, member)) };
}
