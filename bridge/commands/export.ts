// !export attaches a thread as a Markdown file, also if it is archived. A message cannot look like the heading of another one, cannot
// leave a code block open, and contains no HTML.

import { ThreadmuxError } from '../../core/errors.ts';
import { snowflakeTime } from '../../core/snowflake.ts';
import { neutralise, untrustedCode, untrustedText } from '../../core/untrusted-text.ts';
import { getMessage, newestMessages } from '../../discord/messages.ts';
import type { DiscordMessage } from '../../discord/payloads.ts';
import type { Command, CommandCall, CommandContext } from './command.ts';

/** A page has 100 messages, and Discord allows few pages per second. */
const MOST_MESSAGES = 2_000;
/** Discord accepts 10 MB. */
const MOST_BYTES = 7 * 2 ** 20;
/** Normal messages, replies and answers to slash commands. */
const WRITTEN: readonly number[] = [0, 19, 20];

export const exportCommand: Command = {
  name: 'export',
  usage: '!export [name]',
  about: 'attach this thread, or that of a session, as a Markdown file',
  async run(order, context) {
    const { id, title, parent } = threadFor(order, context);
    const { rest } = context;
    const { messages, isAll } = await newestMessages(rest, id, MOST_MESSAGES);
    // The first message is in the channel. It has the id of the thread.
    const welcome = isAll ? await getMessage(rest, parent, id).catch(() => undefined) : undefined;
    const said = [...(welcome === undefined ? [] : [welcome]), ...messages].filter(
      // The command itself is no part of the conversation.
      (one) => WRITTEN.includes(one.type) && one.id !== order.id,
    );
    const made = threadMarkdown({ title, messages: said.map(exported), isCut: !isAll }, MOST_BYTES);
    const words = title.match(/[A-Za-z0-9_-]+/g) ?? ['thread'];
    const name = `${words.join('-')}.md`;
    const what = made.isCut ? `The newest ${made.count} messages; older ones did not fit.` : `${made.count} messages.`;
    return {
      content: `📄 ${untrustedCode(title)}: ${what}`,
      files: [{ name, data: Buffer.from(made.text) }],
      async after() {
        const record = context.threads.registry.get(id);
        if (order.thread?.id === id && record?.closed) await context.threads.archive(id);
      },
    };
  },
};

function threadFor({ rest, thread }: CommandCall, { threads, server, config }: CommandContext) {
  const asked = rest.trim();
  if (asked === '' && thread !== undefined) return { id: thread.id, title: thread.title, parent: thread.parentId };
  if (asked === '') throw new ThreadmuxError('bad_usage', 'Use this in a thread, or name a session: `!export shop`.');
  const named = threads.registry
    .all()
    .filter((one) => one.server === server.name && !one.deleted)
    .filter(({ sessionName: name, host }) => asked === `${name}@${host}` || (asked === name && !name.includes('@')))
    .toSorted((a, b) => b.at - a.at);
  const found = named.find(({ host }) => host === config.defaultHost) ?? named[0];
  if (found === undefined)
    throw new ThreadmuxError('session_not_found', `No thread of a session ${untrustedCode(asked)} is known.`, {
      hint: '`!export` in a thread exports that thread.',
    });
  return { id: found.thread, title: found.title, parent: found.channel };
}

function exported({ id, author, content, attachments }: DiscordMessage): ExportedMessage {
  const files = attachments.map(({ filename: name, url }) => ({ name, url }));
  return { author: author.username || author.id, at: snowflakeTime(id), text: content, files };
}

interface ExportedMessage {
  readonly author: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly files: readonly { readonly name: string; readonly url: string }[];
}

interface ExportedThread {
  readonly title: string;
  /** Oldest first. */
  readonly messages: readonly ExportedMessage[];
  /** Whether older messages are missing. */
  readonly isCut: boolean;
}

/** `most`: bytes. The oldest messages are left out if there are more. */
export function threadMarkdown(
  { title, messages, isCut }: ExportedThread,
  most = Number.POSITIVE_INFINITY,
): { readonly text: string; readonly count: number; readonly isCut: boolean } {
  const parts: string[] = [];
  let size = 1_000; // the head
  for (const part of messages.toReversed().map(messageText)) {
    size += Buffer.byteLength(part) + 1;
    if (size > most) break;
    parts.unshift(part);
  }
  const isShort = isCut || parts.length < messages.length;
  const count = `${parts.length} ${parts.length === 1 ? 'message' : 'messages'}`;
  const head = [
    `# ${untrustedText(title, 200)}`,
    '',
    isShort ? `The newest ${count}. Older ones are missing.` : count,
    '',
  ];
  return { text: [...head, ...parts].join('\n'), count: parts.length, isCut: isShort };
}

function messageText({ author, at, text, files }: ExportedMessage): string {
  const when = new Date(at).toISOString().replace('T', ' ').slice(0, 16);
  const links = files.map(
    ({ name, url }) => `📎 [${untrustedText(name, 200)}](<${url.replace(/[<>\s\\]/g, encodeURIComponent)}>)`,
  );
  const said = text.trim() === '' ? [] : [safeText(text.trim()), ''];
  return [
    `## ${untrustedText(author, 100)} · ${when} UTC`,
    '',
    ...said,
    ...(links.length > 0 ? [...links, ''] : []),
  ].join('\n');
}

function safeText(text: string): string {
  let fence = '';
  const lines = neutralise(text)
    .split('\n')
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
      if (fence !== '') {
        if (mark.startsWith(fence) && line.trim() === mark) fence = '';
        return line;
      }
      // Discord also ends a block in the line in which it begins.
      const isOneLine = mark !== '' && line.trim().slice(mark.length).includes(mark);
      if (mark !== '' && !isOneLine) fence = mark;
      return mark !== '' && !isOneLine ? line : safeLine(line);
    });
  return [...lines, ...(fence === '' ? [] : [fence])].join('\n');
}

/** Inline code stays as it is: a backslash would be visible there. */
function safeLine(line: string): string {
  // Text outside and inside of backticks, in turn, if every one is closed by the next.
  const parts = line.split('`');
  const isPaired = parts.length % 2 === 1 && !line.includes('``');
  const safe = parts.map((part, at) => (isPaired && at % 2 === 1 ? part : part.replace(/<(?=[A-Za-z/!?])/g, '\\<')));
  return safe.join('`').replace(/^( {0,3})(#{1,6}(?:\s|$)|(?:=+|-+)\s*$)/, '$1\\$2');
}
