// A turn of OpenCode, and its last text, which is held back until it is clear whether it is the last one. Runs inside OpenCode.

import type { Fields } from '../loose-fields.ts';

export const LONGEST_TEXT = 2 ** 20;

interface OpencodeCall {
  /** The id that the provider gave. It may give the same one again. */
  readonly id: string;
  readonly message: string;
  readonly tool: string;
  readonly input: Fields;
}

export interface OpencodeTurn {
  /** The last complete text, not reported yet. */
  held: { readonly id: string; readonly text: string } | undefined;
  /** The text that is being written. */
  open: { readonly id: string; readonly text: string } | undefined;
  error: Fields | undefined;
  /** The model failed, and OpenCode waits before it tries again. An interruption then is not reported as an error. */
  waits: boolean;
  /** Messages of the assistant, except summaries. */
  readonly messages: Set<string>;
  /** What was reported of each text, by the id of its part. */
  readonly texts: Map<string, string>;
  /** By the ids of their part and call. */
  readonly calls: Map<string, OpencodeCall>;
}

export const newTurn = (): OpencodeTurn => ({
  held: undefined,
  open: undefined,
  error: undefined,
  waits: false,
  messages: new Set<string>(),
  texts: new Map(),
  calls: new Map(),
});

/** The call that a request is about; undefined if several could be meant, because another one must never be shown in its place. */
export function callOf(turn: OpencodeTurn | undefined, id: string, message: string): OpencodeCall | undefined {
  const calls = [...(turn?.calls.values() ?? [])].filter(
    (one) => one.id === id && (message === '' || one.message === message),
  );
  return calls.length === 1 ? calls[0] : undefined;
}

type HeldText = NonNullable<OpencodeTurn['held']>;

/** What was not reported of this text. */
export function newPart({ texts }: OpencodeTurn, { id, text }: HeldText): string {
  return text.slice(texts.get(id)?.length ?? 0).trim();
}

export function hold(turn: OpencodeTurn, written: HeldText | undefined): void {
  const text = written === undefined ? '' : newPart(turn, written);
  if (written === undefined || text === '') return;
  const before = turn.texts.get(written.id);
  turn.texts.set(written.id, written.text);
  turn.held = { id: before === undefined ? written.id : `${written.id}.${before.length}`, text };
}
