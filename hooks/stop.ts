// Stop: Claude has finished a reply. The last text is in the hook's input; earlier texts of the turn that were not posted yet
// are read from the transcript.

import { homedir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import type { StopInput } from '../agents/claude/hook-input.ts';
import { readTurn, type TranscriptMessage, type TranscriptTurn } from '../agents/claude/transcript/transcript.ts';
import { waitUntilSettled } from '../agents/claude/transcript/transcript-file.ts';
import { stableNonce } from '../core/snowflake.ts';
import type { FileEnd, HostFiles } from '../hosts/host-files.ts';
import type { CourierContext } from './courier-context.ts';
import { type EventOutcome, type EventReport, turnOf } from './events.ts';
import { type OutgoingFiles, takeOutgoingFiles, takeOutgoingRemoteFiles } from './outgoing-files.ts';
import type { MessageParts } from './post-parts.ts';

export async function handleStop(input: StopInput, report: EventReport): Promise<EventOutcome> {
  const { context, rest, letter } = report;
  // On another host, each of the two is a round trip unless it came with the letter.
  const [turn, footer] = await Promise.all([
    writtenTurn(input, context.files, letter.transcript),
    context.footer(input.session_id, letter.status),
  ]);
  const prompt = input.prompt_id ?? context.shown.turnOf(input.session_id);
  const reported = { last: input.last_assistant_message, prompt };
  const reply = replyOf(turn, reported, (id) => context.shown.has(input.session_id, id));
  const say = await saying(reply.texts.join('\n\n'), footer, input, report);
  return {
    state: 'idle',
    ...(say === undefined ? {} : { say }),
    async after() {
      context.shown.add(input.session_id, input.prompt_id ?? '', reply.ids);
      await context.progress.end(turnOf(report), rest, 'done');
      // Claude may have read a text that was typed meanwhile between two tools, without a hook for it.
      if (turn !== undefined) context.receipts.turnEnded(report.thread.thread, turn.prompts, report.letter);
    },
  };
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
    if (last === undefined || last.trim() === '' || endOf(turn, last) >= 0) return turn;
    if (turn === undefined || Date.now() > deadline) return turn;
  }
}

function textsOf(turn: TranscriptTurn | undefined): readonly TranscriptMessage['texts'][number][] {
  return (turn?.messages ?? []).flatMap(({ texts }) => texts);
}

function endOf(turn: TranscriptTurn | undefined, last: string): number {
  return textsOf(turn).findLastIndex(({ text }) => text.trim() === last.trim());
}

interface TurnReply {
  readonly texts: readonly string[];
  /** The ids of all texts up to here, to remember as shown. */
  readonly ids: readonly string[];
}

/**
 * The texts of a turn that were not shown yet, in order, up to the last text in the hook's input. The transcript may be longer
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
  const texts = until.filter(({ uuid, text }) => !isShown(uuid) && !isReported(text)).map(({ text }) => text);
  const ids = until.map(({ uuid }) => uuid);
  if (wanted === '' || end >= 0) return { texts, ids };
  // Hooks that are installed in two places report the same text twice.
  if (isReported(wanted)) return { texts, ids };
  const reported = prompt === '' ? [] : [unwritten(wanted, prompt)];
  return { texts: [...texts, wanted], ids: [...ids, ...reported] };
}

/** A substitute for the id of a text that is not in the transcript yet. */
function unwritten(text: string, prompt: string): string {
  return stableNonce('unwritten', prompt, text.trim());
}

async function attachedIn(
  text: string,
  project: string,
  cwd: string,
  { home, host, hosts, remote }: CourierContext,
): Promise<OutgoingFiles> {
  if (!hosts.isLocal(host.name)) {
    const there = await remote.home(host.name);
    return takeOutgoingRemoteFiles(text, { host, home: there, project, cwd });
  }
  const roots = [home.folder('files'), project];
  return takeOutgoingFiles(text, { roots, home: home.root, cwd, homeDir: homedir() });
}

async function saying(
  reply: string,
  footer: string,
  input: StopInput,
  { context, session, letter }: EventReport,
): Promise<MessageParts | undefined> {
  const text = stripBlocks(reply, context.config.strip, (pattern) =>
    context.log.warn('a pattern of "strip" took too long and was not applied', { pattern }),
  );
  if (text.trim() === '') return undefined;
  const attached = await attachedIn(text, letter.project || input.cwd, input.cwd, context);
  const refusals = attached.refused.map((why) => `📎 not attached: ${why}`);
  return {
    text: [attached.text.trim(), ...refusals].filter(Boolean).join('\n'),
    header: context.header(session, letter.project || input.cwd),
    footer,
    files: attached.files,
  };
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
