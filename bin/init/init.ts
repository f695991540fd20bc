// threadmux init: asks what has to be known, proves every answer, writes config.json, and ends with a message that went
// out and came back. Until the very write nothing is changed.

import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type { ConfigEnvironment } from '../../core/config.ts';
import { explain, ThreadmuxError } from '../../core/errors.ts';
import { serverClock } from '../../discord/inspect-server.ts';
import { loadConfig } from '../../home/config-file.ts';
import { homeRoot, openHome } from '../../home/home.ts';
import { loadLocalServer } from '../../home/local-server.ts';
import { holderOf } from '../../home/lock.ts';
import { type CleanUp, openCleanUp } from '../clean-up.ts';
import { openQuestions, type Questions } from '../questions.ts';
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
import { chooseChannel, connectToDiscord } from './discord.ts';
import { chooseHosts, nameOfThis, readHost } from './hosts.ts';
import { chooseAllowed } from './pairing.ts';
import { makeRoundTrip, type RoundTripTarget } from './round-trip.ts';
import { takeToken } from './token.ts';

export interface InitFlags {
  readonly local?: boolean;
  readonly tokenFile?: string;
  readonly channel?: string;
  /** User ids, each by itself or several with commas. */
  readonly allow?: string | readonly string[];
  /** "name=ssh", or ssh's name alone. */
  readonly host?: string | readonly string[];
  readonly api?: string;
  readonly yes?: boolean;
  /** False for --no-round-trip. */
  readonly roundTrip?: boolean;
}

const STOPPED = 130;
const PLACES = [
  {
    value: 'local',
    label: 'in a local workspace: a page in your browser, nothing to sign up for',
  },
  { value: 'discord', label: 'in Discord' },
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
    ask.say(progress.written ? '\nStopped. config.json is written.' : '\nStopped. Nothing was changed.');
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
    ask.say(`✓ A message went into a thread and came back in ${tookMs} ms; the thread is archived.`);
  }
  for (const line of remarks(root, isLocal, process.env)) ask.say(line);
  ask.say('Ready. Start it with `threadmux up`; `threadmux install` adds the hooks to Claude Code.');
}

async function chooseLocal(flags: InitFlags, before: ConfigText, ask: Questions): Promise<boolean> {
  const discord = [flags.tokenFile, flags.channel, flags.allow, flags.api].some((flag) => flag !== undefined);
  if (flags.local && discord)
    throw new ThreadmuxError('bad_usage', '--local goes with no flag about Discord', {
      hint: 'The local workspace needs neither token, channel nor users.',
    });
  if (flags.local || discord) return flags.local === true;
  const isKnown = presentServer(before.raw, undefined) !== undefined;
  if (flags.yes) return !isKnown && !process.env.DISCORD_BOT_TOKEN;
  const question = 'Where do you want to meet your sessions?';
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
  const entrance = await connectToDiscord(api, first, ask, undo);
  const { rest, bot, token, tokenFile } = entrance;
  const usual = flags.channel ?? (await keptChannel(present, ask));
  const channel = await chooseChannel(entrance, usual, ask);
  const allow = await chooseAllowed({
    ...{ ask, undo, rest, token, channel, botId: bot.id },
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
  throw new ThreadmuxError('bad_usage', `--api: "${api}" is not an address`, {
    hint: `It looks like ${DISCORD}.`,
  });
}

async function write(root: string, before: ConfigText, after: string, ask: Questions): Promise<void> {
  const { path } = before;
  if (isSame(before, after)) {
    makePrivate(path);
    return ask.say(`${path} stays as it is.`);
  }
  ask.say(before.text === undefined ? `${path} is going to be:` : `${path} is going to change:`);
  for (const line of shownChange(before, after)) ask.say(`  ${line}`);
  if (!(await ask.yes('Write it?', true))) throw new ThreadmuxError('bad_usage', 'nothing was written, as you wished');
  const backup = saveConfig(root, before, after);
  ask.say(backup === undefined ? `Wrote ${path}.` : `Wrote ${path}; as it was: ${backup}`);
}

/** What would keep the new configuration from being used. */
function remarks(root: string, isLocal: boolean, env: ConfigEnvironment): readonly string[] {
  const pid = holderOf(join(root, 'state', 'bridge.lock'));
  const set = ['DISCORD_BOT_TOKEN', 'DISCORD_CHANNEL_ID', 'DISCORD_ALLOWED_USERS'].filter((name) => env[name]);
  return [
    ...problemsOf(root, env).map((problem) => `! ${problem}`),
    ...(isLocal && set.length > 0
      ? [`! ${set.join(', ')} in the environment: with them Discord is used. Unset them.`]
      : []),
    ...(pid === undefined ? [] : [`! threadmux runs (process ${pid}): start it anew, to read the new configuration.`]),
  ];
}

/** Keys that we do not know were kept, but `up` refuses them. */
function problemsOf(root: string, env: ConfigEnvironment): readonly string[] {
  try {
    loadConfig(openHome(root), env);
    return [];
  } catch (error) {
    return explain(error).split('\n');
  }
}

/** The workspace that runs, or else one that runs for this moment. */
async function localDestination(root: string, undo: CleanUp): Promise<RoundTripTarget> {
  const home = openHome(root);
  const running = loadLocalServer(home);
  if (running !== undefined && (await answers(running.api))) return running;
  const { startWorkspace } = await import('../../workspace/server.ts'); // most people need none of it
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
