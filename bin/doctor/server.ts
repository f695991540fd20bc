// Checks of one configured server: the connection, the token, the channels and the allowed users. It only reads.

import type { ServerConfig } from '../../core/config.ts';
import { explain, isThreadmuxError, type ThreadmuxError } from '../../core/errors.ts';
import { MISSING_ACCESS, UNKNOWN_CHANNEL } from '../../discord/error-codes.ts';
import {
  type BotInfo,
  type ChannelInfo,
  inspectBot,
  inspectChannel,
  isUserKnown,
  serverClock,
} from '../../discord/inspect-server.ts';
import { CONTENT_HINT, inviteLink } from '../../discord/permissions.ts';
import { connectRest } from '../../discord/rest.ts';
import { type Finding, fault, fine, warning } from './finding.ts';
import { judgeClock } from './machine.ts';

const TIMEOUT_MS = 8_000;
/** Give up if the server asks us to wait longer. */
const PATIENCE_MS = 25_000;

type Outcome<T> = { readonly got: T } | { readonly error: unknown };

interface ServerFacts {
  readonly server: Pick<ServerConfig, 'name' | 'api' | 'allow'>;
  /** How far the server's clock is ahead of ours, if it reports its time. */
  readonly clock: Outcome<number | undefined>;
  readonly bot?: Outcome<BotInfo>;
  readonly channels?: readonly { readonly id: string; readonly look: Outcome<ChannelInfo> }[];
  /** The ids in "allow" that are not users of the server. */
  readonly unknown?: readonly string[];
}

export async function gatherServer(server: ServerConfig): Promise<ServerFacts> {
  const clock = await outcome(serverClock(server.api, TIMEOUT_MS));
  if ('error' in clock) return { server, clock };
  const { token, api } = server;
  const rest = connectRest({ token, api, timeoutMs: TIMEOUT_MS, patienceMs: 0 });
  const alarm = setTimeout(() => void rest.close(), PATIENCE_MS);
  try {
    const bot = await outcome(inspectBot(rest));
    if ('error' in bot) return { server, clock, bot };
    const ids = [...new Set([server.channel, ...server.projects.map(({ channel }) => channel)])];
    const channels = await Promise.all(
      ids.map(async (id) => ({ id, look: await outcome(inspectChannel(rest, id, bot.got.id)) })),
    );
    const known = await Promise.all(server.allow.map((id) => isUserKnown(rest, id).catch(() => true)));
    return { server, clock, bot, channels, unknown: server.allow.filter((_, at) => !known[at]) };
  } finally {
    clearTimeout(alarm);
    await rest.close();
  }
}

async function outcome<T>(call: Promise<T>): Promise<Outcome<T>> {
  try {
    return { got: await call };
  } catch (error) {
    return { error };
  }
}

export function judgeServer(facts: ServerFacts): readonly Finding[] {
  const { server, clock, bot, channels = [], unknown = [] } = facts;
  if ('error' in clock) return [judgeUnreachable(server, clock.error)];
  const time = clock.got === undefined ? [] : [judgeClock(clock.got, `The clock of ${server.api}`)];
  if (bot === undefined) return time;
  if ('error' in bot) return [...time, judgeRefused(server, bot.error)];
  return [
    ...time,
    fine('token', `${server.name}: the token works (bot ${bot.got.name}).`),
    ...judgeIntent(bot.got, server.name),
    ...channels.map(({ id, look }) =>
      'error' in look
        ? judgeNoChannel(id, look.error, bot.got, server.name)
        : judgeChannel(look.got, bot.got, server.name),
    ),
    ...judgeAllowed(server, unknown, bot.got),
  ];
}

function judgeUnreachable({ name, api }: ServerFacts['server'], error: unknown): Finding {
  const [said = ''] = explain(error).split('\n');
  return name === 'local'
    ? fault('workspace', `The local workspace does not respond (${said}).`, 'Start it with `threadmux up`.')
    : fault(
        'server',
        `Cannot reach ${name} (${said}).`,
        `Check the network, any proxy or firewall, "api" in config.json (${api}), and https://discordstatus.com.`,
      );
}

function judgeRefused({ name }: ServerFacts['server'], error: unknown): Finding {
  const [said = ''] = explain(error).split('\n');
  return isThreadmuxError(error, 'discord_unauthorized')
    ? fault(
        'token',
        `${name} rejects the bot token.`,
        'Reset it in the Discord developer portal (Bot, Reset Token), then run `threadmux init` with the new one.',
      )
    : fault('server', `${name} sent an unexpected response (${said}).`, 'Try again in a minute.');
}

function judgeIntent(bot: BotInfo, server: string): readonly Finding[] {
  if (bot.readsContent !== false) return [];
  return [
    fault(
      'intent',
      `${server}: the bot ${bot.name} cannot read messages because Message Content Intent is off.`,
      CONTENT_HINT,
    ),
  ];
}

function judgeNoChannel(id: string, error: unknown, bot: BotInfo, server: string): Finding {
  const code = (error as Partial<ThreadmuxError>).answer?.code;
  if (code === UNKNOWN_CHANNEL)
    return fault(
      'channel',
      `${server}: the channel ${id} no longer exists.`,
      'Run `threadmux init` to choose another channel, or correct "channel" in config.json.',
    );
  if (code === MISSING_ACCESS)
    return fault(
      'channel',
      `${server}: the bot ${bot.name} cannot see the channel ${id}.`,
      `Add the bot to the server (${inviteLink(bot.applicationId ?? bot.id)}). If the channel is private, add the bot to the channel too.`,
    );
  const [said = '', hint = 'Try again in a minute.'] = explain(error).split('\n');
  return fault('channel', `${server}: cannot check the channel ${id} (${said}).`, hint);
}

function judgeChannel(look: ChannelInfo, bot: BotInfo, server: string): Finding {
  const where = `#${look.name}`;
  if (!look.isText)
    return fault(
      'channel',
      `${server}: ${where} (${look.id}) is not a text channel.`,
      'Set "channel" to the id of a normal text channel, or run `threadmux init`.',
    );
  if (look.missing === undefined)
    return warning(
      'permissions',
      `${server}: cannot check the bot's permissions in ${where}.`,
      'If threads or replies fail, compare its permissions with docs/discord-setup.md.',
    );
  if (look.missing.length > 0)
    return fault(
      'permissions',
      `${server}: the bot needs more permissions in ${where}: ${look.missing.join(', ')}.`,
      `Open ${inviteLink(bot.applicationId ?? bot.id)} again, and check Edit Channel, Permissions: denied permissions there take precedence.`,
    );
  return fine('permissions', `${server}: the bot has all permissions it needs in ${where}.`);
}

function judgeAllowed(
  { name, allow }: ServerFacts['server'],
  unknown: readonly string[],
  bot: BotInfo,
): readonly Finding[] {
  const remedy = 'Set "allow" to the ids of users (right-click a name, Copy User ID), or run `threadmux init`.';
  return [
    ...(allow.includes(bot.id) ? [fault('allow', `${name}: "allow" contains the bot itself, ${bot.id}.`, remedy)] : []),
    ...unknown.map((id) => warning('allow', `${name}: "allow" contains ${id}, which is not a user.`, remedy)),
  ];
}
