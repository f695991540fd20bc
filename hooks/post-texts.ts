// Posts what an agent wrote: each text once, in its order. The id of a text is the id of its message, so that it
// does not matter who posts it: the follower of the turn, a prompt or the end of the turn.

import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import type { AgentEvent, AskedEvent } from '../agents/event.ts';
import { driverOf } from '../agents/list.ts';
import {
  type AgentTurn,
  openTool,
  type TurnReader,
  type TurnText,
  type TurnTool,
  textsBeforeMore,
  textsOf,
} from '../agents/turn.ts';
import { isThreadmuxError } from '../core/errors.ts';
import { shortId } from '../core/snowflake.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { SessionPane } from '../threads/session-threads.ts';
import type { CourierContext } from './courier-context.ts';
import { type OutgoingFiles, takeOutgoingFiles, takeOutgoingRemoteFiles } from './outgoing-files.ts';
import { fitMessage, type MessageParts, postParts, withPosted } from './post-parts.ts';

/** A session of an agent, and the thread in which its texts are posted. */
export interface Speaker {
  readonly context: CourierContext;
  readonly session: SessionPane;
  readonly thread: ThreadRecord;
  readonly pane: string;
  /** The project, or the working directory. */
  readonly directory: string;
  readonly cwd: string;
  readonly claudeSession: string;
}

/** Silently, and only those that were not posted yet. */
export async function postTexts(speaker: Speaker, texts: readonly TurnText[]): Promise<void> {
  const { context, claudeSession, thread } = speaker;
  const { shown } = context;
  // Old ids are forgotten in a very long turn: whatever comes before a text that was posted was posted, too.
  const from = texts.findLastIndex(({ uuid }) => shown.has(claudeSession, uuid)) + 1;
  for (const { uuid, text, writtenAt } of texts.slice(from))
    await context.inTurn(thread.thread, async () => {
      if (shown.has(claudeSession, uuid)) return;
      const say = await textMessage(speaker, text);
      if (say !== undefined) await post(speaker, textId(uuid), writtenAt, { ...say, silent: true });
      shown.add(claudeSession, [uuid]);
    });
}

/** As the id of a letter: the nonces are made from it. */
export function textId(uuid: string): string {
  return `text ${shortId(uuid)}`;
}

/** A text in a report. The ids of an agent need not differ from one session to another. */
export function reportedText({ session }: AgentEvent, id: string, text: string, writtenAt: number): TurnText {
  return { uuid: `${session} ${id}`, text, at: 0, writtenAt };
}

/** Posts into the session's thread, or into a new one if it was deleted. Only inside `inTurn` of the thread. */
export async function post(speaker: Speaker, id: string, since: number, say: MessageParts): Promise<void> {
  const { context, session, thread, pane, directory } = speaker;
  const { threads } = context;
  const connection = threads.connections.named(thread.server);
  if (connection === undefined) return;
  const place = await connection.place(thread.channel);
  await postParts(fitMessage(say), {
    rest: connection.rest,
    botId: place.botId,
    letter: id,
    pane,
    since,
    thread: async (gone) => {
      const again = gone === undefined ? {} : { gone };
      return (await threads.ensure(session, { directory, shell: 'no', ...again })) ?? thread;
    },
    onPosted(posted) {
      const record = threads.registry.ofSession(session.host, session);
      if (record !== undefined)
        threads.registry.change(record.thread, {
          ...withPosted(record, posted),
          archived: 'no', // posting has reopened it
        });
    },
  });
}

/** Undefined if nothing is left of the text. */
export async function textMessage(speaker: Speaker, said: string): Promise<MessageParts | undefined> {
  const { context } = speaker;
  const text = stripBlocks(said, context.config.strip, (pattern) =>
    context.log.warn('a pattern of "strip" took too long and was not applied', { pattern }),
  );
  if (text.trim() === '') return undefined;
  const attached = await attachedIn(text, speaker);
  const refusals = attached.refused.map((why) => `📎 not attached: ${why}`);
  return { text: [attached.text.trim(), ...refusals].filter(Boolean).join('\n'), files: attached.files };
}

/** Files of the session's project; the same rules as for those in a reply. */
export function filesAt(paths: readonly string[], speaker: Speaker): Promise<Pick<OutgoingFiles, 'files' | 'refused'>> {
  return attachedIn(paths.map((path) => `[ATTACH: ${path}]`).join('\n'), speaker);
}

async function attachedIn(text: string, { context, directory: project, cwd }: Speaker): Promise<OutgoingFiles> {
  const { home, host, hosts, remote } = context;
  if (!hosts.isLocal(host.name)) {
    const there = await remote.home(host.name);
    return takeOutgoingRemoteFiles(text, { host, home: there, project, cwd });
  }
  const roots = [home.folder('files'), project];
  return takeOutgoingFiles(text, { roots, home: home.root, cwd, homeDir: homedir() });
}

// An agent may ask before it has written down what it said: a person needs that text to decide.

const WRITTEN_WITHIN_MS = 1_000;
const LOOK_MS = 25;
/** Each look is a round trip. */
const REMOTE_LOOK_MS = 150;
/** If the prompt is older, the agent may already have continued. */
const FRESH_MS = 10_000;

/** Posts what the agent said before it asked. A failure to read it never prevents the prompt. */
export function postTextsBefore(
  { transcript, turn: promptId, tool: name, input, subagent }: AskedEvent,
  { agent, writtenAt }: { readonly agent: string; readonly writtenAt: number },
  speaker: Speaker,
): Promise<void> {
  const isOwn = subagent === undefined;
  return postBeforeTool({ agent, transcript, since: writtenAt }, speaker, {
    promptId,
    toolIn: (turn) => openTool(turn, name, input) ?? lastOpenTool(turn, name),
    // The tool of a subagent is in another transcript.
    mayCome: isOwn,
    without: (turn, isFresh) => (isFresh && isOwn ? textsOf(turn) : textsBeforeMore(turn)),
  });
}

/** Posts what the agent said before the tool that runs now. */
export function postTextsSoFar(
  { agent, transcript }: { readonly agent: string; readonly transcript: string },
  since: number,
  speaker: Speaker,
): Promise<void> {
  return postBeforeTool({ agent, transcript, since }, speaker, {
    toolIn: ({ tools }) => tools.findLast(({ outcome }) => outcome === undefined),
    mayCome: true,
    without: textsBeforeMore,
  });
}

interface AwaitedTool {
  readonly promptId?: string | undefined;
  readonly toolIn: (turn: AgentTurn) => TurnTool | undefined;
  /** It is waited for if it is not written yet. */
  readonly mayCome: boolean;
  /** The texts if the tool does not come. */
  readonly without: (turn: AgentTurn, isFresh: boolean) => readonly TurnText[];
}

async function postBeforeTool(
  { agent, transcript, since }: { readonly agent: string; readonly transcript: string; readonly since: number },
  speaker: Speaker,
  awaited: AwaitedTool,
): Promise<void> {
  const { turns } = driverOf(agent);
  if (turns === undefined || transcript === '') return; // it has reported them
  const { log } = speaker.context;
  const isFresh = Date.now() - since < FRESH_MS;
  const texts = await textsBefore(transcript, turns, isFresh, speaker.context, awaited).catch((error: Error) => {
    log.info('reading what was said before', { because: error.message });
    return [];
  });
  await postTexts(speaker, texts).catch((error: unknown) => {
    if (!isThreadmuxError(error, 'discord_refused')) throw error;
    log.warn('posting what was said before', { because: error.message });
  });
}

async function textsBefore(
  transcript: string,
  turns: TurnReader,
  isFresh: boolean,
  { files, host, hosts }: CourierContext,
  { promptId, toolIn, mayCome, without }: AwaitedTool,
): Promise<readonly TurnText[]> {
  const pauseMs = hosts.isLocal(host.name) ? LOOK_MS : REMOTE_LOOK_MS;
  for (const deadline = Date.now() + WRITTEN_WITHIN_MS; ; await sleep(pauseMs)) {
    const turn = await turns.read(transcript, { promptId, files });
    const tool = turn && toolIn(turn);
    if (tool !== undefined) return textsOf(turn).filter(({ at }) => at < tool.at);
    // An answered tool is not open any more.
    if (!mayCome || !isFresh || Date.now() > deadline) return turn === undefined ? [] : without(turn, isFresh);
  }
}

/** Claude Code may ask with another input than the model gave: with the file of a plan, for example. */
function lastOpenTool({ tools }: AgentTurn, name: string): TurnTool | undefined {
  const last = tools.at(-1);
  return last?.name === name && last.outcome === undefined ? last : undefined;
}

// Removes parts of replies that match the user's "strip" patterns, such as a repeated header or a signature.

/** The text is not trusted, and may make a pattern slow: a pattern that takes longer than this is not applied. */
const LONGEST_MS = 1_000;

export function stripBlocks(
  text: string,
  patterns: readonly string[],
  onSlow: (pattern: string) => void = () => {},
): string {
  const stripped = patterns.reduce((rest, pattern) => {
    try {
      return without(rest, pattern);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      onSlow(pattern);
      return rest;
    }
  }, text);
  return stripped === text ? text : stripped.replace(/\n{3,}/g, '\n\n').trim();
}

/** Only the running time of a script can be limited; pattern and text are passed as data. */
function without(text: string, pattern: string): string {
  const script = "text.replace(new RegExp(pattern, 'gmu'), '')";
  return String(runInNewContext(script, { text, pattern }, { timeout: LONGEST_MS }));
}
