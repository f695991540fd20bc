// Turns a text into Discord messages: tables are aligned, the text is split at good places, and a text that needs too many
// messages is attached as a file.

import { splitMessage } from '../core/split.ts';
import { tablesToCode } from '../core/tables.ts';
import type { ComponentRow, MessageDraft } from '../discord/messages.ts';
import type { FileUpload } from '../discord/rest.ts';

export interface MessageParts {
  readonly text: string;
  /** A small line above: the host, project and session. */
  readonly header?: string;
  /** A small line below: model, context, cost. */
  readonly footer?: string;
  readonly files?: readonly FileUpload[];
  /** Shown below the last message. */
  readonly components?: readonly ComponentRow[];
  /** Posted without a notification. */
  readonly silent?: boolean;
}

/** A reply that needs more messages is attached as a file. */
const PARTS = 5;
/** Characters to format: far more than is shown of an attached reply. */
const FORMATTED = 60_000;
/** The approximate length of one message. */
const PART = 1_900;
const SMALL = 200;
/** Constant, so that a retry splits at the same places even if cost and context have changed. */
const ROOM = { header: SMALL + 4, footer: SMALL + 4 };

export function fitMessage(saying: MessageParts): readonly MessageDraft[] {
  const header = small(saying.header);
  const footer = small(saying.footer);
  const silent = saying.silent ?? false;
  // Format only the part that is shown: a reply may have megabytes.
  const isHuge = saying.text.length > FORMATTED;
  const all = splitMessage(tablesToCode(isHuge ? beginOf(saying.text) : saying.text), ROOM);
  const count = isHuge ? Math.ceil(saying.text.length / PART) : all.length;
  const parts = count > PARTS ? [...all.slice(0, PARTS - 1), longNote(count)] : [...all];
  if (parts.length === 0) {
    if (!saying.files?.length) return [];
    parts.push('');
  }
  parts[0] = joined(header, parts[0] ?? '');
  parts[parts.length - 1] = joined(parts.at(-1) ?? '', footer);
  const files = [...(saying.files ?? []), ...(count > PARTS ? [wholeReply(saying.text)] : [])];
  const isLast = (at: number) => at === parts.length - 1;
  return parts.map((content, at) => ({
    content,
    silent,
    ...(isLast(at) && saying.components !== undefined ? { components: saying.components } : {}),
    ...(isLast(at) && files.length > 0 ? { files } : {}),
  }));
}

function beginOf(text: string): string {
  const begin = text.slice(0, FORMATTED);
  return begin.slice(0, begin.lastIndexOf('\n') + 1 || begin.length);
}

function small(line: string | undefined): string {
  return line ? `-# ${line.replace(/\s+/g, ' ').slice(0, SMALL)}` : '';
}

function joined(...lines: readonly string[]): string {
  return lines.filter(Boolean).join('\n');
}

function longNote(parts: number): string {
  return `*… about ${parts - PARTS + 1} more messages. The whole reply is attached.*`;
}

function wholeReply(text: string): FileUpload {
  return { name: 'reply.md', data: new TextEncoder().encode(text) };
}
