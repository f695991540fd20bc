// !set shows and changes the settings of a thread. They are kept in the registry, and applied to the running agent where it can
// change them.

import { allDrivers, driverOf } from '../../agents/list.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import {
  MODEL_NAMES,
  oneOf,
  PERMISSION_MODES,
  PROGRESS_LEVELS,
  SETTING_KEYS,
  type SessionSettings,
  settingFor,
} from '../../core/session-settings.ts';
import { bold, untrustedCode } from '../../core/untrusted-text.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { settingsInForce } from '../../threads/thread-settings.ts';
import { isFresh } from '../inbox.ts';
import { settingLine } from '../setting-line.ts';
import { type Command, type CommandCall, type CommandContext, type CommandReply, replyWith } from './command.ts';
import { checkBypass } from './project-here.ts';
import { sessionOf } from './session-status.ts';
import { modeName, switchMode } from './switch-mode.ts';

/** The settings that a thread can have. */
export const THREAD_SETTINGS = ['model', 'mode', 'progress'] as const;
type ThreadSetting = (typeof THREAD_SETTINGS)[number];

export const setCommand: Command = {
  name: 'set',
  usage: '!set [model|mode|progress] [value]',
  about: 'show the settings of this thread, or change one, such as `!set model opus`; `default` removes it',
  async run(order, context) {
    const record = sessionOf(order, context);
    if (record === undefined)
      throw new ThreadmuxError('bad_usage', 'Use this in a session’s thread.', {
        hint: 'Settings of all sessions are in the configuration: "defaults" of a project, or of the top level.',
      });
    const [name = '', ...words] = order.rest.split(/\s+/).filter(Boolean);
    if (name === '') return replyWith(listText(record, context));
    const setting = THREAD_SETTINGS.find((one) => one === name.toLowerCase());
    if (setting === undefined) throw new ThreadmuxError('bad_usage', oneOf(name, 'a setting', THREAD_SETTINGS));
    if (words.length === 0) return replyWith(settingLine(setting, record, context.threads));
    return change(order, setting, words.join(' '), record, context);
  },
};

async function change(
  order: CommandCall,
  setting: ThreadSetting,
  word: string,
  record: ThreadRecord,
  context: CommandContext,
): Promise<CommandReply> {
  const { registry } = context.threads;
  const given = word.toLowerCase() === 'default' ? {} : settingFor(setting, word);
  await checkBypass(given, { host: record.host, directory: record.project || record.cwd }, context);
  const { [SETTING_KEYS[setting]]: _, ...others } = record.settings ?? {};
  const settings: SessionSettings = { ...others, ...given };
  const driver = driverOf(record.agent);
  const runs = record.claudeSession !== '' && record.state !== 'ended' && !record.closed;
  if (runs && setting === 'model' && driver.model !== undefined) {
    const { model = 'default' } = settingsInForce({ ...record, settings }, context.threads);
    const text = driver.model.command(model);
    return applyModel(order, { text, title: driver.title, setsModel: settings.model ?? '' }, context);
  }
  const now = registry.change(record.thread, { settings }) ?? record;
  const line = `⚙️ ${settingLine(setting, now, context.threads)}`;
  if (setting === 'progress') return replyWith(line);
  const later = `${driver.title} gets it at its next start.`;
  if (!runs || setting === 'model') return replyWith(`${line} ${later}`);
  const inForce = settingsInForce(now, context.threads);
  return replyWith(`${line} ${await applyMode(order, inForce, later, context)}`);
}

/**
 * The command is a message of its own: the reply carries its marks, and it waits as any other message does. The setting changes when the
 * agent has taken it (post-printed.ts).
 */
function applyModel(
  { thread, by, byId }: CommandCall,
  { text, title, setsModel }: { readonly text: string; readonly title: string; readonly setsModel: string },
  context: CommandContext,
): CommandReply {
  return {
    content: `⚙️ ${bold('model')}: sent to ${title} as ${untrustedCode(text)}. It may ask you to confirm, and saves it as the default of your new sessions.`,
    async after(channelId, id) {
      if (id === undefined || thread === undefined) return;
      context.accept({ id, channelId, authorId: byId, author: by, text, setsModel, attachments: [] }, thread);
    },
  };
}

async function applyMode(
  { id, thread, liveAt }: CommandCall,
  { permissionMode: wanted = 'default' }: SessionSettings,
  later: string,
  context: CommandContext,
): Promise<string> {
  // Keys are pressed only for a command that was received live: the pane may show something else since.
  if (!isFresh(liveAt, performance.now())) return `${later} To change it now, send this again.`;
  const pane = thread && (await context.panes.find(thread, true));
  if (thread === undefined || pane === undefined) return later;
  const driver = driverOf(pane.record.agent);
  const { modes: keys } = driver;
  if (keys === undefined) return later;
  const done = await context.pressing(thread.id, () =>
    switchMode(pane, { wanted, order: id, driver, keys }, context.shownScreens),
  );
  if (done.is === 'done') return `${driver.title} is in this mode now.`;
  if (done.is === 'not-taken')
    return `${driver.title} has not reacted to the last key, and may still take it. Look with \`!screen\`. ${later}`;
  if (done.is === 'hidden') {
    const between = done.hasPressed
      ? 'The key was pressed before, so it is in another mode than it was: look with `!status` afterwards. '
      : '';
    return `${done.because} ${between}${later} To change it now, make room and send this again.`;
  }
  return `${driver.title} does not offer this mode while it runs, and is in \`${modeName(done.now, driver)}\` mode. ${later}`;
}

function listText(record: ThreadRecord, context: CommandContext): string {
  const more = settingsInForce(record, context.threads).worktree === undefined ? [] : (['worktree'] as const);
  const lines = [...THREAD_SETTINGS, ...more].map((name) => settingLine(name, record, context.threads));
  return [...lines, '`!set model opus` changes one for this thread, and `!set model default` removes it.'].join('\n');
}

/** For autocomplete. Models that were used before are suggested, too. */
export function settingWords(
  name: string,
  { server, threads }: Pick<CommandContext, 'server' | 'threads'>,
): readonly string[] {
  if (name === 'mode') return PERMISSION_MODES.map((mode) => (mode === 'default' ? 'manual' : mode));
  if (name === 'progress') return PROGRESS_LEVELS;
  if (name === 'agent') return allDrivers().map((driver) => driver.name);
  const projects = threads.projects().filter((one) => one.server === server.name);
  const used = [
    ...threads.registry.all().map(({ settings }) => settings?.model),
    ...projects.flatMap(({ defaults, sessions }) => [defaults.model, ...sessions.map(({ model }) => model)]),
  ];
  return [...new Set([...MODEL_NAMES, ...used.flatMap((model) => model ?? [])])];
}
