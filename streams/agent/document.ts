// How a turn of a headless agent looks in its thread: what the agent says and does, in order, and one line about how it ended.
// Pure. What does not fit into a few messages is attached as a file, so nothing is lost.

import type { HeadlessEvent, HeadlessResult } from '../../agents/headless.ts';
import { formatDuration } from '../../core/duration.ts';
import { tablesToCode } from '../../core/markdown-tables.ts';
import { maskSecrets } from '../../core/mask-secrets.ts';
import { closeLine, type Fence, fenceAfter, splitMessage } from '../../core/split.ts';
import { untrustedLine, untrustedText } from '../../core/untrusted-text.ts';
import type { FileUpload } from '../../discord/rest.ts';
import { screenBlock } from '../../threads/notices.ts';
import type { StreamPart } from '../post-stream.ts';

interface TurnDocument {
  readonly last: LinkedBlock | undefined;
  /** Text that is still being written and may be withdrawn. */
  readonly draft: string;
  /** Of all blocks. */
  readonly length: number;
}

type Block =
  | { readonly kind: 'text' | 'line'; readonly text: string }
  /** Someone else's message is here: what follows starts a new message. */
  | { readonly kind: 'break' };

/** A list that grows at its end without being copied: a turn may have thousands. */
interface LinkedBlock {
  readonly block: Block;
  readonly before: LinkedBlock | undefined;
  /** Of the list up to this one. */
  readonly count: number;
}

export const EMPTY_DOCUMENT: TurnDocument = { last: undefined, draft: '', length: 0 };

/** As much as the files can have; another host must not fill our memory. */
const MOST_TEXT = 16_000_000;
const MOST_BLOCKS = 20_000;
const TOO_MUCH = '-# ✘ Too much output: the rest of this turn is not shown.';

/** The most messages per turn; the rest is in the file. */
const PARTS = 20;
const SHOWN = PARTS * 2_000;
/** Only this much is formatted: to format all tables of a long turn takes minutes, and it is done every second. */
const FORMATTED = SHOWN + 4_000;
const LONGEST_LINE = 180;

export function withEvent(document: TurnDocument, event: HeadlessEvent): TurnDocument {
  switch (event.kind) {
    case 'begin':
      return { ...document, draft: '' };
    case 'delta':
      return document.draft.length > MOST_TEXT ? document : { ...document, draft: document.draft + event.text };
    case 'text':
      return withBlock(document, { kind: 'text', text: event.text });
    case 'tool':
      return withBlock(document, { kind: 'line', text: `-# 🔧 ${untrustedLine(event.label, LONGEST_LINE)}` });
    case 'tool failed':
      return withBlock(document, { kind: 'line', text: `-# ✘ ${untrustedLine(failureOf(event.text), LONGEST_LINE)}` });
    case 'answered':
      return withBlock(document, { kind: 'break' });
    default:
      return document;
  }
}

function withBlock(document: TurnDocument, block: Block): TurnDocument {
  const { last, length } = document;
  const count = last?.count ?? 0;
  const size = block.kind === 'break' ? 0 : block.text.length;
  const isNothing = block.kind !== 'break' && block.text.trim() === '';
  if (isNothing || count > MOST_BLOCKS || length > MOST_TEXT) return { ...document, draft: '' };
  const isTooMuch = count === MOST_BLOCKS || length + size > MOST_TEXT;
  const kept: Block = isTooMuch ? { kind: 'line', text: TOO_MUCH } : block;
  const added = { block: kept, before: last, count: count + 1 };
  return { last: added, draft: '', length: isTooMuch ? MOST_TEXT + 1 : length + size };
}

function blocksOf({ last, draft }: TurnDocument): readonly Block[] {
  const newest: Block[] = draft === '' ? [] : [{ kind: 'text', text: draft }];
  for (let one = last; one !== undefined; one = one.before) newest.push(one.block);
  return newest.reverse();
}

function failureOf(text: string): string {
  return text.replace(/<\/?tool_use_error>/g, '').trim() || 'it failed';
}

/** `ended`: nothing more will come, and what did not fit is attached. */
export function partsOf(document: TurnDocument, ended: boolean): readonly StreamPart[] {
  const { segments, isWhole } = segmentsOf(document, FORMATTED, closed);
  const parts = partsUpTo(segments, FORMATTED).map((content) => ({ content }));
  if (parts.length <= PARTS && isWhole) return parts;
  const shown = parts.slice(0, PARTS - 1);
  const length = document.length + document.draft.length;
  const more = length - shown.reduce((sum, { content }) => sum + content.length, 0);
  const rest = `*… ${Math.max(more, 1).toLocaleString('en')} more characters`;
  if (!ended) return [...shown, { content: `${rest} so far; all of it is attached at the end.*` }];
  const all = segmentsOf(document, Number.POSITIVE_INFINITY, (text) => text);
  return [...shown, { content: `${rest}. All of it is attached.*`, files: filesOf(all.segments) }];
}

interface Segments {
  /** Separate texts, in order, with someone else's message between each two. */
  readonly segments: readonly string[];
  readonly isWhole: boolean;
}

/** Of the first `most` characters. */
function segmentsOf(document: TurnDocument, most: number, format: (text: string) => string): Segments {
  const texts: string[] = [];
  let text = '';
  let before: Block | undefined;
  let room = most;
  for (const block of blocksOf(document)) {
    if (room <= 0) break;
    if (block.kind === 'break') {
      texts.push(text);
      text = '';
    } else {
      const gap = block.kind === 'line' && before?.kind === 'line' ? '\n' : '\n\n';
      const part = block.text.slice(0, room);
      text += (text === '' ? '' : gap) + (block.kind === 'text' ? format(part) : part);
      room -= block.text.length;
    }
    before = block;
  }
  return { segments: [...texts, text].filter((one) => one.trim() !== ''), isWhole: room > 0 };
}

function partsUpTo(segments: readonly string[], most: number): readonly string[] {
  const parts: string[] = [];
  let room = most;
  for (const segment of segments) {
    if (room <= 0) break;
    parts.push(...splitMessage(segment.slice(0, room)));
    room -= segment.length;
  }
  return parts;
}

/** A code block that the agent left open must not include the lines after it. */
function closed(text: string): string {
  const shown = tablesToCode(text);
  let fence: Fence | undefined;
  for (const line of shown.split('\n')) fence = fenceAfter(line, fence);
  return fence === undefined ? shown : `${shown}\n${closeLine(fence)}`;
}

const FILE_BYTES = 8_000_000;
/** The largest file, below Discord's limit per request. */
const FILES = 2;

function filesOf(segments: readonly string[]): readonly FileUpload[] {
  const data = new TextEncoder().encode(segments.join('\n\n'));
  const files = Math.min(FILES, Math.ceil(data.length / FILE_BYTES));
  return Array.from({ length: files }, (_, at) => ({
    name: at === 0 ? 'agent.md' : `agent-${at + 1}.md`,
    data: data.subarray(at * FILE_BYTES, (at + 1) * FILE_BYTES),
  }));
}

export interface TurnEnd {
  /** The agent, for people. */
  readonly title: string;
  /** From the start of the process to its end. */
  readonly tookMs: number;
  /** All results of the turn: a background task can make Claude Code answer again. */
  readonly results: readonly HeadlessResult[];
  readonly status: number | undefined;
  readonly stderr: string;
  /** Why the connection to its host ended before it did. */
  readonly lost?: string;
}

const MOST_RESULTS = 100;

/** Limited, because another host could send millions: the last one decides how the turn ended. */
export function withResult(results: readonly HeadlessResult[], result: HeadlessResult): readonly HeadlessResult[] {
  return [...results.slice(0, MOST_RESULTS - 1), { ...result, text: result.text.slice(0, 10_000) }];
}

/** Undefined if it succeeded. */
export function failureReason({ title, results, status }: TurnEnd): string | undefined {
  const last = results.at(-1);
  if (last?.isError === false) return undefined;
  if (last !== undefined) return last.text.trim() || `${title} ended in an error.`;
  const how = status === undefined ? 'was killed' : `ended with exit code ${status}`;
  return `${title} ${how} before it was done.`;
}

export function lastWords(ended: TurnEnd, note = ''): string {
  const why = failureReason(ended);
  const { results, stderr } = ended;
  if (why === undefined) return joined(`✅ ${figures(ended)}`, note);
  const said = maskSecrets(stderr).split('\n').slice(-8).join('\n').slice(-800).trim();
  return joined(
    `⚠️ ${untrustedText(why, 700)}`,
    results.length > 0 ? `-# ${figures(ended)}` : '',
    results.length === 0 && said !== '' ? screenBlock(said) : '',
    note,
  );
}

function joined(...lines: readonly string[]): string {
  return lines.filter(Boolean).join('\n');
}

const MOST_FIGURE = 1e9;
const isSensible = (one: number | undefined): one is number => one !== undefined && one >= 0 && one <= MOST_FIGURE;

/** Only what the agent has told, and what can be. */
function figures({ results, tookMs }: TurnEnd): string {
  const sum = (of: (one: HeadlessResult) => number | undefined) => {
    const known = results.map(of).filter(isSensible);
    return known.length === 0 ? undefined : known.reduce((all, one) => all + one, 0);
  };
  const turns = sum((one) => (Number.isInteger(one.turns) ? one.turns : undefined));
  const total = results.map(({ costUsd }) => costUsd).filter(isSensible);
  const cost = sum((one) => one.ownCostUsd) ?? (total.length === 0 ? undefined : Math.max(...total));
  return [
    ...(turns === undefined ? [] : [`${turns} ${turns === 1 ? 'turn' : 'turns'}`]),
    formatDuration(sum((one) => one.durationMs) ?? tookMs),
    ...(cost === undefined ? [] : [`$${cost.toFixed(4)}`]),
  ].join(' · ');
}
