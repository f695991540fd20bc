// Makes what there is to say fit into Discord messages: tables aligned, split at good places, and
// what is too long for a handful of messages attached whole.

import { splitMessage } from '../core/split.ts';
import { tablesToCode } from '../core/tables.ts';
import type { Draft, Row } from '../discord/messages.ts';
import type { Upload } from '../discord/rest.ts';

export interface Saying {
  readonly text: string;
  /** A small line above: where this comes from. */
  readonly header?: string;
  /** A small line below: model, context, cost. */
  readonly footer?: string;
  readonly files?: readonly Upload[];
  /** Under the last message. */
  readonly components?: readonly Row[];
  /** Posted without a notification. */
  readonly silent?: boolean;
}

/** Past so many messages the whole reply comes as a file. */
const PARTS = 5;
/** Far more than is shown of a reply that is attached whole. */
const FORMATTED = 60_000;
/** About what one message holds. */
const PART = 1_900;
const SMALL = 200;
/** Always the same, so that a retry cuts where the first attempt did although cost and context have changed. */
const ROOM = { header: SMALL + 4, footer: SMALL + 4 };

export function fit(saying: Saying): readonly Draft[] {
  const header = small(saying.header);
  const footer = small(saying.footer);
  const silent = saying.silent ?? false;
  // Only what is shown is formatted: a reply may have megabytes.
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
  return `*… ${parts - PARTS + 1} more messages’ worth. The whole reply is attached.*`;
}

function wholeReply(text: string): Upload {
  return { name: 'reply.md', data: new TextEncoder().encode(text) };
}
