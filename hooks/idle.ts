// The agent has finished a turn. Its last text is in the report and notifies; earlier texts of the turn that were not posted yet
// are read from the transcript, if it has one.

import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventOf } from '../agents/event.ts';
import { footer } from '../agents/status-line.ts';
import { type AgentTurn, type TurnReader, type TurnText, textsOf } from '../agents/turn.ts';
import { stableNonce } from '../core/snowflake.ts';
import { untrustedText } from '../core/untrusted-text.ts';
import type { FileEnd, HostFiles } from '../hosts/host-files.ts';
import { type EventOutcome, type EventReport, turnOf } from './events.ts';
import type { MessageParts } from './post-parts.ts';
import { postTexts, reportedText, textId, textMessage } from './post-texts.ts';

export async function handleIdle(event: EventOf<'idle'>, report: EventReport): Promise<EventOutcome> {
  const { context, rest, letter } = report;
  const { shown, progress } = context;
  if (event.late && shown.answered(event.session, event.turn ?? '')) return { state: 'idle' };
  const key = turnOf(report);
  // On another host, each of the two is a round trip unless it came with the letter.
  const [{ turn, last }, status] = await Promise.all([
    endedTurn(event, report),
    context.statusOf(event.session, letter.status),
    progress.stop(key),
  ]);
  const prompt = event.turn ?? shown.turnOf(event.session);
  const reply = replyOf(turn, { last, prompt }, (id) => shown.has(event.session, id));
  await postTexts(report, reply.earlier);
  // Not awaited: requests to one thread keep their order, and the reply must not wait for the line above it.
  const summedUp = progress.end(key, rest, event.interrupted ? 'interrupted' : 'done', turn);
  const isNews = prompt !== '' && !shown.answered(event.session, prompt) && hasAny(turn, report) && !event.interrupted;
  const say = await lastMessage(reply.last?.text ?? '', isNews, report);
  // A missing footer must not stop the reply.
  const below = status === undefined ? '' : footer(status);
  return {
    state: 'idle',
    status,
    ...(say === undefined ? {} : { say: { ...say, footer: below, header: headerOf(report) } }),
    ...(reply.last?.uuid === undefined ? {} : { id: textId(reply.last.uuid) }),
    async after() {
      shown.add(event.session, reply.ids, prompt);
      await summedUp;
      context.reported.drop(key);
      // The agent may have read a text that was typed meanwhile between two tools, without a hook for it.
      if (turn !== undefined) context.receipts.turnEnded(report.thread.thread, turn.prompts, report.letter);
    },
  };
}

function headerOf({ session: { host, group, sessionName }, directory }: EventReport): string {
  return [host, untrustedText(basename(directory)), untrustedText(group ?? sessionName)].join(' · ');
}

/** A turn that ends in a tool has posted everything silently, but its end must notify. */
async function lastMessage(text: string, isNews: boolean, report: EventReport): Promise<MessageParts | undefined> {
  const said = await textMessage(report, text);
  return said ?? (text === '' && isNews ? { text: '✅ Done.' } : undefined);
}

/** Of a turn without a transcript, a restart may have forgotten what there was. */
function hasAny(turn: AgentTurn | undefined, { driver }: EventReport): boolean {
  return driver.turns === undefined || (turn !== undefined && (turn.tools.length > 0 || turn.messages.length > 0));
}

/** `last`: the last text, if the turn may not have it yet. */
async function endedTurn(event: EventOf<'idle'>, report: EventReport) {
  const { driver, context, letter } = report;
  if (driver.turns !== undefined && event.transcript !== '')
    return { turn: await writtenTurn(event, driver.turns, context.files, letter.transcript), last: event.text };
  const turn = context.reported.of(turnOf(report));
  if ((event.text ?? '').trim() === '') return { turn, last: undefined };
  const text = reportedText(event, event.id ?? letter.id, event.text ?? '', letter.writtenAt);
  return { turn: { ...turn, messages: [...turn.messages, { id: text.uuid, texts: [text] }] }, last: undefined };
}

const BEHIND_MS = 1_000;
const LOOK_MS = 20;

/** Claude Code writes the transcript with a delay: the earlier texts are complete only when the last text is in the file. */
async function writtenTurn(
  { transcript: path, turn: promptId, text: last }: EventOf<'idle'>,
  turns: TurnReader,
  source: HostFiles,
  brought: FileEnd | undefined,
): Promise<AgentTurn | undefined> {
  const files = last === undefined ? source : source.knowing(path, brought);
  if (last === undefined) await turns.settled(path, { files }); // older versions do not send the last text
  for (const deadline = Date.now() + BEHIND_MS; ; await sleep(LOOK_MS)) {
    const turn = await turns.read(path, { promptId, files });
    if (last === undefined || last.trim() === '' || isAtEnd(turn, last)) return turn;
    if (Date.now() > deadline) return turn;
  }
}

/** The agent may have said the same before a tool: then the last text is not written yet. */
function isAtEnd(turn: AgentTurn | undefined, last: string): boolean {
  const found = textsOf(turn)[endOf(turn, last)];
  return found !== undefined && (turn?.tools.at(-1)?.at ?? 0) <= found.at;
}

function endOf(turn: AgentTurn | undefined, last: string): number {
  const wanted = last.trim();
  return textsOf(turn).findLastIndex(({ text }) => text.trim() === wanted);
}

interface TurnReply {
  /** Texts before the last one that were not posted yet. */
  readonly earlier: readonly TurnText[];
  /** Undefined if it was posted before; without `uuid` if it is not in the transcript yet. */
  readonly last?: { readonly text: string; readonly uuid?: string };
  /** The ids of all texts up to here, to remember as posted. */
  readonly ids: readonly string[];
}

/**
 * The texts of a turn that were not posted yet, in order, up to the last text in the hook's input. The transcript may be longer
 * by now, or not contain that text yet; this way every attempt to deliver a letter posts the same texts.
 */
function replyOf(
  turn: AgentTurn | undefined,
  { last = '', prompt }: { readonly last?: string | undefined; readonly prompt: string },
  isShown: (id: string) => boolean,
): TurnReply {
  const all = textsOf(turn);
  const wanted = last.trim();
  const end = endOf(turn, last);
  const until = end < 0 ? all : all.slice(0, end + 1);
  const isReported = (text: string) => prompt !== '' && isShown(unwritten(text, prompt));
  const left = until
    .slice(until.findLastIndex(({ uuid }) => isShown(uuid)) + 1)
    .filter(({ text }) => !isReported(text));
  const ids = until.map(({ uuid }) => uuid);
  if (wanted === '' || end >= 0) {
    const final = left.at(-1) === until.at(-1) ? left.at(-1) : undefined;
    return { earlier: final === undefined ? left : left.slice(0, -1), ids, ...(final && { last: final }) };
  }
  // Hooks that are installed in two places report the same text twice.
  if (isReported(wanted)) return { earlier: left, ids };
  const reported = prompt === '' ? [] : [unwritten(wanted, prompt)];
  return { earlier: left, last: { text: wanted }, ids: [...ids, ...reported] };
}

/** A substitute for the id of a text that is not in the transcript yet. */
function unwritten(text: string, prompt: string): string {
  return stableNonce('unwritten', prompt, text.trim());
}
