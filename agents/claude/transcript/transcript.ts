// Reads the last turn of a transcript: the prompts, and Claude's texts and tools since. It reads from the end, so the cost
// depends on the turn and not on the file. Lines of subagents and thinking are left out.

import { isDeepStrictEqual } from 'node:util';
import type { FileSource } from '../../../home/file-source.ts';
import { parseTranscriptEntry, type TranscriptEntry, toolLabel } from './entry.ts';
import { linesBackwards } from './transcript-file.ts';

export interface TranscriptTurn {
  /** The `prompt_id` in the hook inputs of this turn; older versions of Claude Code have none. */
  readonly promptId: string | undefined;
  /** All prompts that this turn answers: the first one, and those that were queued or typed meanwhile. */
  readonly prompts: readonly string[];
  readonly messages: readonly TranscriptMessage[];
  readonly tools: readonly TranscriptTool[];
  readonly state: 'running' | 'finished' | 'interrupted' | 'failed';
  /** Claude Code's message about an API error. */
  readonly failure: string | undefined;
  readonly durationMs: number | undefined;
  /** False if the turn is longer than the limit: its first texts and tools are missing. */
  readonly whole: boolean;
}

/** One message of the model; the transcript may have several lines for it, with one text each. */
interface TranscriptMessage {
  readonly id: string;
  readonly texts: readonly TranscriptText[];
}

export interface TranscriptText {
  /** Unique, and the same whenever the transcript is read. */
  readonly uuid: string;
  readonly text: string;
  /** Its place among the texts and tools of the turn. */
  readonly at: number;
  /** When it was written, by the clock of its host; 0 if unknown. */
  readonly writtenAt: number;
}

export interface TranscriptTool {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly input: unknown;
  /** Its place among the texts and tools of the turn. */
  readonly at: number;
  /** What went wrong, on one line; empty if nothing did. */
  readonly failure: string;
  /** Undefined while the tool runs or waits for permission. */
  readonly outcome: 'ok' | 'error' | undefined;
}

interface ReadTurnOptions {
  /** The turn to read, by default the last: a letter may be delivered after the next turn has begun. */
  readonly promptId?: string | undefined;
  /** How far back to read at most. */
  readonly maxBytes?: number;
  /** Where the transcript is; by default this machine. */
  readonly files?: FileSource | undefined;
}

const RESTARTS = 3;

export async function readTurn(path: string, options: ReadTurnOptions = {}): Promise<TranscriptTurn | undefined> {
  for (let tries = 0; ; tries++) {
    const search = startSearch(options.promptId);
    const end = await walkBack(path, options, (text) => {
      const entry = parseTranscriptEntry(text);
      return entry !== undefined && !entry.sidechain && search.take(entry);
    });
    if (end === 'shrunk' && tries < RESTARTS) continue;
    return search.turn(end !== 'too-far' && end !== 'shrunk');
  }
}

/** All texts of a turn, in order. */
export function textsOf(turn: TranscriptTurn | undefined): readonly TranscriptText[] {
  return (turn?.messages ?? []).flatMap(({ texts }) => texts);
}

/** The texts that Claude continued after: a tool or another text follows. */
export function textsBeforeMore(turn: TranscriptTurn): readonly TranscriptText[] {
  const texts = textsOf(turn);
  const end = Math.max(texts.at(-1)?.at ?? 0, turn.tools.at(-1)?.at ?? 0);
  return texts.filter(({ at }) => at < end);
}

/** How the tool use ended; undefined while it is open. It shows that a dialog was answered in the terminal. */
export async function toolAnswered(
  path: string,
  toolUseId: string,
  options: Pick<ReadTurnOptions, 'maxBytes' | 'files'> = {},
): Promise<'ok' | 'error' | undefined> {
  let answer: 'ok' | 'error' | undefined;
  await walkBack(path, options, (text) => {
    const entry = text.includes(toolUseId) ? parseTranscriptEntry(text) : undefined;
    if (entry?.kind === 'results') {
      const result = entry.results.find((each) => each.toolUseId === toolUseId);
      if (result !== undefined) answer = result.ok ? 'ok' : 'error';
    }
    // Stop at the tool use itself: its result can only come later.
    return answer !== undefined || (entry?.kind === 'said' && entry.tools.some((tool) => tool.id === toolUseId));
  });
  return answer;
}

/** The open tool use that a permission request is about; requests do not contain its id. */
export function openTool(turn: TranscriptTurn, name: string, input: unknown): TranscriptTool | undefined {
  // Hooks use the new name of the subagent tool, and the transcript keeps the name that the model used.
  const known = (each: string) => (each === 'Task' ? 'Agent' : each);
  return turn.tools.findLast(
    (tool) => tool.outcome === undefined && known(tool.name) === known(name) && isDeepStrictEqual(tool.input, input),
  );
}

/** Added to the length of each line: a hostile host could send millions of short ones. */
const LINE_COSTS = 1_000;

async function walkBack(
  path: string,
  { maxBytes = 64 * 1024 * 1024, files }: Pick<ReadTurnOptions, 'maxBytes' | 'files'>,
  isEnough: (text: string) => boolean,
): Promise<'enough' | 'start' | 'too-far' | 'shrunk'> {
  let read = 0;
  for await (const line of linesBackwards(path, { files })) {
    if (line.kind === 'shrunk') return 'shrunk';
    read += LINE_COSTS + (line.kind === 'line' ? line.text.length : line.bytes);
    if (line.kind === 'line' && isEnough(line.text)) return 'enough';
    if (read > maxBytes) return 'too-far';
  }
  return 'start';
}

/**
 * Collects one turn from entries that come newest first. User lines have the turn's id, and the lines after them belong to
 * the same turn. Several queued prompts become one turn with one id.
 */
function startSearch(wanted: string | undefined) {
  const turn: TranscriptEntry[] = [];
  let following: TranscriptEntry[] = [];
  let id: string | undefined;
  let sawPrompt = false;

  function belongs(promptId: string | undefined, entry: TranscriptEntry): boolean {
    const answered = following.some(({ kind }) => kind === 'said');
    if (turn.length > 0) {
      if (id !== undefined || promptId !== undefined) return promptId === id;
      return !sawPrompt || (entry.kind === 'prompt' && !answered);
    }
    if (wanted !== undefined && promptId !== undefined) return promptId === wanted;
    // A command that only printed something is not a turn.
    return answered || entry.kind === 'prompt' || entry.kind === 'results';
  }

  return {
    /** Returns true once the turn is complete. */
    take(entry: TranscriptEntry): boolean {
      if (entry.kind === 'interrupted' && turn.length > 0) return true;
      if (!('promptId' in entry)) {
        following.push(entry);
        return false;
      }
      const mine = belongs(entry.promptId, entry);
      if (!mine && turn.length > 0) return true;
      if (mine) {
        for (const one of [...following, entry]) turn.push(one); // not push(...): there may be too many for arguments
        id = entry.promptId;
        sawPrompt ||= entry.kind === 'prompt';
      }
      following = [];
      return false;
    },
    turn(whole: boolean): TranscriptTurn | undefined {
      // If the turn is too long to read completely, no user line may have been found.
      const found = turn.length > 0 || wanted !== undefined ? turn : following;
      return found.length === 0 ? undefined : assemble(found.toReversed(), id, whole);
    },
  };
}

function assemble(entries: readonly TranscriptEntry[], promptId: string | undefined, whole: boolean): TranscriptTurn {
  const messages = new Map<string, { id: string; texts: TranscriptMessage['texts'][number][] }>();
  const tools = new Map<string, TranscriptTool>();
  const prompts: string[] = [];
  let at = 0;
  let state: TranscriptTurn['state'] = 'running';
  let failure: string | undefined;
  let durationMs: number | undefined;
  for (const entry of uniqueOf(entries)) {
    if (entry.kind === 'said') {
      state = entry.failed ? 'failed' : entry.goesOn ? 'running' : 'finished';
      if (entry.failed) failure = entry.texts.join('\n');
      const texts = entry.failed ? [] : entry.texts.map((text, n) => textOf(entry, text, n, at++));
      const message = messages.get(entry.messageId) ?? { id: entry.messageId, texts: [] };
      for (const text of texts) message.texts.push(text);
      if (texts.length > 0) messages.set(entry.messageId, message);
      for (const { id, name, input } of entry.tools)
        tools.set(id, { id, name, label: toolLabel(name, input), input, at: at++, failure: '', outcome: undefined });
    } else if (entry.kind === 'results') {
      state = 'running';
      for (const { toolUseId, ok, failure } of entry.results) {
        const tool = tools.get(toolUseId);
        if (tool !== undefined) tools.set(toolUseId, { ...tool, failure, outcome: ok ? 'ok' : 'error' });
      }
    } else if (entry.kind === 'ended') {
      if (state === 'running') state = 'finished';
      durationMs = entry.durationMs;
    } else if (entry.kind === 'interrupted') {
      state = 'interrupted';
    } else if (entry.kind !== 'note') {
      state = 'running';
      prompts.push(entry.text);
    }
  }
  return {
    promptId,
    prompts,
    messages: [...messages.values()],
    tools: [...tools.values()],
    state,
    failure,
    durationMs,
    whole,
  };
}

/** One line may hold several texts. */
function textOf(line: SaidEntry, text: string, n: number, at: number): TranscriptText {
  const uuid = line.uuid || line.messageId;
  return { uuid: n === 0 ? uuid : `${uuid}.${n}`, text, at, writtenAt: line.writtenAt };
}

type SaidEntry = Extract<TranscriptEntry, { kind: 'said' }>;

/** The transcript of a resumed session may contain a line twice. */
function uniqueOf(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const seen = new Set<string>();
  return entries.filter(({ uuid }) => uuid === '' || (!seen.has(uuid) && seen.add(uuid)));
}
