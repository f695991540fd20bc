// A letter: what the hook or plugin of an agent reports, as `drop` wrote it. Its id does not change while the file is in the outbox, so
// that every retry uses the same nonces.

import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { AgentEvent } from '../agents/event.ts';
import { knownDriver } from '../agents/list.ts';
import { cutPrompt, cutReply } from '../core/cut-report.ts';
import { parseForeignJson } from '../core/json.ts';
import type { FileEnd } from '../hosts/host-files.ts';
import { readTmuxVariable } from '../tmux/pane.ts';
import { type Order, parseOrder } from './orders.ts';

export interface Letter {
  readonly id: string;
  /** When it was written, by this machine's clock. */
  readonly writtenAt: number;
  readonly tmux: string;
  readonly pane: string;
  /** The name of the agent that reports. */
  readonly agent: string;
  /** "cli" for an interactive session; a nested `claude -p` has another value. */
  readonly entrypoint: string;
  readonly project: string;
  /** For a prompt: the name of the answer that `ask` waits for, and the pid of `ask`. */
  readonly ask?: string;
  readonly asker?: number;
  /** The thread of a headless agent. */
  readonly thread?: string;
  /** For a reply from another host: the status line, the branch and the end of the transcript at that time. */
  readonly status?: string;
  readonly branch?: string;
  readonly transcript?: FileEnd;
  readonly event: AgentEvent;
}

export type LetterReading =
  | { readonly kind: 'letter'; readonly letter: Letter }
  /** tmux reports a change of a session. */
  | { readonly kind: 'event' }
  | { readonly kind: 'order'; readonly order: Order }
  /** An event without a handler: nothing to do. */
  | { readonly kind: 'nothing' }
  /** Written by a newer version of threadmux: left alone. */
  | { readonly kind: 'newer' }
  | { readonly kind: 'corrupt'; readonly why: string };

export function readLetter(path: string): LetterReading {
  const { ino, mtimeNs, mtimeMs } = statSync(path, { bigint: true });
  const bytes = readFileSync(path);
  const end = bytes.indexOf('\nthreadmux-transcript ');
  const text = bytes.subarray(0, end === -1 ? undefined : end).toString('utf8');
  const reading = parseLetter(text, `${ino}.${mtimeNs}`, Number(mtimeMs));
  if (end === -1 || reading.kind !== 'letter') return reading;
  const transcript = parseFileEnd(bytes.subarray(end + 1));
  return transcript ? { ...reading, letter: { ...reading.letter, transcript } } : reading;
}

/** `drop` sends at most 5 blocks of 32 KiB; a hostile host could send more, and each would be parsed. */
const LONGEST_END = 5 * 32 * 1024;

function parseFileEnd(bytes: Buffer): FileEnd | undefined {
  const line = bytes.subarray(0, bytes.indexOf('\n')).toString('latin1');
  const [, id, size, from] = line.match(/^threadmux-transcript (\d{1,20}) (\d{1,15}) (\d{1,15})$/) ?? [];
  if (id === undefined) return undefined;
  const end = bytes.subarray(line.length + 1);
  return end.length > LONGEST_END ? undefined : { id, size: Number(size), from: Number(from), bytes: end };
}

/** Whether it is from the pane, or the headless agent, of the folder that it came in. Otherwise a host could open a thread with each letter. */
export function isOfBox({ tmux, pane, ask, thread, event }: Letter, box: string): boolean {
  if (ask !== undefined && thread !== undefined) return event.event === 'asked' && box === `0.${thread}`;
  return `${readTmuxVariable(tmux)?.pid}.${pane.slice(1)}` === box;
}

export function parseLetter(text: string, salt: string, writtenAt: number): LetterReading {
  const format = text.match(/^threadmux (\d+)(?:\n|$)/)?.[1];
  if (format === undefined) return { kind: 'corrupt', why: 'it has no heading' };
  if (format !== '2') return { kind: 'newer' };
  try {
    if (/^event /m.test(text.slice(0, text.indexOf('\n\n')))) return { kind: 'event' };
    if (/^threadmux 2\norder /.test(text))
      return { kind: 'order', order: parseOrder(text.slice(text.indexOf('\n\n') + 2)) };
    const { json, ...headers } = headersOf(text);
    const driver = knownDriver(headers.agent);
    if (driver === undefined) return { kind: 'newer' };
    const event = driver.readEvent(parseForeignJson(json));
    if (event === undefined) return { kind: 'nothing' };
    const id = createHash('sha256').update(salt).update(text).digest('base64url').slice(0, 22);
    return { kind: 'letter', letter: { id, writtenAt, ...headers, event: withShortTexts(event) } };
  } catch (error) {
    return { kind: 'corrupt', why: (error as Error).message };
  }
}

function withShortTexts(event: AgentEvent): AgentEvent {
  switch (event.event) {
    case 'idle':
      return event.text === undefined ? event : { ...event, text: cutReply(event.text) };
    case 'said':
      return { ...event, text: cutReply(event.text) };
    case 'submitted':
      return { ...event, prompt: cutPrompt(event.prompt) };
    case 'failed': {
      const { error, details } = event;
      return {
        ...event,
        error: cutReply(error),
        ...(details === undefined ? {} : { details: cutReply(details) }),
      };
    }
    case 'waiting':
    case 'notice':
      return event.message === undefined ? event : { ...event, message: cutReply(event.message) };
    default:
      return event;
  }
}

type Headers = Omit<Letter, 'id' | 'writtenAt' | 'transcript' | 'event'> & { readonly json: string };

const LONGEST_HEADERS = 256 * 1024;
const LONGEST_BRANCH = 250;
/** It becomes an argument of a program, and the system takes no long ones: the letter would be tried again for ever. */
const LONGEST_PROJECT = 8_192;

/** `key value` lines up to an empty line. Unknown keys come from a newer version and are ignored. */
function headersOf(text: string): Headers {
  const end = text.indexOf('\n\n');
  if (end === -1) throw new SyntaxError('its headers have no end');
  if (end > LONGEST_HEADERS) throw new SyntaxError('its headers are too long');
  // Copied: a part of a string keeps the whole string in memory, and some headers are kept for as long as a prompt is open.
  const lines = Buffer.from(text.slice(0, end)).toString().split('\n').slice(1);
  const values = new Map(lines.map((line) => splitAt(line, line.indexOf(' '))));
  const value = (key: string) => values.get(key) ?? '';
  const [ask, asker, thread, status, branch] = ['ask', 'asker', 'thread', 'status', 'branch'].map(value);
  const project = value('project');
  if (project.length > LONGEST_PROJECT) throw new SyntaxError('its project is too long');
  return {
    tmux: value('tmux'),
    pane: value('pane'),
    agent: value('agent') || 'claude',
    entrypoint: value('entrypoint'),
    project,
    // Checked strictly, because it becomes a file name.
    ...(ask && /^[0-9a-f]{32}$/.test(ask) ? { ask } : {}),
    ...(asker && /^\d+$/.test(asker) ? { asker: Number(asker) } : {}),
    ...(thread && /^\d+$/.test(thread) ? { thread } : {}),
    ...(status ? { status } : {}),
    ...(branch ? { branch: branch.slice(0, LONGEST_BRANCH) } : {}),
    json: text.slice(end + 2),
  };
}

function splitAt(line: string, at: number): [string, string] {
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}
