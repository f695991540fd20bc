// Terminals and headless agents of one server: starts and ends them, and restores them after a restart.

import type { AgentDriver } from '../agents/driver.ts';
import { headlessWords } from '../agents/guarantees.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { type StreamKind, streamName } from '../core/session-name.ts';
import { streamTitle } from '../core/thread-title.ts';
import { streamWelcome } from '../core/welcome-text.ts';
import { messageSchema } from '../discord/payloads.ts';
import { archiveThread, freshThread, type ThreadChannel } from '../discord/threads.ts';
import { forgetStream, loadStreamRecords, type StreamRecord, saveStreamRecord } from '../home/stream-record.ts';
import { type Agent, type AgentParts, openAgent } from '../streams/agent/agent.ts';
import { followTerminal, startTerminal, type Terminal, type TerminalParts } from '../streams/terminal/terminal.ts';
import { closePipe, killPipedSession } from '../tmux/pipe.ts';
import { listSessions, type Session } from '../tmux/sessions.ts';
import { tmuxOn } from '../tmux/tmux.ts';
import type { ServerParts } from './bridge-options.ts';
import { terminalPaneRecord } from './terminal-record.ts';

export type StreamThread =
  | { readonly kind: 'terminal'; readonly terminal: Terminal; record(): StreamRecord }
  | { readonly kind: 'agent'; readonly agent: Agent; record(): StreamRecord };

interface WantedStream {
  readonly kind: StreamKind;
  readonly order: string;
  /** The name of a host in the configuration. */
  readonly host: string;
  /** On that host, resolved and allowed. */
  readonly dir: string;
  readonly asked: string;
  readonly skipPermissions: boolean;
  /** Of a headless agent. */
  readonly agent?: AgentDriver;
}

export interface StreamThreads {
  /** Restores what an earlier process left. */
  recover(): Promise<void>;
  of(thread: string): StreamThread | undefined;
  named(name: string): StreamThread | undefined;
  all(): readonly StreamThread[];
  begin(wanted: WantedStream): Promise<StreamThread>;
  /** Resolves when what is being started now has started. */
  begun(): Promise<void>;
  /** Ends it and resolves with a summary; its thread is still to be archived. */
  end(stream: StreamThread): Promise<string>;
  /** Called with every new message. */
  heard(data: unknown): void;
  /** Something has happened on another host. */
  wake(): void;
  /** Its thread was deleted. */
  gone(thread: string): Promise<void>;
  close(): Promise<void>;
}

interface StreamThreadsOptions
  extends Omit<TerminalParts, 'tmux' | 'untilBack'>,
    AgentParts,
    Pick<ServerParts, 'config' | 'hosts' | 'remote' | 'threads' | 'known'> {
  readonly place: ThreadChannel;
  readonly members: readonly string[];
}

const ENDED_KEPT_MS = 30 * 86_400_000;

export function createStreamThreads(options: StreamThreadsOptions): StreamThreads {
  const { home, config, hosts, remote, place, log } = options;
  const { registry } = options.threads;
  const streams = new Map<string, StreamThread>();
  const inTurn = createKeyedQueue();

  function take(record: StreamRecord): StreamThread {
    const stream: StreamThread =
      record.kind === 'terminal'
        ? terminalOf(record)
        : { kind: 'agent', agent: openAgent(options, record), record: () => record };
    streams.set(record.thread, stream);
    return stream;
  }

  const hostOf = ({ far }: StreamRecord) => far?.host ?? config.host;
  const partsOn = (host: string): TerminalParts => ({
    ...options,
    tmux: hosts.tmux(host),
    untilBack: (ms, signal) => remote.untilBack(host, ms, signal),
  });

  function terminalOf(record: StreamRecord): StreamThread {
    const terminal = followTerminal(partsOn(hostOf(record)), record);
    const pane = terminalPaneRecord(record, hostOf(record));
    if (pane !== undefined) registry.put(pane);
    return { kind: 'terminal', terminal, record: () => terminal.record() };
  }

  const all = () => [...streams.values()].sort((a, b) => a.record().startedAt - b.record().startedAt);

  /** One at a time on each host: one that does not answer holds up no other. */
  async function begin(wanted: WantedStream): Promise<StreamThread> {
    const known = all().find((stream) => stream.record().order === wanted.order);
    if (known !== undefined) return known;
    void forgetOld();
    const { host, dir, asked } = wanted;
    const sessions = await listSessions(hosts.tmux(host));
    const homeThere = hosts.isLocal(host) ? undefined : await remote.home(host);
    const { name, record } = await inTurn('', () => openThread(wanted, sessions, homeThere));
    if (record.kind === 'agent') return take(record);
    const { thread } = record;
    try {
      return take(await startTerminal(partsOn(host), { thread, name, dir, command: asked, record }));
    } catch (error) {
      await tidyUp(record).catch(() => {}); // what failed is said; a host that is away is tidied up after a restart
      await archiveThread(place.rest, thread).catch(() => {});
      throw error;
    }
  }

  /** One at a time on all hosts, so that two commands cannot both take the last free place or the same name. */
  async function openThread(wanted: WantedStream, sessions: readonly Session[], homeThere?: string) {
    checkRoom();
    const { kind, host, dir, asked, order, skipPermissions, agent } = wanted;
    const taken = [...sessions, ...loadStreamRecords(home).filter(({ server }) => server === options.server)];
    const name = streamName(kind, dir, asked, new Set(taken.map((one) => one.name)));
    const welcome = streamWelcome({ kind, name, host, dir, asked, agent: agent && headlessWords(agent) });
    const title = streamTitle(kind, homeThere === undefined ? name : `${name}@${host}`);
    const thread = await freshThread(place, title, welcome, options.members, order);
    options.known.learn(thread);
    const record: StreamRecord = {
      kind,
      name,
      dir,
      asked,
      order,
      skipPermissions,
      ...(agent === undefined ? {} : { agent: agent.name }),
      thread: thread.id,
      server: options.server,
      startedAt: Date.now(),
      ...(homeThere === undefined ? {} : { far: { host, logFolder: `${homeThere}/streams/${thread.id}/log` } }),
    };
    saveStreamRecord(home, record);
    return { name, record };
  }

  function checkRoom(): void {
    const live = loadStreamRecords(home).filter(({ ended }) => ended === undefined); // of all servers
    if (live.length < config.maxThreads) return;
    const names = live.map(({ name }) => `\`${name}\``).join(', ');
    throw new ThreadmuxError(
      'busy',
      `There are already ${live.length} terminals and headless agents, and the limit is ${config.maxThreads}.`,
      { hint: `End one with \`!kill <name>\` (${names}), or raise "maxThreads" in the configuration.` },
    );
  }

  async function recoverOne(record: StreamRecord): Promise<void> {
    if (record.kind === 'agent' || record.pane !== undefined) return void take(record);
    // We were killed while starting it. The user was not told yet, so remove everything.
    const tidied = tidyUp(record);
    if (record.far === undefined) await tidied;
    else tidied.catch((error: Error) => log.warn('a terminal', { because: error.message }));
  }

  /** Removes a terminal that was not started. Its record stays until nothing of it runs. */
  async function tidyUp(record: StreamRecord): Promise<void> {
    saveStreamRecord(home, { ...record, ended: { at: Date.now(), how: 'not started' } });
    await killPipedSession(hosts.tmux(hostOf(record)), record.name);
    forgetStream(home, record.thread);
  }

  function drop(thread: string): void {
    streams.delete(thread);
    forgetStream(home, thread);
    registry.forget(thread);
  }

  const failed = (name: string) => (error: Error) => log.error('a stream', { name, because: error.message });

  const end: StreamThreads['end'] = async (stream) => {
    const { thread } = stream.record();
    const summary = stream.kind === 'terminal' ? await stream.terminal.end() : await endAgent(stream.agent);
    drop(thread);
    return summary;
  };

  /** Closes the dead panes of terminals that ended long ago; their threads stay. */
  async function forgetOld(): Promise<void> {
    for (const stream of all()) {
      const { ended, name } = stream.record();
      if (ended !== undefined && Date.now() - ended.at > ENDED_KEPT_MS) await end(stream).catch(failed(name));
    }
  }

  return {
    async recover() {
      for (const record of loadStreamRecords(home))
        if (record.server === options.server) await recoverOne(record).catch(failed(record.name));
      void forgetOld();
    },
    of: (thread) => streams.get(thread),
    named: (name) =>
      all().find((stream) => {
        const { name: own, far } = stream.record();
        return name === own || (far !== undefined && name === `${own}@${far.host}`);
      }),
    all,
    begin: (wanted) => inTurn(wanted.host, () => begin(wanted)),
    begun: async () => void (await Promise.all(hosts.names().map((host) => inTurn(host, async () => {})))),
    end,
    heard(data) {
      const message = messageSchema.safeParse(data).data;
      const stream = message === undefined ? undefined : streams.get(message.channel_id);
      if (message === undefined || stream?.kind !== 'terminal') return;
      stream.terminal.heard(message.content, message.author.id === options.botId);
    },
    wake() {
      for (const stream of all()) if (stream.kind === 'terminal') stream.terminal.wake();
    },
    async gone(thread) {
      const stream = streams.get(thread);
      if (stream === undefined) return;
      log.info('the thread of a stream was deleted', { name: stream.record().name });
      await (stream.kind === 'agent' ? stream.agent.end() : closed(stream));
      const { pane } = stream.record();
      const host = hosts.get(hostOf(stream.record()));
      // The program continues as a normal session; its log is no longer read.
      if (pane !== undefined) await closePipe(tmuxOn(host, pane.socket), pane).catch(() => {});
      drop(thread);
    },
    close: async () => void (await Promise.all(all().map(closed))),
  };
}

/** A terminal's program continues in tmux; a headless agent ends with the bridge. */
function closed(stream: StreamThread): Promise<void> {
  return stream.kind === 'terminal' ? stream.terminal.close() : stream.agent.close();
}

async function endAgent(agent: Agent): Promise<string> {
  const worked = agent.state() === 'working';
  await agent.end();
  return worked ? 'It was ended while it was working.' : 'It was ended.';
}
