// threadmux install and uninstall: Claude Code's settings and tmux's hooks. Guards first, each a sentence; then every
// file whole or not at all, with the way back remembered before it is touched.

import { existsSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InstalledPaths } from '../agents/claude/hook-commands.ts';
import { ownStatusline } from '../agents/claude/settings.ts';
import type { ConfigEnvironment } from '../core/config.ts';
import { explain, ThreadmuxError } from '../core/errors.ts';
import type { Home } from '../home/home.ts';
import { loadInstalled } from '../home/installed.ts';
import { holderOf } from '../home/lock.ts';
import { checkWritable, readUserFile, removeIfEmpty, removeUserFile, writeUserFile } from '../home/user-owned-file.ts';
import { writeWhole } from '../home/whole-file.ts';
import type { Tmux } from '../tmux/tmux.ts';
import { eventScript, hooksConf, loadHooks, unloadHooks } from '../tmux/tmux-hooks.ts';
import {
  applyChange,
  type ChangePart,
  checkNoBridge,
  describeChange,
  type FileChange,
  type Files,
  locked,
  lockOf,
  planAdding,
  planRemoving,
  revertChange,
  settingsPart,
  tmuxPart,
  withInstallLock,
} from './file-change.ts';

const HERE: Files = {
  write: async (file, text) => writeUserFile(file, text),
  remove: async (file, madeFolder) => removeUserFile(file, madeFolder),
};
const PATIENCE_MS = 10_000;

export interface InstallOptions extends InstallPaths {
  /** The server to tell at once; undefined leaves tmux alone altogether. */
  readonly tmux: Tmux | undefined;
  /** Say what would change, and change nothing. */
  readonly dryRun?: boolean | undefined;
}

/** What was done, a sentence for each file. */
export async function install(
  options: InstallOptions & { readonly paths: InstalledPaths },
): Promise<readonly string[]> {
  const { root, paths, tmux } = options;
  checkPaths(root, paths);
  const plan = () => planInstall(options, paths, tmux !== undefined);
  const preview = plan();
  if (options.dryRun) return preview.flatMap(describeChange);
  return locked(root, async (home) => {
    writeWhole(join(home.folder('state'), 'node'), `${paths.node}\n`);
    if (tmux !== undefined) {
      writeWhole(home.path('tmux.conf'), hooksConf(home.path('tmux-event')));
      writeWhole(home.path('tmux-event'), eventScript, 0o700);
    }
    const said = await withInstallLock(plan(), (change) => applyChange(change, recordsOf(root), HERE));
    return tmux === undefined ? said : [...said, await describeInstall(tmux, home.path('tmux.conf'))];
  });
}

/** Gives back what install changed. `purge` removes our home as well: configuration, messages, log. */
export async function uninstall(
  options: InstallOptions & { readonly purge?: boolean | undefined },
): Promise<readonly string[]> {
  const { root, tmux } = options;
  if (options.purge) checkNoBridge(root);
  const preview = planUninstall(options);
  if (options.dryRun) return preview.flatMap(describeChange);
  const said = await locked(root, async (home) => {
    const records = recordsOf(root);
    const lines = await withInstallLock(planUninstall(options), (one) => revertChange(one, records, HERE));
    const isLast = loadInstalled(records).length === 0;
    const isLive = isLast && tmux !== undefined && (await unloadHooks(tmux).catch(() => false));
    if (isLast) clearHome(home);
    return isLive ? [...lines, 'tmux: the running server has lost our hooks.'] : lines;
  });
  if (options.purge) await endCourier(root);
  return [...said, ...leaveHome(root, options.purge === true)];
}

/** The files are done by now: a server that does not answer is said, not fatal. */
export async function describeInstall(tmux: Tmux, conf: string): Promise<string> {
  try {
    return (await loadHooks(tmux, conf))
      ? 'tmux: the running server has our hooks from now on.'
      : 'tmux: no server runs; the next one loads our hooks when it starts.';
  } catch (error) {
    return `tmux: ${explain(error)}`;
  }
}

/** What would stop working later, or could not be written into the files we write. */
function checkPaths(root: string, { node, dist }: InstalledPaths): void {
  if (dist.includes('/_npx/'))
    throw refused(`${dist} is a cache that npm empties at will`, 'Install it first: npm install -g threadmux');
  if (!existsSync(join(dist, 'hooks', 'drop')))
    throw refused(`${dist} is not complete: hooks/drop is missing`, 'Build or install it again.');
  for (const path of [root, node, dist])
    if (/\p{Cc}/u.test(path))
      throw refused(`${JSON.stringify(path)} holds a control character`, 'Choose a folder with a plain name.');
}

/** The courier that the last hook has started ends when it is asked to. */
async function endCourier(root: string): Promise<void> {
  const courier = holderOf(lockOf(root, 'courier'));
  if (courier === undefined) return;
  process.kill(courier, 'SIGTERM');
  for (let waited = 0; holderOf(lockOf(root, 'courier')) === courier; waited += 50) {
    if (waited >= PATIENCE_MS)
      throw refused(`a courier is at work (process ${courier})`, 'Run this again in a minute.');
    await sleep(50);
  }
}

function refused(message: string, hint: string): ThreadmuxError {
  return new ThreadmuxError('home_unsafe', message, { hint });
}

function clearHome(home: Home): void {
  for (const name of ['tmux.conf', 'tmux-event', 'state/node', 'state/tmux-events', 'state/backups'])
    rmSync(home.path(name), { recursive: true, force: true });
}

/** Nobody's messages or token are deleted unasked; an empty folder is nobody's. */
function leaveHome(root: string, purge: boolean): readonly string[] {
  if (purge) rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  else removeIfEmpty(join(root, 'state'));
  if (purge || removeIfEmpty(root)) return [];
  return [`${root}: stays, with your configuration and messages; \`threadmux uninstall --purge\` removes it too.`];
}

// Which files of this machine install and uninstall would change, and how. It looks and decides; install.ts acts.
// Everything that can be refused is refused here, before anything is touched.

interface InstallPaths {
  /** The folder of our home. */
  readonly root: string;
  /** HOME, CLAUDE_CONFIG_DIR and XDG_CONFIG_HOME say where the user's files are. */
  readonly env: ConfigEnvironment;
  /** This project's settings.local.json instead of the user's settings.json. */
  readonly project?: string | undefined;
}

function planInstall(places: InstallPaths, paths: InstalledPaths, withTmux: boolean): FileChange[] {
  const { root, env, project } = places;
  if (project !== undefined && !existsSync(project))
    throw new ThreadmuxError('home_unsafe', `there is no folder ${resolve(project)}`, {
      hint: 'Give the folder of the project, as in: threadmux install --project ~/shop',
    });
  const plan = (path: string, part: ChangePart) => checked(planAdding(recordsOf(root), readUserFile(path), part));
  const settings = plan(settingsPath(places), settingsPart(paths, lentStatusline(places)));
  if (!withTmux) return [settings];
  const [first = '', ...others] = tmuxConfs(env);
  const conf = [first, ...others].find((path) => existsSync(path)) ?? first;
  return [settings, plan(conf, tmuxPart(join(root, 'tmux.conf')))];
}

/** For a project its one file, and tmux with the last of them; else everything that is known of. */
function planUninstall(places: InstallPaths): FileChange[] {
  const records = recordsOf(places.root);
  const installed = loadInstalled(records);
  const main = settingsPath(places);
  const others = installed.filter(({ kind, path }) => kind === 'settings' && path !== main);
  const tmux = [...installed.flatMap(({ kind, path }) => (kind === 'tmux' ? path : [])), ...tmuxConfs(places.env)];
  const plan = (path: string, part: ChangePart) => checked(planRemoving(records, readUserFile(path), part));
  const isAll = places.project === undefined;
  const settings = [main, ...(isAll ? others.map(({ path }) => path) : [])];
  return [
    ...settings.map((path) => plan(path, settingsPart({ node: '', dist: '' }))),
    ...[...new Set(isAll || others.length === 0 ? tmux : [])]
      .map((path) => plan(path, tmuxPart('')))
      .filter(({ file, after }) => file.text !== after || installed.some(({ path }) => path === file.path)),
  ];
}

/** Where is remembered what the files of this machine were. */
function recordsOf(root: string): string {
  return join(root, 'state');
}

/** Refused before anything is touched. */
function checked(change: FileChange): FileChange {
  if (change.after !== change.file.text) checkWritable(change.file);
  return change;
}

function settingsPath({ env, project }: InstallPaths): string {
  return project === undefined ? userSettings(env) : join(resolve(project), '.claude', 'settings.local.json');
}

function userSettings(env: ConfigEnvironment): string {
  return join(resolve(env.CLAUDE_CONFIG_DIR || join(homeOf(env), '.claude')), 'settings.json');
}

/** A project's file overrules the shared one beside it and the user's: what they show must not vanish. */
function lentStatusline({ env, project }: InstallPaths): string | undefined {
  if (project === undefined) return undefined;
  const shared = join(dirname(settingsPath({ root: '', env, project })), 'settings.json');
  for (const path of [shared, userSettings(env)]) {
    const command = ownStatusline(readUserFile(path).text ?? '');
    if (command !== undefined) return command;
  }
  return undefined;
}

/** Where tmux looks for the user's configuration, in its order. */
function tmuxConfs(env: ConfigEnvironment): readonly string[] {
  const home = homeOf(env);
  const xdg = env.XDG_CONFIG_HOME ? [env.XDG_CONFIG_HOME] : [];
  return [
    join(home, '.tmux.conf'),
    ...[...xdg, join(home, '.config')].map((folder) => join(folder, 'tmux', 'tmux.conf')),
  ];
}

function homeOf(env: ConfigEnvironment): string {
  if (env.HOME) return env.HOME;
  throw new ThreadmuxError('home_unsafe', 'HOME is not set', {
    hint: 'Run this as yourself, with HOME set to your home folder.',
  });
}
