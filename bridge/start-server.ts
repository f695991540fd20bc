// Starts everything for one server: its gateway connection, and the parts that take a message into its pane. It only connects
// them; message-journey.ts shows the steps.

import { setMaxListeners } from 'node:events';
import type { ServerConfig } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { textMeaning } from '../core/prompt-answer.ts';
import { sessionEnvironment } from '../core/session-environment.ts';
import { registerCommands } from '../discord/interactions.ts';
import type { Rest } from '../discord/rest.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { createAgentStatus } from '../threads/agent-status.ts';
import { channelsOf, createKnownThreads, type KnownThreads } from '../threads/connections.ts';
import { createNotices } from '../threads/notices.ts';
import { createThreadAdoption } from './adopt-threads.ts';
import { createChannelTalk } from './answer-channel-text.ts';
import type { BridgeOptions, BridgeParts, ServerParts } from './bridge-options.ts';
import type { CommandContext } from './commands/command.ts';
import { NO_PROGRAM } from './commands/launch-agent.ts';
import { SLASH_COMMANDS } from './commands/slash.ts';
import { createDeclaredSessions } from './declared/declared-sessions.ts';
import { createDialogs } from './dialogs/dialogs.ts';
import { createArchivedEnds } from './end-archived.ts';
import { createInteractionHandler } from './handle-interaction.ts';
import { type AcceptedMessage, openCursors, openInbox } from './inbox.ts';
import { listen, whereIs } from './listen.ts';
import { createJourney } from './message-journey.ts';
import { createMessageNotices } from './message-notice.ts';
import { createOutcomes } from './outcomes.ts';
import { openOwnMessages } from './own-messages.ts';
import { createPanels, type Panels } from './panel/panels.ts';
import { createRetry } from './retry-message.ts';
import { createScheduled } from './scheduled.ts';
import { openServerStreams } from './server-streams.ts';
import { createShownScreens } from './shown-screens.ts';
import { createSlashMessages } from './slash-messages.ts';
import { createStatusReactions } from './status-reactions.ts';
import { openUnfinishedInteractions } from './unfinished-interactions.ts';
import { createUsageLimits } from './usage-limits.ts';

export interface ServerSide {
  readonly server: ServerConfig;
  readonly rest: Rest;
  /** Those of its channels. */
  readonly guildIds: readonly string[];
  readonly known: KnownThreads;
  readonly panels: Panels;
  owns(channelId: string): Promise<boolean>;
  readonly context: CommandContext;
  takeUp(): Promise<void>;
  /** An event of the gateway; it counts as read when the promise resolves. */
  hear(name: string, data: unknown, live: boolean): Promise<void>;
  close(): Promise<void>;
}

export async function startServer(
  server: ServerConfig,
  shared: BridgeParts,
  options: BridgeOptions,
): Promise<ServerSide> {
  const { home, log, threads, prompts } = shared;
  const state = (what: string) => `${home.folder('state')}/${server.name}.${what}.json`;
  const closing = new AbortController();
  const { signal } = closing;
  setMaxListeners(0, signal); // as many as there are messages waiting
  const connection = shared.connections.of(server);
  const { rest } = connection;
  const channels = channelsOf(server);
  const places = await Promise.all(channels.map((channel) => connection.place(channel)));
  const [place] = places;
  if (place === undefined) throw new ThreadmuxError('config_invalid', 'there is no channel to listen to');
  const { botId } = place;
  const known = createKnownThreads(rest, places, threads);
  const cursors = openCursors(state('cursors'), startedAt(rest));
  const inbox = openInbox(home.folder('inbox'), cursors, server.name);
  const ownMessages = openOwnMessages(state('own-messages'), inbox);
  const reactions = createStatusReactions(rest, log);
  const postNotice = createNotices(rest);
  const notices = createMessageNotices({ rest, botId, postNotice, inbox, log });
  const outcomes = createOutcomes({ rest, postNotice, reactions, notices, log });
  /** What most parts of this server use. */
  const parts: ServerParts = {
    ...shared,
    server,
    rest,
    botId,
    channels,
    known,
    inbox,
    reactions,
    postNotice,
    notices,
    outcomes,
    signal,
  };
  const { directories, streams } = openServerStreams({ ...parts, place, bridge: options });
  const send = (message: AcceptedMessage, thread: ThreadRef) => journey.send(message, thread);
  const slash = createSlashMessages({
    ...parts,
    send,
    keptMs: options.waits?.heldMs,
  });
  const pressing = createKeyedQueue();
  const shownScreens = createShownScreens();
  const limits = createUsageLimits({
    ...parts,
    scheduled: () => scheduled,
    lookAtDialog: (thread) => void dialogs.look(thread),
  });
  const dialogs = createDialogs({ ...parts, pressing, shownScreens, ownChoice: limits.ownChoice });
  const declared = createDeclaredSessions({
    ...parts,
    path: state('declared'),
    context: () => context,
    pausesMs: options.startAgainMs,
  });
  const panels = createPanels({
    ...parts,
    declared,
    guildId: place.guildId,
    path: state('panel'),
    lastEveryMs: options.panelLastMs,
  });
  const scheduled = createScheduled({
    ...parts,
    path: state('schedules'),
    own: ownMessages,
    declared,
    send: (message) => journey.begin(message, { kind: 'forward', text: message.text }),
  });
  const context: CommandContext = {
    ...parts,
    streams,
    directories,
    slash,
    scheduled,
    limits,
    pressing,
    shownScreens,
    dialogs,
    declared,
    statusOf: createAgentStatus(shared),
    program: options.program ?? { ...NO_PROGRAM, home: home.root },
    store: ownMessages.put,
    accept(message, thread) {
      ownMessages.put(message);
      void send(message, thread);
    },
    environmentOf: ({ environment }) => sessionEnvironment(options.env, environment),
    retry: createRetry({ ...parts, own: ownMessages, send }),
  };
  const journey = createJourney({ ...context, settleMs: options.settleMs, waits: options.waits });
  const unfinished = openUnfinishedInteractions(parts, state('interactions'));
  const adoption = createThreadAdoption({ ...parts, path: state('threads'), begin: journey.begin });
  const handle = listen({
    ...parts,
    threads: known,
    cursors,
    meaningOf({ channelId, authorId, liveAt = performance.now(), ...written }) {
      const hasCard = threads.registry.get(channelId)?.dialog !== undefined;
      const hasEnded = prompts.hasJustEnded(channelId, liveAt) || dialogs.hasJustEnded(channelId, liveAt);
      const open = prompts.inThread(channelId);
      const changed = open.map(({ id }) => id).filter((id) => prompts.hasJustEnded(id, liveAt, authorId));
      return textMeaning({ ...written, afterAnother: hasCard || hasEnded, changed }, open);
    },
    onAccepted: journey.begin,
    onTalk: createChannelTalk(parts, state('talk')),
    onInteraction: createInteractionHandler(context, unfinished),
    adoption,
    onThread: createArchivedEnds(context, cursors),
    onActive(ids, guild) {
      const inGuild = places.filter(({ guildId }) => guildId === guild).map(({ channelId }) => channelId);
      void threads.heardActive(inGuild, ids);
    },
    onThreadGone(id) {
      if (threads.registry.get(id)?.shell !== 'terminal') threads.registry.change(id, { deleted: true });
      streams.gone(id).catch((error: Error) => log.error('a deleted thread', { thread: id, because: error.message }));
    },
  });

  const guildIds = [...new Set(places.map(({ guildId }) => guildId))];

  async function hear(name: string, data: unknown, live: boolean): Promise<void> {
    if (name === 'READY') {
      const { application } = data as { application: { id: string } };
      for (const guild of guildIds)
        registerCommands(rest, application.id, guild, SLASH_COMMANDS).catch((error: Error) =>
          log.warn('slash commands', { because: error.message }),
        );
    }
    if (name === 'MESSAGE_CREATE') streams.heard(data);
    panels.heard(name, data);
    await handle(name, data, live);
  }

  return {
    server,
    rest,
    guildIds,
    known,
    panels,
    context,
    hear,
    owns: async (id) => (await whereIs(id, known, channels)) !== 'elsewhere',
    async takeUp() {
      await streams.recover();
      await adoption.takeUp();
      scheduled.recover();
      await journey.takeUp();
      limits.takeUp();
      scheduled.start();
      void unfinished.takeUp();
      declared.begin();
      panels.begin();
    },
    async close() {
      closing.abort();
      slash.close();
      scheduled.close();
      panels.close();
      await declared.close();
      await streams.close();
    },
  };
}

/** By the server's clock, of which only the second is known: what is written from now on must not be missed. */
function startedAt(rest: Pick<Rest, 'serverTime'>): number {
  const [here, there] = [Date.now(), rest.serverTime()];
  return there < here ? there - 1_000 : there;
}
