// threadmux tail: prints the messages of a session's thread, and follows it.

import { setTimeout as sleep } from 'node:timers/promises';
import { ThreadmuxError } from '../../core/errors.ts';
import { newest, snowflakeTime } from '../../core/snowflake.ts';
import { neutralise } from '../../core/untrusted-text.ts';
import { messagesAfter, newestMessages } from '../../discord/messages.ts';
import type { DiscordMessage } from '../../discord/payloads.ts';
import { connectRest } from '../../discord/rest.ts';
import { openContext } from '../command-context.ts';
import type { SessionFlags } from '../command-line.ts';
import { findTarget, openSessionFinder, recordNow } from '../find-session.ts';
import { printable, printJsonLine, printText } from '../print.ts';

interface TailFlags extends SessionFlags {
  readonly lines: number;
  readonly follow: boolean;
}

/** Discord allows about one request per second to a channel. */
const EVERY_MS = 1_500;

export async function tail(name: string | undefined, flags: TailFlags): Promise<void> {
  const finder = openSessionFinder();
  const target = await findTarget(finder, name, flags.host);
  const record = recordNow(finder.home, target);
  const { servers, log } = openContext('cli');
  const server = servers.find((one) => one.name === record?.server);
  if (record === undefined || server === undefined || record.deleted)
    throw new ThreadmuxError('not_found', `${printable(target.session.name)} has no thread`, {
      hint: 'Run `threadmux thread open` to create one.',
    });
  const rest = connectRest({ api: server.api, token: server.token, log });
  try {
    const { messages: first } = await newestMessages(rest, record.thread, flags.lines);
    for (const message of first) print(message, flags);
    let last = newest(record.thread, ...first.map(({ id }) => id));
    while (flags.follow) {
      await sleep(EVERY_MS);
      const more = await messagesAfter(rest, record.thread, last);
      for (const message of more) print(message, flags);
      last = newest(last, ...more.map(({ id }) => id));
    }
  } finally {
    await rest.close();
  }
}

/** Messages and replies. Others, such as the one that a pin leaves, have no text. */
const WRITTEN: readonly number[] = [0, 19];

function print({ id, type, author, content, attachments }: DiscordMessage, { json }: TailFlags): void {
  if (!WRITTEN.includes(type)) return;
  const files = attachments.map(({ filename }) => filename);
  const at = new Date(snowflakeTime(id));
  if (json) {
    return printJsonLine({ id, at: at.toISOString(), author: author.username, text: content, files });
  }
  const time = at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  const lines = [...content.split('\n'), ...files.map((file) => `📎 ${file}`)].map(neutralise);
  printText(`${time} ${printable(author.username)}: ${lines.join('\n      ')}`);
}
