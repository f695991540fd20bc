// threadmux init: asks for the settings, checks every answer, writes config.json, and sends a test message. It changes nothing
// before it writes.

import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { ConfigEnvironment } from '../../core/config.ts';
import { explain, ThreadmuxError } from '../../core/errors.ts';
import { serverClock } from '../../discord/inspect-server.ts';
import { loadConfig, loadLocalServer } from '../../home/config-file.ts';
import { homeRoot, openHome } from '../../home/home.ts';
import { holderOf } from '../../home/lock.ts';
import { type CleanUp, openCleanUp, openQuestions, type Questions } from '../questions.ts';
import {
  type ConfigText,
  DISCORD,
  isSame,
  makePrivate,
  mergeAnswers,
  presentServer,
  type RawConfig,
  readConfigText,
  type ServerAnswer,
  saveConfig,
  shownChange,
} from './config-changes.ts';
import { chooseChannel, connectToDiscord, takeToken } from './discord.ts';
import { chooseHosts, nameOfThis, readHost } from './hosts.ts';
import { chooseAllowed, makeRoundTrip, type RoundTripTarget } from './messages.ts';

export interface InitFlags {
  readonly local?: boolean;
  readonly tokenFile?: string;
  readonly channel?: string;
  /** User ids; each value may be a comma-separated list. */
  readonly allow?: string | readonly string[];
  /** "name=ssh", or only the ssh name. */
  readonly host?: string | readonly string[];
  readonly api?: string;
  readonly yes?: boolean;
  /** False for --no-round-trip. */
  readonly roundTrip?: boolean;
}

const STOPPED = 130;
const PLACES = [
  { value: 'local', label: 'In a local workspace: a page in your browser, no account needed' },
  { value: 'discord', label: 'In Discord' },
] as const;

export async function runInit(flags: InitFlags): Promise<void> {
  const ask = await openQuestions({ yes: flags.yes === true });
  const undo = openCleanUp();
  const progress = { written: false };
  try {
    await Promise.race([wizard(flags, ask, undo, progress), ask.stopped]);
  } catch (error) {
    if (!ask.isStopped()) throw error;
    await undo.now();
    ask.say(progress.written ? '\nCancelled. config.json was written.' : '\nCancelled. Nothing was changed.');
    process.exit(STOPPED); // questions and requests may still be open
  } finally {
    await undo.now();
    ask.close();
  }
}

async function wizard(flags: InitFlags, ask: Questions, undo: CleanUp, progress: { written: boolean }): Promise<void> {
  const root = resolve(homeRoot(process.env));
  const before = readConfigText(root);
  const here = nameOfThis(before.raw, process.env, hostname());
  const given = listOf(flags.host).map((text) => readHost(text, here));
  const isLocal = await chooseLocal(flags, before, ask);
  const server = isLocal ? undefined : await askForServer(flags, before, root, ask, undo);
  const hosts = await chooseHosts({
    ask,
    undo,
    env: process.env,
    given,
    wantsMore: ask.isTerminal && flags.yes !== true && flags.host === undefined,
    here,
  });
  await write(root, before, mergeAnswers(before, { server, hosts }), ask);
  progress.written = true;
  if (flags.roundTrip !== false) {
    const tookMs = await makeRoundTrip(server ?? (await localDestination(root, undo)), undo);
    ask.say(`✓ A test message went to a thread and back in ${tookMs} ms.`);
  }
  for (const line of remarks(root, isLocal, process.env)) ask.say(line);
  ask.say('Setup is complete. Run `threadmux install` to add the hooks to Claude Code, then `threadmux up` to start.');
}

async function chooseLocal(flags: InitFlags, before: ConfigText, ask: Questions): Promise<boolean> {
  const discord = [flags.tokenFile, flags.channel, flags.allow, flags.api].some((flag) => flag !== undefined);
  if (flags.local && discord)
    throw new ThreadmuxError('bad_usage', '--local cannot be used with Discord options', {
      hint: 'The local workspace needs no token, channel or users.',
    });
  if (flags.local || discord) return flags.local === true;
  const isKnown = presentServer(before.raw, undefined) !== undefined;
  if (flags.yes) return !isKnown && !process.env.DISCORD_BOT_TOKEN;
  const question = 'Where do you want to chat with your sessions?';
  const usual = isKnown ? 'discord' : 'local';
  return (await ask.choose(question, PLACES, '--local or --token-file', usual)) === 'local';
}

async function askForServer(
  flags: InitFlags,
  before: ConfigText,
  root: string,
  ask: Questions,
  undo: CleanUp,
): Promise<ServerAnswer> {
  const { env } = process;
  const asked = flags.api ?? (env.DISCORD_API_BASE || undefined);
  const present = presentServer(before.raw, asked);
  const api = checkedApi(asked ?? (typeof present?.api === 'string' ? present.api : DISCORD));
  const first = await takeToken({ ask, env, root, given: flags.tokenFile, present });
  const access = await connectToDiscord(api, first, ask, undo);
  const { rest, bot, token, tokenFile } = access;
  const usual = flags.channel ?? (await keptChannel(present, ask));
  const channel = await chooseChannel(access, usual, ask);
  const allow = await chooseAllowed({
    ask,
    undo,
    rest,
    token,
    channel,
    botId: bot.id,
    given: listOf(flags.allow).flatMap((ids) => ids.split(',').map((id) => id.trim())),
    present: listOf(present?.allow),
  });
  return { api, token, tokenFile, channel: channel.id, allow };
}

async function keptChannel(present: RawConfig | undefined, ask: Questions): Promise<string | undefined> {
  const id = present?.channel;
  if (typeof id !== 'string') return undefined;
  return !ask.isTerminal || (await ask.yes(`Keep the channel ${id}?`, true)) ? id : undefined;
}

function checkedApi(api: string): string {
  if (/^https?:\/\//.test(api) && URL.canParse(api)) return api;
  throw new ThreadmuxError('bad_usage', `--api: "${api}" is not a valid address`, { hint: `Example: ${DISCORD}` });
}

async function write(root: string, before: ConfigText, after: string, ask: Questions): Promise<void> {
  const { path } = before;
  if (isSame(before, after)) {
    makePrivate(path);
    return ask.say(`${path} is up to date.`);
  }
  ask.say(before.text === undefined ? `New file ${path}:` : `Changes to ${path}:`);
  for (const line of shownChange(before, after)) ask.say(`  ${line}`);
  if (!(await ask.yes('Write these changes?', true)))
    throw new ThreadmuxError('bad_usage', 'cancelled; nothing was written');
  const backup = saveConfig(root, before, after);
  ask.say(backup === undefined ? `Wrote ${path}.` : `Wrote ${path}. Backup of the previous file: ${backup}`);
}

/** Reasons why the new configuration does not take effect. */
function remarks(root: string, isLocal: boolean, env: ConfigEnvironment): readonly string[] {
  const pid = holderOf(join(root, 'state', 'bridge.lock'));
  const set = ['DISCORD_BOT_TOKEN', 'DISCORD_CHANNEL_ID', 'DISCORD_ALLOWED_USERS'].filter((name) => env[name]);
  return [
    ...problemsOf(root, env).map((problem) => `! ${problem}`),
    ...(isLocal && set.length > 0
      ? [
          `! ${set.join(', ')} set in the environment: threadmux would use Discord. Unset them to use the local workspace.`,
        ]
      : []),
    ...(pid === undefined ? [] : [`! threadmux is running (process ${pid}). Restart threadmux to apply the changes.`]),
  ];
}

/** Unknown keys were kept, but `up` rejects them. */
function problemsOf(root: string, env: ConfigEnvironment): readonly string[] {
  try {
    loadConfig(openHome(root), env);
    return [];
  } catch (error) {
    return explain(error).split('\n');
  }
}

/** The running workspace, or a temporary one. */
async function localDestination(root: string, undo: CleanUp): Promise<RoundTripTarget> {
  const home = openHome(root);
  const running = loadLocalServer(home);
  if (running !== undefined && (await answers(running.api))) return running;
  const { startWorkspace } = await import('../../workspace/server.ts'); // loaded only if needed
  const workspace = await startWorkspace({ dir: home.folder('workspace') });
  undo.later(() => workspace.close());
  return { api: workspace.api, token: workspace.token, channel: workspace.channelId };
}

function answers(api: string): Promise<boolean> {
  return serverClock(api, 3_000).then(
    () => true,
    () => false,
  );
}

function listOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
