// The Discord steps of init: a token that works, a bot that can read messages, and a channel where it has its permissions. At a
// terminal the user can fix a problem and check again; otherwise it is an error with a hint.

import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ConfigEnvironment } from '../../core/config.ts';
import { isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import { isDiscordId } from '../../core/snowflake.ts';
import { neutralise } from '../../core/untrusted-text.ts';
import {
  type BotInfo,
  type ChannelInfo,
  inspectBot,
  inspectChannel,
  listChannels,
} from '../../discord/inspect-server.ts';
import { CONTENT_HINT, inviteLink } from '../../discord/permissions.ts';
import { connectRest, type Rest } from '../../discord/rest.ts';
import { expandHome } from '../../home/config-file.ts';
import type { CleanUp, Questions } from '../questions.ts';
import type { RawConfig } from './config-changes.ts';

interface DiscordAccess extends Token {
  readonly rest: Rest;
  readonly bot: BotInfo;
}

/** Asks for another token while Discord rejects the current one. */
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
      ask.say(`✓ The token works (bot ${bot.name}).`);
      return { ...token, rest, bot: await insistOnContent(rest, bot, ask) };
    } catch (error) {
      if (!isThreadmuxError(error, 'discord_unauthorized') || !ask.isTerminal) throw error;
      ask.say('✗ Discord rejects this token. Reset it in the developer portal (Bot, Reset Token).');
    }
  }
}

async function insistOnContent(rest: Rest, first: BotInfo, ask: Questions): Promise<BotInfo> {
  for (let bot = first; ; bot = await inspectBot(rest)) {
    if (bot.readsContent !== false) {
      if (bot.readsContent) ask.say('✓ Message Content Intent is on.');
      return bot;
    }
    await again(ask, 'the bot cannot read messages because Message Content Intent is off', CONTENT_HINT);
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
  if (!ask.isTerminal) return ask.line('Channel id:', '--channel');
  for (;;) {
    const channels = await listChannels(rest, bot);
    if (channels.length === 0)
      ask.say(`The bot cannot see a text channel in any server. Invite it with this link:
  ${inviteLink(bot.applicationId ?? bot.id)}`);
    const choice = await ask.choose(
      'Which channel do you want to use for the threads?',
      [
        ...channels.map(({ id, name, guild }) => ({ value: id, label: `#${name} in ${guild}` })),
        { value: 'again', label: 'Refresh the list' },
        { value: 'other', label: 'Enter a channel id' },
      ],
      '--channel',
    );
    if (choice === 'other') return ask.line('Channel id:', '--channel');
    if (choice !== 'again') return choice;
  }
}

async function insistOnPermissions(rest: Rest, bot: BotInfo, id: string, ask: Questions): Promise<ChannelInfo> {
  if (!isDiscordId(id))
    throw new ThreadmuxError('bad_usage', `--channel: "${id}" is not a channel id`, {
      hint: 'In Discord, turn on Developer Mode, then right-click the channel and choose Copy Channel ID.',
    });
  for (;;) {
    const look = await inspectChannel(rest, id, bot.id);
    const name = `#${neutralise(look.name)}`;
    if (!look.isText)
      throw new ThreadmuxError('bad_usage', `${name} is not a text channel`, {
        hint: 'Choose a normal text channel, not a forum or voice channel.',
      });
    if (look.missing === undefined) ask.say(`! Cannot check the bot's permissions in ${name}.`);
    if (look.missing?.length === 0) ask.say(`✓ The bot has all permissions it needs in ${name}.`);
    if (look.missing === undefined || look.missing.length === 0) return look;
    await again(
      ask,
      `the bot needs more permissions in ${name}: ${look.missing.join(', ')}`,
      `Open ${inviteLink(bot.applicationId ?? bot.id)} again, and check Edit Channel, Permissions.`,
    );
  }
}

/** If a channel is missing or hidden, the user can choose another one. */
async function attempt<T>(act: () => Promise<T>, ask: Questions): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    const isFixable = isThreadmuxError(error, 'discord_refused') || isThreadmuxError(error, 'bad_usage');
    if (!isFixable || !ask.isTerminal) throw error;
    ask.say(`✗ ${error.message}\n    ${error.hint ?? ''}`);
    return undefined;
  }
}

async function again(ask: Questions, fault: string, remedy: string): Promise<void> {
  if (!ask.isTerminal) throw new ThreadmuxError('discord_refused', fault, { hint: remedy });
  ask.say(`✗ ${fault}\n    ${remedy}`);
  await ask.line('Fix this, then press Enter to check again.', '--yes');
}

// The token comes from a file, stdin, the environment or a hidden prompt. It is never an argument, because every user of the
// machine can read the arguments of a process.

interface Token {
  readonly token: string;
  /** If given, config.json names this file instead of containing the token. */
  readonly tokenFile: string | undefined;
}

interface TokenOptions {
  readonly ask: Questions;
  readonly env: ConfigEnvironment;
  readonly root: string;
  /** The value of --token-file: a path, or "-" for stdin. */
  readonly given: string | undefined;
  readonly present: RawConfig | undefined;
}

const QUESTION = 'Bot token (hidden):';

export async function takeToken(options: TokenOptions): Promise<Token> {
  const { ask, env, given } = options;
  if (given === '-' && !ask.isTerminal) return typed(await text(process.stdin));
  if (given !== undefined && given !== '-') return fromFile(resolve(expandHome(given, env)));
  if (env.DISCORD_BOT_TOKEN) return typed(env.DISCORD_BOT_TOKEN);
  const present = presentToken(options);
  if (present === undefined) return askForToken(ask);
  if (!ask.isTerminal || (await ask.yes('Keep the bot token from config.json?', true))) return present;
  return askForToken(ask);
}

async function askForToken(ask: Questions): Promise<Token> {
  return typed(await ask.secret(QUESTION, '--token-file'));
}

/** People paste tokens with spaces around them, or with the prefix "Bot " of the HTTP header. */
function typed(said: string): Token {
  const token = said.trim().replace(/^Bot /, '');
  if (/^[\x21-\x7e]+$/.test(token)) return { token, tokenFile: undefined };
  throw new ThreadmuxError(
    'bad_usage',
    token === '' ? 'the token is empty' : 'the token contains a space or an invalid character',
    { hint: 'Copy it again from the Discord developer portal (Bot, Reset Token).' },
  );
}

/** A regular file is named in config.json. A pipe can be read only once, so its content is stored. */
function fromFile(path: string): Token {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new ThreadmuxError('bad_usage', `--token-file: ${path} does not exist`, {
      hint: 'Create the file with only the token in it, or use - to read it from stdin.',
    });
  if (!stat.isFile()) return typed(readFileSync(path, 'utf8'));
  if ((stat.mode & 0o077) !== 0)
    throw new ThreadmuxError('config_invalid', `--token-file: other users can read ${path}`, {
      hint: `Run: chmod 600 ${path}`,
    });
  return { ...typed(readFileSync(path, 'utf8')), tokenFile: path };
}

function presentToken({ present, env, root }: TokenOptions): Token | undefined {
  if (typeof present?.token === 'string') return typed(present.token);
  if (typeof present?.tokenFile !== 'string') return undefined;
  const { tokenFile } = present;
  return { ...fromFile(resolve(root, expandHome(tokenFile, env))), tokenFile };
}
