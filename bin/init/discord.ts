// The Discord half of the wizard: a token that works, a bot that may read, a channel where it may do its work. At a
// terminal what is wrong can be mended and looked at again; elsewhere it is an error with its remedy.

import { isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import { neutralise } from '../../core/neutralise.ts';
import { isDiscordId } from '../../core/snowflake.ts';
import {
  type BotInfo,
  type ChannelInfo,
  inspectBot,
  inspectChannel,
  listChannels,
} from '../../discord/inspect-server.ts';
import { CONTENT_HINT, inviteLink } from '../../discord/permissions.ts';
import { connectRest, type Rest } from '../../discord/rest.ts';
import type { CleanUp } from '../clean-up.ts';
import type { Questions } from '../questions.ts';
import { askForToken, type Token } from './token.ts';

interface DiscordAccess extends Token {
  readonly rest: Rest;
  readonly bot: BotInfo;
}

/** Asks for another token as long as the present one is refused. */
export async function connectToDiscord(
  api: string,
  first: Token,
  ask: Questions,
  undo: CleanUp,
): Promise<DiscordAccess> {
  for (let token = first; ; token = await askForToken(ask)) {
    const rest = connectRest({ token: token.token, api, timeoutMs: 10_000, patienceMs: 5_000 });
    undo.later(() => rest.close());
    try {
      const bot = await inspectBot(rest);
      ask.say(`✓ The token is that of the bot ${bot.name}.`);
      return { ...token, rest, bot: await insistOnContent(rest, bot, ask) };
    } catch (error) {
      if (!isThreadmuxError(error, 'discord_unauthorized') || !ask.isTerminal) throw error;
      ask.say('✗ That token is refused. Reset it in the developer portal (Bot, Reset Token).');
    }
  }
}

async function insistOnContent(rest: Rest, first: BotInfo, ask: Questions): Promise<BotInfo> {
  for (let bot = first; ; bot = await inspectBot(rest)) {
    if (bot.readsContent !== false) {
      if (bot.readsContent) ask.say('✓ Message Content Intent is on.');
      return bot;
    }
    await again(ask, 'the bot may not read messages: Message Content Intent is off', CONTENT_HINT);
  }
}

export async function chooseChannel(
  { rest, bot }: DiscordAccess,
  given: string | undefined,
  ask: Questions,
): Promise<ChannelInfo> {
  for (let id = given; ; id = undefined) {
    const channel = id ?? (await askForChannel(rest, bot, ask));
    const look = await attempt(() => insistOnPermissions(rest, bot, channel, ask), ask);
    if (look !== undefined) return look;
  }
}

async function askForChannel(rest: Rest, bot: BotInfo, ask: Questions): Promise<string> {
  if (!ask.isTerminal) return ask.line('The id of the channel:', '--channel');
  for (;;) {
    const channels = await listChannels(rest, bot);
    if (channels.length === 0)
      ask.say(`The bot is in no server that it can see a text channel of. Invite it with this link:
  ${inviteLink(bot.applicationId ?? bot.id)}`);
    const choice = await ask.choose(
      'In which channel shall the threads live?',
      [
        ...channels.map(({ id, name, guild }) => ({ value: id, label: `#${name} in ${guild}` })),
        { value: 'again', label: 'look for channels again' },
        { value: 'other', label: 'another channel, by its id' },
      ],
      '--channel',
    );
    if (choice === 'other') return ask.line('The id of the channel:', '--channel');
    if (choice !== 'again') return choice;
  }
}

async function insistOnPermissions(rest: Rest, bot: BotInfo, id: string, ask: Questions): Promise<ChannelInfo> {
  if (!isDiscordId(id))
    throw new ThreadmuxError('bad_usage', `--channel: "${id}" is not the id of a channel`, {
      hint: 'In Discord: Developer Mode on, then right-click the channel, Copy Channel ID.',
    });
  for (;;) {
    const look = await inspectChannel(rest, id, bot.id);
    const name = `#${neutralise(look.name)}`;
    if (!look.isText)
      throw new ThreadmuxError('bad_usage', `${name} is not a text channel of a server`, {
        hint: 'Choose an ordinary text channel, neither a forum nor a voice channel.',
      });
    if (look.missing === undefined) ask.say(`! What the bot may do in ${name} cannot be found out.`);
    if (look.missing?.length === 0) ask.say(`✓ The bot has every permission it needs in ${name}.`);
    if (look.missing === undefined || look.missing.length === 0) return look;
    await again(
      ask,
      `the bot lacks permissions in ${name}: ${look.missing.join(', ')}`,
      `Open ${inviteLink(bot.applicationId ?? bot.id)} once more, and look at Edit Channel, Permissions.`,
    );
  }
}

/** A channel that is gone or hidden is no reason to begin anew: another one can be named. */
async function attempt<T>(act: () => Promise<T>, ask: Questions): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    const isMendable = isThreadmuxError(error, 'discord_refused') || isThreadmuxError(error, 'bad_usage');
    if (!isMendable || !ask.isTerminal) throw error;
    ask.say(`✗ ${error.message}\n    ${error.hint ?? ''}`);
    return undefined;
  }
}

async function again(ask: Questions, fault: string, remedy: string): Promise<void> {
  if (!ask.isTerminal) throw new ThreadmuxError('discord_refused', fault, { hint: remedy });
  ask.say(`✗ ${fault}\n    ${remedy}`);
  await ask.line('Press Enter when that is done, to look again.', '--yes');
}
