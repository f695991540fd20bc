// !export attaches a thread as a Markdown file. It also works in archived threads.

import { ThreadmuxError } from '../../core/errors.ts';
import { snowflakeTime } from '../../core/snowflake.ts';
import { type ExportedMessage, threadMarkdown } from '../../core/thread-markdown.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
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
