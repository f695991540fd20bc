// Which files install and uninstall would change, and how. It looks and decides; install.ts acts.
// Everything that can be refused is refused here, before anything is touched.

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { InstalledPaths } from './claude/commands.ts';
import { addThreadmux, ownStatusline, removeThreadmux } from './claude/settings.ts';
import type { Env } from './core/config.ts';
import { isThreadmuxError, ThreadmuxError } from './core/errors.ts';
import { beforeInstall, type Installed, isAsWeLeftIt, loadInstalled } from './home/installed.ts';
import { checkWritable, readUserFile, type UserFile } from './home/user-file.ts';
import { addSourceLine, removeSourceLine } from './tmux/hooks.ts';

export interface Places {
  /** The folder of our home. */
  readonly root: string;
  /** HOME, CLAUDE_CONFIG_DIR and XDG_CONFIG_HOME say where the user's files are. */
  readonly env: Env;
  /** This project's settings.local.json instead of the user's settings.json. */
  readonly project?: string | undefined;
}

/** One file: as it is, as it was without us, and as it is going to be. Undefined is a file that is not there. */
export interface Change {
  readonly kind: Installed['kind'];
  readonly file: UserFile;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The topmost folder that was made for it. */
  readonly madeFolder: string | null;
}

export function planInstall(places: Places, paths: InstalledPaths, withTmux: boolean): Change[] {
  const { root, env, project } = places;
  if (project !== undefined && !existsSync(project))
    throw new ThreadmuxError('home_unsafe', `there is no folder ${resolve(project)}`, {
      hint: 'Give the folder of the project, as in: threadmux install --project ~/shop',
    });
  const lent = lentStatusline(places);
  const settings = planAdding(root, 'settings', settingsPath(places), (text) =>
    addThreadmux(text, paths, lent),
  );
  if (!withTmux) return [settings];
  const [first = '', ...others] = tmuxConfs(env);
  const conf = [first, ...others].find((path) => existsSync(path)) ?? first;
  return [
    settings,
    planAdding(root, 'tmux', conf, (text) => addSourceLine(text, join(root, 'tmux.conf'))),
  ];
}

/** For a project its one file, and tmux with the last of them; else everything that is known of. */
export function planUninstall(places: Places): Change[] {
  const installed = loadInstalled(places.root);
  const main = settingsPath(places);
  const others = installed.filter(({ kind, path }) => kind === 'settings' && path !== main);
  const tmux = [
    ...installed.flatMap(({ kind, path }) => (kind === 'tmux' ? path : [])),
    ...tmuxConfs(places.env),
  ];
  const isAll = places.project === undefined;
  const settings = [main, ...(isAll ? others.map(({ path }) => path) : [])];
  return [
    ...settings.map((path) => planRemoving(places.root, 'settings', path)),
    ...[...new Set(isAll || others.length === 0 ? tmux : [])]
      .map((path) => planRemoving(places.root, 'tmux', path))
      .filter(({ file, after }) => file.text !== after),
  ];
}

function planAdding(
  root: string,
  kind: Change['kind'],
  path: string,
  add: (text: string) => string,
): Change {
  const file = readUserFile(path);
  const entry = entryOf(root, path);
  const madeFolder = entry?.madeFolder ?? null;
  const isDone = file.text !== undefined && naming(path, () => edit(file.text, add)) === file.text;
  if (isDone) return { kind, file, before: file.text, after: file.text, madeFolder };
  checkWritable(file);
  const before = withoutUs(root, kind, file, entry);
  return { kind, file, before, after: naming(path, () => edit(before, add)), madeFolder };
}

function planRemoving(root: string, kind: Change['kind'], path: string): Change {
  const file = readUserFile(path);
  const entry = entryOf(root, path);
  const after = naming(path, () => withoutUs(root, kind, file, entry));
  if (after !== file.text) checkWritable(file);
  return { kind, file, before: after, after, madeFolder: entry?.madeFolder ?? null };
}

function entryOf(root: string, path: string): Installed | undefined {
  return loadInstalled(root).find((one) => one.path === path);
}

/** As it was if nobody else has changed it since, else with just our parts taken out. */
function withoutUs(
  root: string,
  kind: Change['kind'],
  { text }: UserFile,
  entry: Installed | undefined,
): string | undefined {
  if (text === undefined) return undefined;
  const before = entry && beforeInstall(root, entry);
  const wasMissing = entry?.backup === null;
  if (entry && isAsWeLeftIt(entry, text) && (wasMissing || before !== undefined)) return before;
  const rest = edit(text, (own) =>
    kind === 'tmux' ? removeSourceLine(own) : removeThreadmux(own, before),
  );
  return wasMissing && /^\s*(\{\s*\}\s*)?$/.test(rest) ? undefined : rest;
}

/** A byte order mark stays in front. */
function edit(text: string | undefined, change: (text: string) => string): string {
  const mark = text?.startsWith('\ufeff') ? '\ufeff' : '';
  return mark + change((text ?? '').slice(mark.length));
}

/** The refusals of a text do not know whose text it is. */
function naming<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!isThreadmuxError(error)) throw error;
    throw new ThreadmuxError(error.code, `${path} was left as it is: ${error.message}`, {
      cause: error,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
  }
}

function settingsPath({ env, project }: Places): string {
  return project === undefined
    ? userSettings(env)
    : join(resolve(project), '.claude', 'settings.local.json');
}

function userSettings(env: Env): string {
  return join(resolve(env.CLAUDE_CONFIG_DIR || join(homeOf(env), '.claude')), 'settings.json');
}

/** A project's file overrules the shared one beside it and the user's: what they show must not vanish. */
function lentStatusline({ env, project }: Places): string | undefined {
  if (project === undefined) return undefined;
  const shared = join(dirname(settingsPath({ root: '', env, project })), 'settings.json');
  for (const path of [shared, userSettings(env)]) {
    const command = ownStatusline(readUserFile(path).text ?? '');
    if (command !== undefined) return command;
  }
  return undefined;
}

/** Where tmux looks for the user's configuration, in its order. */
function tmuxConfs(env: Env): readonly string[] {
  const home = homeOf(env);
  const xdg = env.XDG_CONFIG_HOME ? [env.XDG_CONFIG_HOME] : [];
  return [
    join(home, '.tmux.conf'),
    ...[...xdg, join(home, '.config')].map((folder) => join(folder, 'tmux', 'tmux.conf')),
  ];
}

function homeOf(env: Env): string {
  if (env.HOME) return env.HOME;
  throw new ThreadmuxError('home_unsafe', 'HOME is not set', {
    hint: 'Run this as yourself, with HOME set to your home folder.',
  });
}
