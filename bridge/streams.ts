// The threads that stream, as the bridge sees them: which there are, how one begins and ends, and what
// is taken up again after a restart.

import { ThreadmuxError } from '../core/errors.ts';
import { createInTurn } from '../core/in-turn.ts';
import type { SessionName } from '../core/session-name.ts';
import { type StreamKind, streamName, streamTitle } from '../core/stream-name.ts';
import { streamWelcome } from '../core/welcome.ts';
import { messageSchema } from '../discord/payloads.ts';
import { archiveThread, freshThread, type Place, type ThreadRef } from '../discord/threads.ts';
import {
  forgetStream,
  loadStreamRecords,
  type StreamRecord,
  saveStreamRecord,
} from '../home/stream-record.ts';
import { type Agent, type AgentParts, openAgent } from '../streams/agent.ts';
import {
  followTerminal,
  startTerminal,
  type Terminal,
  type TerminalParts,
} from '../streams/terminal.ts';
import type { Registry } from '../threads/registry.ts';
import { isPaneFormat } from '../tmux/pane.ts';
import { closePipe } from '../tmux/pipe.ts';
import { killSession, listSessions } from '../tmux/sessions.ts';
import { tmuxOn } from '../tmux/tmux.ts';
import { paneRecordOf } from './terminal-pane.ts';

export type Stream =
  | { readonly kind: 'terminal'; readonly terminal: Terminal; record(): StreamRecord }
  | { readonly kind: 'agent'; readonly agent: Agent; record(): StreamRecord };

export interface Wanted {
  readonly kind: StreamKind;
  readonly order: string;
  /** Resolved and allowed. */
  readonly dir: string;
  readonly asked: string;
  readonly skipPermissions: boolean;
}

export interface Streams {
  /** Takes up what an earlier process left. */
  recover(): Promise<void>;
  of(thread: string): Stream | undefined;
  named(name: string): Stream | undefined;
  all(): readonly Stream[];
  begin(wanted: Wanted): Promise<Stream>;
  /** Ends it and resolves with a summary; its thread is still to be archived. */
  end(stream: Stream): Promise<string>;
  /** Every message made anywhere. */
  heard(data: unknown): void;
  /** Its thread was deleted. */
  gone(thread: string): Promise<void>;
  close(): Promise<void>;
}

export interface StreamsOptions extends TerminalParts, AgentParts {
  readonly place: Place;
  readonly members: readonly string[];
  readonly host: string;
  readonly maxThreads: number;
  readonly registry: Registry;
  readonly onThread: (thread: ThreadRef) => void;
}

export function createStreams(options: StreamsOptions): Streams {
  const { home, tmux, place, log } = options;
  const streams = new Map<string, Stream>();
  const inTurn = createInTurn();

  function take(record: StreamRecord): Stream {
    const stream: Stream =
      record.kind === 'terminal'
        ? terminalOf(record)
        : { kind: 'agent', agent: openAgent(options, record), record: () => record };
    streams.set(record.thread, stream);
    return stream;
  }

  function terminalOf(record: StreamRecord): Stream {
    const pane = paneRecordOf(record, options.host);
    if (pane !== undefined) options.registry.put(pane);
    const terminal = followTerminal(options, record);
    return { kind: 'terminal', terminal, record: () => terminal.record() };
  }

  const all = () =>
    [...streams.values()].sort((a, b) => a.record().startedAt - b.record().startedAt);

  /** One at a time: two orders at once must not both find the last place free, nor take one name. */
  async function begin(wanted: Wanted): Promise<Stream> {
    const known = all().find((stream) => stream.record().order === wanted.order);
    if (known !== undefined) return known;
    checkRoom();
    const name = await freeName(wanted);
    const { kind, dir, asked, order, skipPermissions } = wanted;
    const welcome = streamWelcome({ kind, name, host: options.host, dir, asked });
    const thread = await freshThread(
      place,
      streamTitle(kind, name),
      welcome,
      options.members,
      order,
    );
    options.onThread(thread);
    const record: StreamRecord = {
      ...{ kind, name, dir, asked, order, skipPermissions },
      thread: thread.id,
      server: options.server,
      startedAt: Date.now(),
    };
    saveStreamRecord(home, record);
    if (kind === 'agent') return take(record);
    try {
      return take(
        await startTerminal(options, { thread: thread.id, name, dir, command: asked, record }),
      );
    } catch (error) {
      await killLeftOver(name).catch(() => {}); // what failed is said; this is only tidying up
      forgetStream(home, thread.id);
      await archiveThread(place.rest, thread.id).catch(() => {});
      throw error;
    }
  }

  function checkRoom(): void {
    const live = loadStreamRecords(home).filter(({ ended }) => ended === undefined); // of all servers
    if (live.length < options.maxThreads) return;
    const names = live.map(({ name }) => `\`${name}\``).join(', ');
    throw new ThreadmuxError(
      'busy',
      `there are ${live.length} terminals and headless agents, and no more than ${options.maxThreads} at a time are allowed`,
      {
        hint: `End one with \`!kill <name>\`: ${names}. "maxThreads" in the configuration allows more.`,
      },
    );
  }

  async function freeName({ kind, dir, asked }: Wanted): Promise<SessionName> {
    const sessions = await listSessions(tmux);
    const taken = [...sessions.map(({ name }) => name), ...all().map((one) => one.record().name)];
    return streamName(kind, dir, asked, new Set(taken));
  }

  async function recoverOne(record: StreamRecord): Promise<void> {
    if (record.kind === 'agent' || record.pane !== undefined) return void take(record);
    // We were killed while it was being started: it was not promised yet, and nothing of it may stay.
    await killLeftOver(record.name);
    forgetStream(home, record.thread);
  }

  /** Only one that we began: its output goes through a pipe. Somebody else may have one of that name by now. */
  async function killLeftOver(name: string): Promise<void> {
    const session = (await listSessions(tmux)).find((one) => one.name === name);
    if (session === undefined) return;
    const { serverPid, pane } = session;
    const same = isPaneFormat({ serverPid, paneId: pane.id, panePid: pane.pid });
    const piped = `#{&&:${same},#{pane_pipe}}`;
    const said = await tmux.run(['display-message', '-p', '-t', pane.id, piped]);
    if (said.trim() === '1') await killSession(tmux, session);
  }

  function drop(thread: string): void {
    streams.delete(thread);
    forgetStream(home, thread);
    options.registry.forget(thread);
  }

  return {
    async recover() {
      for (const record of loadStreamRecords(home))
        if (record.server === options.server)
          await recoverOne(record).catch((error: Error) =>
            log.error('taking up a stream', { name: record.name, because: error.message }),
          );
    },
    of: (thread) => streams.get(thread),
    named: (name) => all().find((stream) => stream.record().name === name),
    all,
    begin: (wanted) => inTurn('begin', () => begin(wanted)),
    async end(stream) {
      const { thread } = stream.record();
      const summary =
        stream.kind === 'terminal' ? await stream.terminal.end() : await endAgent(stream.agent);
      drop(thread);
      return summary;
    },
    heard(data) {
      const message = messageSchema.safeParse(data).data;
      const stream = message === undefined ? undefined : streams.get(message.channel_id);
      if (message === undefined || stream?.kind !== 'terminal') return;
      stream.terminal.heard(message.content, message.author.id === options.botId);
    },
    async gone(thread) {
      const stream = streams.get(thread);
      if (stream === undefined) return;
      log.info('the thread of a stream was deleted', { name: stream.record().name });
      await (stream.kind === 'agent' ? stream.agent.end() : closed(stream));
      const { pane } = stream.record();
      // The program goes on as a session like any other; nobody reads its log any more.
      if (pane !== undefined) await closePipe(tmuxOn(tmux.host, pane.socket), pane).catch(() => {});
      drop(thread);
    },
    close: async () => void (await Promise.all(all().map(closed))),
  };
}

/** A terminal's program goes on in tmux; an agent's ends with us. */
function closed(stream: Stream): Promise<void> {
  return stream.kind === 'terminal' ? stream.terminal.close() : stream.agent.close();
}

async function endAgent(agent: Agent): Promise<string> {
  const worked = agent.state() === 'working';
  await agent.end();
  return worked ? 'It was ended while it worked.' : 'It was ended.';
}
