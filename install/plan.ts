// Which files of this machine install and uninstall would change, and how. It looks and decides; install.ts acts.
// Everything that can be refused is refused here, before anything is touched.

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { InstalledPaths } from '../agents/claude/hook-commands.ts';
import { ownStatusline } from '../agents/claude/settings.ts';
import type { ConfigEnvironment } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { loadInstalled } from '../home/installed.ts';
import { checkWritable, readUserFile } from '../home/user-owned-file.ts';
import { type ChangePart, type FileChange, planAdding, planRemoving, settingsPart, tmuxPart } from './file-change.ts';

export interface InstallPaths {
  /** The folder of our home. */
  readonly root: string;
  /** HOME, CLAUDE_CONFIG_DIR and XDG_CONFIG_HOME say where the user's files are. */
  readonly env: ConfigEnvironment;
  /** This project's settings.local.json instead of the user's settings.json. */
  readonly project?: string | undefined;
}

export function planInstall(places: InstallPaths, paths: InstalledPaths, withTmux: boolean): FileChange[] {
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
export function planUninstall(places: InstallPaths): FileChange[] {
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
export function recordsOf(root: string): string {
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
