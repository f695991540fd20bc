// Journey 2, from start to end: the gateway tells, `listen` takes, the inbox keeps, and each
// message is acted on in its turn: a command is run, everything else is typed into its pane.

import type { Config, Env, Server } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { type Gateway, openGateway } from '../discord/gateway.ts';
import { sessionSchema } from '../discord/gateway-payload.ts';
import type { Session } from '../discord/gateway-state.ts';
import { registerCommands } from '../discord/interactions.ts';
import { connectRest } from '../discord/rest.ts';
import { openPlace, type ThreadRef } from '../discord/threads.ts';
import { readJson } from '../home/files.ts';
import type { Home } from '../home/home.ts';
import { keep } from '../home/keep.ts';
import { openDirectories } from '../streams/directories.ts';
import { createAct } from './act.ts';
import { createAskAgent } from './ask-agent.ts';
import { fetchAttachments } from './attachments.ts';
import { createCarry } from './carry.ts';
import type { Tools } from './command.ts';
import { openCursors } from './cursors.ts';
import { openHosts } from './hosts.ts';
import { type Accepted, openInbox } from './inbox.ts';
import { createInteract } from './interact.ts';
import { createKnownThreads } from './known-threads.ts';
import { createLater } from './later.ts';
import { startLifecycle } from './lifecycle.ts';
import { listen } from './listen.ts';
import { createMarks } from './marks.ts';
import { createOpenPrompts } from './open-prompts.ts';
import { createPanes } from './panes.ts';
import { createPrompts } from './prompts.ts';
import { createReceipts } from './receipts.ts';
import { createRetry } from './retry.ts';
import { createSay } from './say.ts';
import { createSender } from './sender.ts';
import { SLASH_COMMANDS } from './slash.ts';
import { createStreams } from './streams.ts';

/** Guilds, messages of guilds, reactions to them, and what is in them. */
export const INTENTS = (1 << 0) | (1 << 9) | (1 << 10) | (1 << 15);

export interface Bridge {
  readonly gateway: Gateway;
  close(): Promise<void>;
}

export interface BridgeOptions {
  readonly config: Config;
  readonly server: Server;
  readonly home: Home;
  readonly env: Env;
  readonly log: Log;
  readonly onFatal: (error: ThreadmuxError) => void;
  readonly agentSettings?: string;
  readonly sshConfig?: string;
  readonly settleMs?: number;
}

export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { config, server, home, log } = options;
  const state = (what: string) => `${home.folder('state')}/${server.name}.${what}.json`;
  const closing = new AbortController();
  const { signal } = closing;
  const rest = connectRest({ token: server.token, api: server.api, log });
  const channels = [...new Set([server.channel, ...server.projects.map(({ channel }) => channel)])];
  const places = await Promise.all(channels.map((channel) => openPlace(rest, channel)));
  const [place] = places;
  if (place === undefined)
    throw new ThreadmuxError('config_invalid', 'there is no channel to listen to');
  const { botId } = place;
  const threads = createKnownThreads(places);
  const cursors = openCursors(state('cursors'));
  const inbox = openInbox(home.folder('inbox'), cursors, server.name);
  const hosts = openHosts({ ...options, config, home });
  const panes = createPanes(config, home, hosts, server.name);
  const receipts = createReceipts(rest, botId);
  const marks = createMarks(rest, log);
  const say = createSay(rest);
  const directories = openDirectories({
    projects: server.projects.map(({ path }) => path),
    roots: config.roots,
    homedir: options.env.HOME ?? '/',
  });
  const streams = createStreams({
    ...{ home, log, rest, botId, place, env: options.env, server: server.name },
    ...{ host: config.host, members: server.allow, maxThreads: config.maxThreads },
    ...{ tmux: hosts.tmux(config.host), command: config.agent.command },
    slashCommands: config.slashCommands,
    agentSettings: options.agentSettings,
    onThread: threads.learn,
    check: async ({ dir }) => {
      await directories.check(dir);
      return { skipPermissions: await directories.isWithin(dir, config.skipPermissions) };
    },
  });
  const isTerminal = (thread: string) => streams.of(thread)?.kind === 'terminal';
  const sender = createSender({
    ...{ ...options, hosts, panes, inbox, marks, receipts, say, signal, isTerminal },
  });
  const askAgent = createAskAgent({
    ...{ inbox, marks, say, log, signal },
    fetch: (message) => fetchAttachments(message, config.host, { api: server.api, home, hosts }),
  });

  /** Into its pane, or to the headless agent whose thread it is. */
  function send(message: Accepted, thread: ThreadRef): Promise<void> {
    const stream = streams.of(thread.id);
    return stream?.kind === 'agent'
      ? askAgent(message, stream.agent)
      : sender.send(message, thread);
  }

  const tools: Tools = {
    config,
    hosts,
    panes,
    threads,
    place,
    members: server.allow,
    log,
    agentSettings: options.agentSettings,
    streams,
    directories,
    say,
    retry: createRetry({ rest, server, inbox, marks, send }),
  };

  const open = createOpenPrompts(rest, botId);
  const carry = createCarry(home, hosts, panes);
  const prompts = createPrompts({ rest, carry, open, log });

  const act = createAct({ threads, inbox, marks, prompts, tools, send, log, signal });

  const handle = listen({
    server,
    rest,
    channels,
    threads,
    cursors,
    inbox,
    log,
    signal,
    onAccepted: act.begin,
    onInteraction: createInteract({ rest, server, channels, botId, tools, prompts, log }),
    onReaction: receipts.heard,
    onThreadGone: (id) =>
      void streams
        .gone(id)
        .catch((error: Error) =>
          log.error('a deleted thread', { thread: id, because: error.message }),
        ),
  });

  async function onEvent(name: string, data: unknown): Promise<void> {
    if (name === 'READY') {
      const { application } = data as { application: { id: string } };
      registerCommands(rest, application.id, place?.guildId ?? '', SLASH_COMMANDS).catch(
        (error: Error) => log.warn('slash commands', { because: error.message }),
      );
    }
    if (name === 'MESSAGE_CREATE' || name === 'MESSAGE_UPDATE') open.heard(data);
    if (name === 'MESSAGE_CREATE') streams.heard(data);
    await handle(name, data);
  }

  await streams.recover();
  await act.takeUp(channels, server);
  const position = createLater<Session>((session) => keep(state('gateway'), session), 200);
  const gateway = openGateway({
    rest,
    token: server.token,
    intents: INTENTS,
    handle: onEvent,
    load: () => readJson(state('gateway'), sessionSchema),
    save: position.set,
    onFatal: options.onFatal,
    log,
  });
  const lifecycle = startLifecycle(home, tools, say);
  return {
    gateway,
    async close() {
      closing.abort();
      lifecycle.close();
      await streams.close();
      gateway.close();
      position.flush();
      await Promise.all([rest.close(), hosts.close()]);
    },
  };
}
