// Translates what a Codex app server tells about a conversation into our events. Pure.

import type { AgentEvent, EventOf } from '../../event.ts';
import type { ServerItem, ServerTurn } from './server-messages.ts';

/** The conversation that an event belongs to. */
export interface EventBase {
  readonly session: string;
  readonly cwd: string;
  readonly transcript: '';
  readonly subagent?: string;
}

/** An item begins: a prompt was taken, or a tool runs. */
export function startedItem(base: EventBase, turn: string, item: ServerItem): AgentEvent | undefined {
  const at = { ...base, turn };
  if (item.type === 'userMessage') return { ...at, event: 'submitted', prompt: promptOf(item) };
  const used = toolOf(item);
  return used === undefined ? undefined : { ...at, event: 'tool', ...used };
}

/** An item is complete: a text can be posted. Ids of items are unique in their turn only. */
export function completedItem(base: EventBase, turn: string, item: ServerItem): EventOf<'said'> | undefined {
  if (item.type !== 'agentMessage' && item.type !== 'plan') return undefined;
  const text = typeof item.text === 'string' ? item.text : '';
  return text.trim() === '' ? undefined : { ...base, turn, event: 'said', id: `${turn}/${item.id}`, text };
}

/** The turn is over, in every case. `last`: its last text, if that was not reported yet. */
export function endedTurn(
  base: EventBase,
  turn: ServerTurn,
  last: { readonly id: string; readonly text: string } | undefined,
): AgentEvent | undefined {
  const at = { ...base, turn: turn.id };
  const reply = last === undefined ? {} : { id: last.id, text: last.text };
  switch (turn.status) {
    case 'completed':
      return { ...at, event: 'idle', interrupted: false, ...reply };
    case 'interrupted':
      return { ...at, event: 'idle', interrupted: true, ...reply };
    case 'failed': {
      const details = turn.error?.additionalDetails;
      const error = turn.error?.message ?? 'The turn failed.';
      return { ...at, event: 'failed', error, ...(details ? { details } : {}) };
    }
    case 'inProgress':
      return undefined;
  }
}

function promptOf(item: ServerItem): string {
  const parts: readonly unknown[] = Array.isArray(item.content) ? item.content : [];
  return parts.flatMap((part) => (isRecord(part) && typeof part.text === 'string' ? [part.text] : [])).join('\n');
}

function toolOf(item: ServerItem): { readonly name: string; readonly input: Record<string, unknown> } | undefined {
  switch (item.type) {
    case 'commandExecution':
      // A command that the user ran with `!` is not the agent's.
      return item.source === 'agent' ? { name: 'Bash', input: { command: shellCommand(item.command) } } : undefined;
    case 'fileChange': {
      const [first] = changesOf(item);
      return { name: 'Edit', input: first === undefined ? {} : { file_path: first.path } };
    }
    case 'mcpToolCall':
      return { name: `${textOr(item.server)}.${textOr(item.tool)}`, input: {} };
    case 'webSearch':
      return { name: 'WebSearch', input: { query: textOr(item.query) } };
    default:
      return undefined;
  }
}

export interface PatchedFile {
  readonly path: string;
  readonly kind: string;
  readonly movedTo: string | undefined;
  /** The whole content of a file that is added or deleted, otherwise a unified diff. */
  readonly diff: string;
}

/** The changes of an item of the type `fileChange`; empty if one of them cannot be read, because then not all could be shown. */
export function changesOf(item: ServerItem): readonly PatchedFile[] {
  const given: readonly unknown[] = Array.isArray(item.changes) ? item.changes : [];
  const read = given.map((one): PatchedFile | undefined => {
    if (!isRecord(one) || !isRecord(one.kind)) return undefined;
    const { path, diff, kind } = one;
    if (typeof path !== 'string' || typeof diff !== 'string' || typeof kind.type !== 'string') return undefined;
    return { path, diff, kind: kind.type, movedTo: typeof kind.move_path === 'string' ? kind.move_path : undefined };
  });
  return read.every((one) => one !== undefined) ? read : [];
}

/**
 * Codex runs everything as `bash -lc '…'`. Only a text without quotes inside is taken out, because then it is exact. The model may name
 * another shell: one that is not the system's own is shown, because it may be any program.
 */
export function shellCommand(command: unknown): string {
  const text = textOr(command);
  return /^(?:\/usr)?\/bin\/(?:ba|z|da|)sh -lc '([^']*)'$/.exec(text)?.[1] ?? text;
}

function textOr(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
