// Answers plain text in a channel, which belongs to no session: at most once an hour per channel, otherwise with a ❔.

import * as z from 'zod';
import { snowflakeTime } from '../core/snowflake.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { react } from '../discord/messages.ts';
import type { DiscordMessage } from '../discord/payloads.ts';
import { readJson, writeBestEffort } from '../home/atomic-write.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { ServerParts } from './bridge-options.ts';

const ANSWER_EVERY_MS = 3_600_000;
const MOST_LINKS = 10;
const answeredSchema = z.record(z.string(), z.number());

/** `path`: where the last answers are stored. */
export function createChannelTalk({ rest, postNotice, log, server, threads }: ServerParts, path: string) {
  /** By channel: when its last answered message was written. */
  const answered = new Map(Object.entries(readJson(path, answeredSchema) ?? {}));

  async function answer({ id, channel_id: channel }: DiscordMessage): Promise<void> {
    const writtenAt = snowflakeTime(id);
    const last = answered.get(channel);
    if (last !== undefined && writtenAt - last < ANSWER_EVERY_MS) return react(rest, channel, id, '❔');
    answered.set(channel, writtenAt);
    writeBestEffort(path, Object.fromEntries(answered));
    const mine = threads.registry.all().filter((one) => one.server === server.name);
    await postNotice(channel, [id, 'talk'], { content: talkAnswer(mine), replyTo: id, silent: true });
  }

  return (message: DiscordMessage): void =>
    void answer(message).catch((error: Error) => log.info('answering in a channel', { because: error.message }));
}

export function talkAnswer(
  records: readonly Pick<ThreadRecord, 'thread' | 'sessionName' | 'closed' | 'deleted' | 'at'>[],
): string {
  const running = records.filter(({ closed, deleted }) => !closed && !deleted).toSorted((a, b) => b.at - a.at);
  const start = '`!new <name>` starts a session';
  if (running.length === 0) return `💬 This was sent to nobody, because no session is running. ${start}.`;
  const links = running
    .slice(0, MOST_LINKS)
    .map(({ thread, sessionName }) => `<#${thread}> ${untrustedCode(sessionName, 60)}`);
  const more = running.length > MOST_LINKS ? `\n… and ${running.length - MOST_LINKS} more: \`!sessions\`` : '';
  return `💬 This was sent to nobody. Write in the thread of a session; ${start}.\n${links.join('\n')}${more}`;
}
