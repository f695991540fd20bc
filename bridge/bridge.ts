// Starts the bridge: one gateway connection per server, and everything that takes a message into its pane. It only
// connects the parts; journey.ts shows the steps.

import { setMaxListeners } from 'node:events';
import { type ConfigEnvironment, rootsOfHosts, type ServerConfig } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { textMeaning } from '../core/prompt-answer.ts';
import { sessionEnvironment } from '../core/session-environment.ts';
import { type Gateway, openGateway } from '../discord/gateway.ts';
import type { GatewaySession } from '../discord/gateway-state.ts';
import { registerCommands } from '../discord/interactions.ts';
import { gatewaySessionSchema } from '../discord/payloads.ts';
import { readJson, writeBestEffort } from '../home/atomic-write.ts';
import { openAllowedDirectories, openAllowedHostDirectories } from '../streams/allowed-directories.ts';
import { channelsOf, createKnownThreads, type KnownThreads } from '../threads/connections.ts';
import { loadStates, saveStates } from '../threads/known-states.ts';
import { startLifecycle } from '../threads/lifecycle.ts';
import { createNotices } from '../threads/notices.ts';
import type { Shared } from '../threads/shared-services.ts';
import { type SessionStates, watchPanes } from '../threads/watch-panes.ts';
import { createAskAgent } from './ask-agent.ts';
import { createChannelTalk } from './channel-talk.ts';
import type { CommandContext } from './commands/command.ts';
import { SLASH_COMMANDS } from './commands/slash.ts';
import { streamState } from './commands/streams.ts';
import { tellConfigChanges } from './config-notices.ts';
import { createDebouncedWrite } from './debounced-write.ts';
import { createDeclaredSessions } from './declared/declared-sessions.ts';
import type { Waits } from './delivery.ts';
import { createDialogs } from './dialogs/dialogs.ts';
import { createInteractionHandler } from './handle-interaction.ts';
import { openCursors, openInbox } from './inbox.ts';
import { createJourney } from './journey.ts';
import { listen } from './listen.ts';
import { createMessageNotices } from './message-notice.ts';
import { createOutcomes } from './outcomes.ts';
import { createPanels, type Panels } from './panel/panels.ts';
import { createPromptTaps } from './prompt-taps.ts';
import { createRetry } from './retry.ts';
import { isPlainCommand } from './slash-decision.ts';
import { createSlashMessages } from './slash-messages.ts';
import { createStatusReactions } from './status-reactions.ts';
import { createStreamThreads } from './stream-threads.ts';
import { fetchAttachments } from './typed-text.ts';

/** GUILDS, GUILD_MESSAGES and MESSAGE_CONTENT. */
const BRIDGE_INTENTS = (1 << 0) | (1 << 9) | (1 << 15);

/** A burst of changes is one write. */
const STATES_MS = 100;

export interface Bridge {
  /** One per server. */
  readonly gateways: readonly Gateway[];
  readonly states: SessionStates;
  /** The sessions, for the page of the local workspace. */
  readonly onRows: Panels['onRows'];
  close(): Promise<void>;
}

export interface BridgeOptions {
  readonly servers: readonly ServerConfig[];
  readonly env: ConfigEnvironment;
  readonly onFatal: (error: ThreadmuxError) => void;
  readonly agentSettings?: string;
  readonly settleMs?: number;
  readonly waits?: Partial<Waits>;
  /** The pauses before a declared session that crashed starts again. */
  readonly startAgainMs?: readonly number[];
}

export async function startBridge(shared: Shared, options: BridgeOptions): Promise<Bridge> {
  const states = watchPanes(shared, loadStates(shared.home));
  const file = createDebouncedWrite(() => saveStates(shared.home, states.all()), STATES_MS);
  states.onState(() => file.set(undefined));
  const parts = { ...shared, states };
  const sides = await Promise.all(options.servers.map((server) => startServer(server, parts, options)));
  shared.prompts.takeUp();
  for (const side of sides) await side.takeUp();
  const gateways = sides.map((side) => side.connect());
  const lifecycle = startLifecycle({ ...shared, known: sides.map(({ known }) => known) });
  tellConfigChanges(shared);
  return {
    ...{ gateways, states, onRows: (listener) => sides.forEach(({ panels }) => void panels.onRows(listener)) },
    async close() {
      states.close();
      file.flush();
      lifecycle.close();
      shared.live?.close();
      await Promise.all(sides.map((side) => side.close()));
    },
  };
}

export interface BridgeParts extends Shared {
  readonly states: SessionStates;
}

interface Side {
  readonly known: KnownThreads;
  readonly panels: Panels;
  takeUp(): Promise<void>;
  connect(): Gateway;
  close(): Promise<void>;
}

async function startServer(server: ServerConfig, shared: BridgeParts, options: BridgeOptions): Promise<Side> {
  const { home, config, log, hosts, threads, prompts } = shared;
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
  const known = createKnownThreads(rest, places);
  const cursors = openCursors(state('cursors'));
  const inbox = openInbox(home.folder('inbox'), cursors, server.name);
  const marks = createStatusReactions(rest, log);
  const say = createNotices(rest);
  const notices = createMessageNotices({ rest, botId, say, inbox, log });
  const outcomes = createOutcomes({ rest, say, marks, notices, log });
  const directories = openAllowedHostDirectories({
    here: openAllowedDirectories({
      projects: server.projects.map(({ path }) => path),
      roots: config.roots,
      homedir: options.env.HOME ?? '/',
    }),
    roots: rootsOfHosts(config),
    own: config.host,
    host: hosts.get,
  });
  const streams = createStreamThreads({
    ...{ home, log, rest, botId, place, env: options.env, server: server.name },
    ...{ host: config.host, members: server.allow, maxThreads: config.maxThreads },
    ...{ hosts, remote: shared.remote, command: config.agent.command },
    ...{ isCommand: (text: string) => isPlainCommand(text, config.slashCommands), registry: threads.registry },
    agentSettings: options.agentSettings,
    onThread: known.learn,
    check: async ({ dir }) => {
      await directories.check(dir);
      return { skipPermissions: await directories.isWithin(dir, config.skipPermissions) };
    },
  });
  shared.sessionsChanged.listen(streams.wake);
  shared.states.also(() => streams.all().map((one) => [one.record().thread, streamState(one, shared)]));
  const askAgent = createAskAgent({
    ...{ inbox, marks, say, notices, log, signal },
    fetch: (message) => fetchAttachments(message, config.host, { ...shared, api: server.api }),
  });
  const slash = createSlashMessages({
    ...{ rest, config, hosts, inbox, marks, outcomes, log, signal, registry: threads.registry },
    send: (message, thread) => journey.send(message, thread),
    keptMs: options.waits?.heldMs,
  });
  const pressing = createKeyedQueue();
  const dialogs = createDialogs({ ...shared, ...{ rest, say, pressing, signal, server: server.name } });
  const declared = createDeclaredSessions({
    ...{ ...shared, server, path: state('declared'), tools: () => tools, pausesMs: options.startAgainMs },
  });
  const panels = createPanels({ ...shared, rest, server, declared, guildId: place.guildId, path: state('panel') });
  const journey = createJourney({
    ...shared,
    ...{ server, channels, known, inbox, marks, outcomes, signal, slash, dialogs },
    waits: options.waits ?? {},
    ...(options.settleMs === undefined ? {} : { settleMs: options.settleMs }),
    toStream(message, thread) {
      const stream = streams.of(thread.id);
      return stream?.kind === 'agent' ? askAgent(message, stream.agent) : undefined;
    },
    isTerminal: (thread) => streams.of(thread)?.kind === 'terminal',
    tools: () => tools,
  });
  const tools: CommandContext = {
    ...{ config, hosts, threads, known, server, log, streams, directories, say, slash, states: shared.states },
    ...{ panes: shared.panes, remote: shared.remote, pressing, dialogs, declared },
    agentSettings: options.agentSettings,
    accept(message, thread) {
      inbox.put(message);
      void journey.send(message, thread);
    },
    environment: sessionEnvironment(options.env, config.agents.claude.environment),
    retry: createRetry({ rest, server, inbox, marks, send: journey.send }),
  };
  const taps = createPromptTaps({ rest, prompts, log });
  const handle = listen({
    ...{ server, rest, channels, threads: known, cursors, inbox, log, signal },
    meaningOf: (message) => textMeaning(message, prompts.inThread(message.channelId)),
    onAccepted: journey.begin,
    onTalk: createChannelTalk({ rest, say, log, path: state('talk'), server: server.name, registry: threads.registry }),
    onInteraction: createInteractionHandler({ rest, server, channels, botId, tools, prompts: taps, log }),
    onThread: (thread) => threads.heard(thread.id, thread.archived),
    onActive: (ids) => threads.heardActive(server.name, ids),
    onThreadGone(id) {
      if (threads.registry.get(id)?.shell !== 'terminal') threads.registry.change(id, { deleted: true });
      streams.gone(id).catch((error: Error) => log.error('a deleted thread', { thread: id, because: error.message }));
    },
  });

  async function onEvent(name: string, data: unknown, live: boolean): Promise<void> {
    if (name === 'READY') {
      const { application } = data as { application: { id: string } };
      registerCommands(rest, application.id, place?.guildId ?? '', SLASH_COMMANDS).catch((error: Error) =>
        log.warn('slash commands', { because: error.message }),
      );
    }
    if (name === 'MESSAGE_CREATE') streams.heard(data);
    if (name === 'MESSAGE_DELETE') panels.deleted(data);
    await handle(name, data, live);
  }

  const position = createDebouncedWrite<GatewaySession>((session) => writeBestEffort(state('gateway'), session), 200);
  let gateway: Gateway | undefined;
  return {
    ...{ known, panels },
    async takeUp() {
      await streams.recover();
      await journey.takeUp();
      declared.begin();
      panels.begin();
    },
    connect() {
      gateway = openGateway({
        ...{ rest, token: server.token, intents: BRIDGE_INTENTS, handle: onEvent, log },
        load: () => readJson(state('gateway'), gatewaySessionSchema),
        save: position.set,
        onFatal: options.onFatal,
      });
      return gateway;
    },
    async close() {
      closing.abort();
      slash.close();
      panels.close();
      await declared.close();
      await streams.close();
      gateway?.close();
      position.flush();
    },
  };
}
