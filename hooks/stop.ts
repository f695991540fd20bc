// Stop: Claude has finished a reply. Its last text is in the hook's input and notifies; earlier texts of the turn that were not
// posted yet are read from the transcript.

import { setTimeout as sleep } from 'node:timers/promises';
import { footer, type StopInput } from '../agents/claude/hook-input.ts';
import { readTurn, type TranscriptText, type TranscriptTurn, textsOf } from '../agents/claude/transcript/transcript.ts';
import { waitUntilSettled } from '../agents/claude/transcript/transcript-file.ts';
import { stableNonce } from '../core/snowflake.ts';
import type { FileEnd, HostFiles } from '../hosts/host-files.ts';
import { type EventOutcome, type EventReport, turnOf } from './events.ts';
import type { MessageParts } from './post-parts.ts';
import { postTexts, textId, textMessage } from './said.ts';

export async function handleStop(input: StopInput, report: EventReport): Promise<EventOutcome> {
  const { context, rest, letter } = report;
  const { shown, progress } = context;
  const key = turnOf(report);
  // On another host, each of the two is a round trip unless it came with the letter.
  const [turn, status] = await Promise.all([
    writtenTurn(input, context.files, letter.transcript),
    context.statusOf(input.session_id, letter.status),
    progress.stop(key),
  ]);
  const prompt = input.prompt_id ?? shown.turnOf(input.session_id);
  const reported = { last: input.last_assistant_message, prompt };
  const reply = replyOf(turn, reported, (id) => shown.has(input.session_id, id));
  await postTexts(report, reply.earlier);
  // Not awaited: requests to one thread keep their order, and the reply must not wait for the line above it.
  const summedUp = progress.end(key, rest, 'done', turn);
  const isNews = prompt !== '' && !shown.answered(input.session_id, prompt) && hasAny(turn);
  const say = await lastMessage(reply.last?.text ?? '', isNews, report);
  // A missing footer must not stop the reply.
  const below = status === undefined ? '' : footer(status, (seconds) => `<t:${Math.round(seconds)}:R>`);
  return {
    ...{ state: 'idle', status },
    ...(say === undefined
      ? {}
      : { say: { ...say, footer: below, header: context.header(report.session, report.directory) } }),
    ...(reply.last?.uuid === undefined ? {} : { id: textId(reply.last.uuid) }),
    async after() {
      shown.add(input.session_id, reply.ids, prompt);
      await summedUp;
      // Claude may have read a text that was typed meanwhile between two tools, without a hook for it.
      if (turn !== undefined) context.receipts.turnEnded(report.thread.thread, turn.prompts, report.letter);
    },
  };
}

/** A turn that ends in a tool has posted everything silently, but its end must notify. */
async function lastMessage(text: string, isNews: boolean, report: EventReport): Promise<MessageParts | undefined> {
  const said = await textMessage(report, text);
  return said ?? (text === '' && isNews ? { text: '✅ Done.' } : undefined);
}

function hasAny(turn: TranscriptTurn | undefined): boolean {
  return turn !== undefined && (turn.tools.length > 0 || turn.messages.length > 0);
}

const BEHIND_MS = 1_000;
const LOOK_MS = 20;

/** Claude Code writes the transcript with a delay: the earlier texts are complete only when the last text is in the file. */
async function writtenTurn(
  input: StopInput,
  source: HostFiles,
  brought: FileEnd | undefined,
): Promise<TranscriptTurn | undefined> {
  const { transcript_path: path, prompt_id: promptId, last_assistant_message: last } = input;
  const files = last === undefined ? source : source.knowing(path, brought);
  if (last === undefined) await waitUntilSettled(path, { files }); // older versions do not send the last text
  for (const deadline = Date.now() + BEHIND_MS; ; await sleep(LOOK_MS)) {
    const turn = await readTurn(path, { promptId, files });
    if (last === undefined || last.trim() === '' || isAtEnd(turn, last)) return turn;
    if (turn === undefined || Date.now() > deadline) return turn;
  }
}

/** Claude may have said the same before a tool: then the last text is not written yet. */
function isAtEnd(turn: TranscriptTurn | undefined, last: string): boolean {
  const found = textsOf(turn)[endOf(turn, last)];
  return found !== undefined && (turn?.tools.at(-1)?.at ?? 0) <= found.at;
}

function endOf(turn: TranscriptTurn | undefined, last: string): number {
  return textsOf(turn).findLastIndex(({ text }) => text.trim() === last.trim());
}

interface TurnReply {
  /** Texts before the last one that were not posted yet. */
  readonly earlier: readonly TranscriptText[];
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
  turn: TranscriptTurn | undefined,
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
