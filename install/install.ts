// Installs and uninstalls our hooks in Claude Code's settings and in tmux. All checks run before the first change; each file is
// replaced atomically, and its backup is written first.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownStatusline } from '../agents/claude/settings.ts';
import type { ConfigEnvironment } from '../core/config.ts';
import { explain, ThreadmuxError } from '../core/errors.ts';
import { writeWhole } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import { loadInstalled } from '../home/installed.ts';
import { holderOf } from '../home/lock.ts';
import { checkWritable, readUserFile, removeIfEmpty, removeUserFile, writeUserFile } from '../home/user-owned-file.ts';
import type { Tmux } from '../tmux/tmux.ts';
import { eventScript, hooksConf, loadHooks, unloadHooks } from '../tmux/tmux-hooks.ts';
import { checkPaths } from './check-paths.ts';
import { extensionFiles, extensionPart, installedExtensions } from './extension-files.ts';
import {
  applyChange,
  type ChangePart,
  checkUnused,
  describeChange,
  type FileChange,
  type Files,
  inOrder,
  lockOf,
  planAdding,
  planRemoving,
  revertChange,
  settingsPart,
  tmuxPart,
  withInstallLock,
} from './file-change.ts';
import { rememberProgram } from './plugin.ts';
import type { ProgramPaths } from './program-files.ts';

const HERE: Files = {
  write: async (file, text) => writeUserFile(file, text),
  remove: async (file, madeFolder) => removeUserFile(file, madeFolder),
};
const PATIENCE_MS = 10_000;

export interface InstallOptions extends InstallPaths {
  /** The tmux server to load the hooks into; undefined does not change tmux. */
  readonly tmux: Tmux | undefined;
  /** Describe the changes without making them. */
  readonly dryRun?: boolean | undefined;
}

interface InstallWishes {
  readonly paths: ProgramPaths;
  /** The names of agents whose extensions are added. */
  readonly agents?: readonly string[];
}

/** Returns what was done, one sentence per file. */
export async function install(options: InstallOptions & InstallWishes): Promise<readonly string[]> {
  const { root, paths, tmux } = options;
  checkPaths(root, paths);
  const plan = () => planInstall(options, tmux !== undefined);
  const preview = plan();
  if (options.dryRun) return preview.flatMap(describeChange);
  return withInstallLock(root, async (home) => {
    rememberProgram(home, paths);
    if (tmux !== undefined) {
      writeWhole(home.path('tmux.conf'), hooksConf(home.path('tmux-event')));
      writeWhole(home.path('tmux-event'), eventScript, 0o700);
    }
    const said = await inOrder(plan(), (change) => applyChange(change, recordsOf(root), HERE));
    return tmux === undefined ? said : [...said, await describeInstall(tmux, home.path('tmux.conf'))];
  });
}

/** Undoes install. `purge` also deletes our home with the configuration, messages and logs. */
export async function uninstall(
  options: InstallOptions & { readonly purge?: boolean | undefined },
): Promise<readonly string[]> {
  const { root, tmux } = options;
  if (options.purge) checkUnused(root);
  if (options.purge) checkNoWorktrees(join(root, 'worktrees'));
  const preview = planUninstall(options);
  if (options.dryRun) return preview.flatMap(describeChange);
  const said = await withInstallLock(root, async (home) => {
    const records = recordsOf(root);
    const lines = await inOrder(planUninstall(options), (one) => revertChange(one, records, HERE));
    const isLast = loadInstalled(records).length === 0;
    const isLive = isLast && tmux !== undefined && (await unloadHooks(tmux).catch(() => false));
    if (isLast) clearHome(home);
    return isLive ? [...lines, 'tmux: removed the hooks from the running server.'] : lines;
  });
  if (options.purge) await endCourier(root);
  return [...said, ...leaveHome(root, options.purge === true)];
}

/** The files are already changed, so a server that does not respond is reported and is not an error. */
export async function describeInstall(tmux: Tmux, conf: string): Promise<string> {
  try {
    return (await loadHooks(tmux, conf))
      ? 'tmux: loaded the hooks into the running server.'
      : 'tmux: no server is running; the next one loads the hooks when it starts.';
  } catch (error) {
    return `tmux: ${explain(error)}`;
  }
}

/** A courier that a hook has started may still be running. */
async function endCourier(root: string): Promise<void> {
  const courier = holderOf(lockOf(root, 'courier'));
  if (courier === undefined) return;
  process.kill(courier, 'SIGTERM');
  for (let waited = 0; holderOf(lockOf(root, 'courier')) === courier; waited += 50) {
    if (waited >= PATIENCE_MS)
      throw refused(`a courier is still running (process ${courier})`, 'Run this again in a minute.');
    await sleep(50);
  }
}

/** They may have work that is nowhere else. */
function checkNoWorktrees(folder: string): void {
  const names = [folder, join(folder, '.removing')].flatMap((one) => (existsSync(one) ? readdirSync(one) : []));
  if (names.every((name) => name === '.removing' || /^\.(out|lock)/.test(name))) return;
  throw refused(`${folder} has worktrees of sessions`, 'Remove them first: `threadmux worktrees` lists them.');
}

function refused(message: string, hint: string): ThreadmuxError {
  return new ThreadmuxError('home_unsafe', message, { hint });
}

function clearHome(home: Home): void {
  for (const name of ['tmux.conf', 'tmux-event', 'state/node', 'state/program', 'state/tmux-events', 'state/backups'])
    rmSync(home.path(name), { recursive: true, force: true });
}

/** Messages and tokens are deleted only with --purge; empty folders always. */
function leaveHome(root: string, purge: boolean): readonly string[] {
  if (purge) rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  else removeIfEmpty(join(root, 'state'));
  if (purge || removeIfEmpty(root)) return [];
  return [`${root}: kept, with your configuration and messages. Run \`threadmux uninstall --purge\` to delete it.`];
}

interface InstallPaths {
  /** The folder of our home. */
  readonly root: string;
  /** HOME, CLAUDE_CONFIG_DIR and XDG_CONFIG_HOME give the paths of the user's files. */
  readonly env: ConfigEnvironment;
  /** If given, the settings.local.json of this project is changed instead of the user's settings.json. */
  readonly project?: string | undefined;
  /** The hooks are in our plugin, so the settings are not changed. */
  readonly plugin?: boolean | undefined;
}

function planInstall(places: InstallPaths & InstallWishes, withTmux: boolean): FileChange[] {
  const { root, env, project, paths, agents = [] } = places;
  if (project !== undefined && !existsSync(project))
    throw new ThreadmuxError('home_unsafe', `the folder ${resolve(project)} does not exist`, {
      hint: 'Give the folder of the project, for example: threadmux install --project ~/shop',
    });
  const plan = (path: string, part: ChangePart) => checked(planAdding(recordsOf(root), readUserFile(path), part));
  const settings = places.plugin ? [] : [plan(settingsPath(places), settingsPart(paths, lentStatusline(places)))];
  const files = extensionFiles(env.HOME ?? '', { scripts: `${paths.dist}/hooks`, home: root }, agents, recordsOf(root));
  const added = files.map(({ path, part }) => plan(path, part));
  if (!withTmux) return [...settings, ...added];
  const [first = '', ...others] = tmuxConfs(env);
  const conf = [first, ...others].find((path) => existsSync(path)) ?? first;
  return [...settings, plan(conf, tmuxPart(join(root, 'tmux.conf'))), ...added];
}

/** For a project, only its own file, and tmux if it is the last one; otherwise all files that install has changed. */
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
    ...settings.map((path) => plan(path, settingsPart({ dist: '' }))),
    ...[...new Set(isAll || others.length === 0 ? tmux : [])]
      .map((path) => plan(path, tmuxPart('')))
      .filter(({ file, after }) => file.text !== after || installed.some(({ path }) => path === file.path)),
    ...(isAll ? installedExtensions(records).map((path) => plan(path, extensionPart(''))) : []),
  ];
}

/** The folder with the backups of this machine's files. */
function recordsOf(root: string): string {
  return join(root, 'state');
}

/** Fails before anything is changed. */
function checked(change: FileChange): FileChange {
  if (change.after !== change.file.text) checkWritable(change.file);
  return change;
}

function settingsPath({ env, project }: InstallPaths): string {
  return project === undefined ? userSettings(env) : join(resolve(project), '.claude', 'settings.local.json');
}

export function userSettings(env: ConfigEnvironment): string {
  return join(resolve(env.CLAUDE_CONFIG_DIR || join(homeOf(env), '.claude')), 'settings.json');
}

/** A project's local settings override the shared and the user's settings, so we keep showing the status line of those. */
function lentStatusline({ env, project }: InstallPaths): string | undefined {
  if (project === undefined) return undefined;
  const shared = join(dirname(settingsPath({ root: '', env, project })), 'settings.json');
  for (const path of [shared, userSettings(env)]) {
    const command = ownStatusline(readUserFile(path).text ?? '');
    if (command !== undefined) return command;
  }
  return undefined;
}

/** The paths where tmux looks for the user's configuration, in its order. */
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
