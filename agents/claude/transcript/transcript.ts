// Reads the last turn of a transcript: the prompts, and Claude's texts and tools since. It reads from the end, so the cost
// depends on the turn and not on the file. Lines of subagents and thinking are left out.

import type { FileSource } from '../../../home/file-source.ts';
import { toolLabel } from '../../tool-label.ts';
import type { AgentTurn, TurnMessage, TurnText, TurnTool } from '../../turn.ts';
import { parseTranscriptEntry, type TranscriptEntry } from './entry.ts';
import { linesBackwards } from './transcript-file.ts';

interface ReadTurnOptions {
  /** The turn to read, by default the last: a letter may be delivered after the next turn has begun. */
  readonly promptId?: string | undefined;
  /** How far back to read at most. */
  readonly maxBytes?: number;
  /** Where the transcript is; by default this machine. */
  readonly files?: FileSource | undefined;
}

const RESTARTS = 3;

export async function readTurn(path: string, options: ReadTurnOptions = {}): Promise<AgentTurn | undefined> {
  for (let tries = 0; ; tries++) {
    const search = startSearch(options.promptId);
    let room = MOST_BLOCKS;
    const end = await walkBack(path, options, (text) => {
      const entry = parseTranscriptEntry(text);
      if (entry === undefined || entry.sidechain) return false;
      room -= blocksIn(entry);
      return room < 0 || search.take(entry);
    });
    if (end === 'shrunk' && tries < RESTARTS) continue;
    return search.turn(end === 'start');
  }
}

/** Texts, tools and results of one turn that are read at most: one line can have many thousands, and each text is compared and posted. */
const MOST_BLOCKS = 50_000;
/** So many characters of a prompt count as much as a text: prompts are compared word by word. */
const PROMPT_PART = 200;

function blocksIn(entry: TranscriptEntry): number {
  if (entry.kind === 'said') return entry.texts.length + entry.tools.length;
  if ('text' in entry) return Math.ceil(entry.text.length / PROMPT_PART);
  return entry.kind === 'results' ? entry.results.length : 0;
}

/** How the tool use ended; undefined while it is open. It shows that a dialog was answered in the terminal. */
export async function toolAnswered(
  path: string,
  toolUseId: string,
  options: Pick<ReadTurnOptions, 'maxBytes' | 'files'> = {},
): Promise<'ok' | 'error' | undefined> {
  let answer: 'ok' | 'error' | undefined;
  // Only its beginning: to look for a long text takes its length times that of the line, and the host has chosen both.
  const begin = toolUseId.slice(0, 40);
  await walkBack(path, options, (text) => {
    const entry = text.includes(begin) ? parseTranscriptEntry(text) : undefined;
    if (entry?.kind === 'results') {
      const result = entry.results.find((each) => each.toolUseId === toolUseId);
      if (result !== undefined) answer = result.ok ? 'ok' : 'error';
    }
    // Stop at the tool use itself: its result can only come later.
    return answer !== undefined || (entry?.kind === 'said' && entry.tools.some((tool) => tool.id === toolUseId));
  });
  return answer;
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
    turn(fromStart: boolean): AgentTurn | undefined {
      const early = fromStart ? following.filter(({ kind }) => kind === 'said') : [];
      if (turn.length > 0 && early.length > 0) return assemble(withEarly(turn.toReversed(), early.toReversed()), id);
      // If the turn is too long to read completely, no user line may have been found.
      const found = turn.length > 0 || wanted !== undefined ? turn : following;
      return found.length === 0 ? undefined : assemble(found.toReversed(), id);
    },
  };
}

/** Claude Code may write the first reply of a new file before the prompt. Both in the order of time. */
function withEarly(turn: readonly TranscriptEntry[], early: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const after = turn.findIndex(({ kind }) => kind !== 'prompt' && kind !== 'command' && kind !== 'note');
  const at = after < 0 ? turn.length : after;
  return [...turn.slice(0, at), ...early, ...turn.slice(at)];
}

function assemble(entries: readonly TranscriptEntry[], promptId: string | undefined): AgentTurn {
  const messages = new Map<string, { id: string; texts: TurnMessage['texts'][number][] }>();
  const tools = new Map<string, TurnTool>();
  const prompts: string[] = [];
  let at = 0;
  let state: AgentTurn['state'] = 'running';
  for (const entry of uniqueOf(entries)) {
    if (entry.kind === 'said') {
      state = entry.failed ? 'failed' : entry.goesOn ? 'running' : 'finished';
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
    } else if (entry.kind === 'interrupted') {
      state = 'interrupted';
    } else if (entry.kind !== 'note') {
      state = 'running';
      prompts.push(entry.text);
    }
  }
  return { promptId, prompts, messages: [...messages.values()], tools: [...tools.values()], state };
}

/** One line may hold several texts. */
function textOf(line: SaidEntry, text: string, n: number, at: number): TurnText {
  const uuid = line.uuid || line.messageId;
  return { uuid: n === 0 ? uuid : `${uuid}.${n}`, text, at, writtenAt: line.writtenAt };
}

type SaidEntry = Extract<TranscriptEntry, { kind: 'said' }>;

/** The transcript of a resumed session may contain a line twice. */
function uniqueOf(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const seen = new Set<string>();
  return entries.filter(({ uuid }) => uuid === '' || (!seen.has(uuid) && seen.add(uuid)));
}
