// One turn of an agent, from a prompt to its end: what was read from its transcript, or collected from its reports. Pure.

import { isDeepStrictEqual } from 'node:util';
import type { FileSource } from '../home/file-source.ts';

export interface AgentTurn {
  /** The id that the events of this turn have; undefined if it is not known. */
  readonly promptId: string | undefined;
  /** All prompts that this turn answers: the first one, and those that were queued or typed meanwhile. */
  readonly prompts: readonly string[];
  readonly messages: readonly TurnMessage[];
  readonly tools: readonly TurnTool[];
  readonly state: 'running' | 'finished' | 'interrupted' | 'failed';
}

/** One message of the model, with one or several texts. */
export interface TurnMessage {
  readonly id: string;
  readonly texts: readonly TurnText[];
}

export interface TurnText {
  /** Unique, and the same whenever the turn is read. */
  readonly uuid: string;
  readonly text: string;
  /** Its place among the texts and tools of the turn. */
  readonly at: number;
  /** When it was written, by the clock of its host; 0 if unknown. */
  readonly writtenAt: number;
}

export interface TurnTool {
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

/** Reads turns from the transcripts of an agent. */
export interface TurnReader {
  /** `promptId`: the turn to read, by default the last. `files`: where the transcript is, by default this machine. */
  read(path: string, options: TurnPlace & { readonly promptId?: string | undefined }): Promise<AgentTurn | undefined>;
  /** How the tool use ended; undefined while it is open. It shows that a dialog was answered in the terminal. */
  toolAnswered(path: string, toolId: string, options: TurnPlace): Promise<'ok' | 'error' | undefined>;
  /** Waits until the transcript stops growing, at most some seconds. */
  settled(path: string, options: TurnPlace): Promise<unknown>;
}

interface TurnPlace {
  readonly files?: FileSource | undefined;
}

/** All texts of a turn, in order. */
export function textsOf(turn: AgentTurn | undefined): readonly TurnText[] {
  return (turn?.messages ?? []).flatMap(({ texts }) => texts);
}

/** The texts that the agent continued after: a tool or another text follows. */
export function textsBeforeMore(turn: AgentTurn): readonly TurnText[] {
  const texts = textsOf(turn);
  const end = Math.max(texts.at(-1)?.at ?? 0, turn.tools.at(-1)?.at ?? 0);
  return texts.filter(({ at }) => at < end);
}

/** The open tool use that a permission request is about; requests do not contain its id. */
export function openTool(turn: AgentTurn, name: string, input: unknown): TurnTool | undefined {
  // Hooks may use another name of the subagent tool than the model.
  const known = (each: string) => (each === 'Task' ? 'Agent' : each);
  return turn.tools.findLast(
    (tool) => tool.outcome === undefined && known(tool.name) === known(name) && isDeepStrictEqual(tool.input, input),
  );
}
