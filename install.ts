// threadmux install and uninstall: Claude Code's settings and tmux's hooks. Guards first, each a sentence; then every
// file whole or not at all, with the way back remembered before it is touched.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InstalledPaths } from './claude/commands.ts';
import { showsStatusline } from './claude/settings.ts';
import { explain, ThreadmuxError } from './core/errors.ts';
import { lineDiff } from './core/line-diff.ts';
import { writeWhole } from './home/files.ts';
import { type Home, openHome } from './home/home.ts';
import { forgetInstalled, loadInstalled, rememberInstalled } from './home/installed.ts';
import { holderOf, tryLock } from './home/lock.ts';
import { removeIfEmpty, removeUserFile, writeUserFile } from './home/user-file.ts';
import { type Change, type Places, planInstall, planUninstall } from './install-plan.ts';
import { eventScript, hooksConf, loadHooks, unloadHooks } from './tmux/hooks.ts';
import type { Tmux } from './tmux/tmux.ts';

const PATIENCE_MS = 10_000;

export interface InstallOptions extends Places {
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
  if (options.dryRun) return preview.flatMap(shown);
  return locked(root, async (home) => {
    writeWhole(join(home.folder('state'), 'node'), `${paths.node}\n`);
    if (tmux !== undefined) {
      writeWhole(home.path('tmux.conf'), hooksConf(home.path('tmux-event')));
      writeWhole(home.path('tmux-event'), eventScript, 0o700);
    }
    const said = plan().map((change) => carryOut(change, home));
    return tmux === undefined ? said : [...said, await tell(tmux, home)];
  });
}

/** Gives back what install changed. `purge` removes our home as well: configuration, messages, log. */
export async function uninstall(
  options: InstallOptions & { readonly purge?: boolean | undefined },
): Promise<readonly string[]> {
  const { root, tmux } = options;
  if (options.purge) checkNoBridge(root);
  const preview = planUninstall(options);
  if (options.dryRun) return preview.flatMap(shown);
  const said = await locked(root, async (home) => {
    const lines = planUninstall(options).map((change) => takeBack(change, home));
    const isLast = loadInstalled(root).length === 0;
    const isLive = isLast && tmux !== undefined && (await unloadHooks(tmux).catch(() => false));
    if (isLast) clearHome(home);
    return isLive ? [...lines, 'tmux: the running server has lost our hooks.'] : lines;
  });
  if (options.purge) await endCourier(root);
  return [...said, ...leaveHome(root, options.purge === true)];
}

function carryOut({ kind, file, before, after, madeFolder }: Change, home: Home): string {
  const { path } = file;
  if (after === undefined || after === file.text)
    return `${path}: nothing to do, it is up to date.`;
  const texts = { before, after };
  rememberInstalled(home, { path, kind, madeFolder }, texts);
  const made = writeUserFile(file, after);
  if (made !== undefined) rememberInstalled(home, { path, kind, madeFolder: made }, texts);
  if (kind === 'tmux') return `${path}: added the line that loads ${home.path('tmux.conf')}.`;
  return showsStatusline(after)
    ? `${path}: added the hooks and the status line.`
    : `${path}: added the hooks; its status line has a form we do not know and was left alone.`;
}

function takeBack({ kind, file, after, madeFolder }: Change, home: Home): string {
  const { path } = file;
  if (after === undefined && file.text !== undefined) removeUserFile(file, madeFolder ?? undefined);
  else if (after !== undefined && after !== file.text) writeUserFile(file, after);
  forgetInstalled(home, path);
  if (after === file.text) return `${path}: nothing to do, it holds nothing of ours.`;
  if (after === undefined) return `${path}: removed, as there was none before.`;
  return `${path}: took out ${kind === 'tmux' ? 'our line' : 'our hooks and status line'}.`;
}

function shown({ file, after }: Change): readonly string[] {
  if (after === file.text) return [`${file.path}: nothing would change.`];
  const verb = file.text === undefined ? 'made' : after === undefined ? 'removed' : 'changed';
  return [`${file.path} would be ${verb}:`, ...lineDiff(file.text ?? '', after ?? '')];
}

/** The files are done by now: a server that does not answer is said, not fatal. */
async function tell(tmux: Tmux, home: Home): Promise<string> {
  try {
    return (await loadHooks(tmux, home.path('tmux.conf')))
      ? 'tmux: the running server has our hooks from now on.'
      : 'tmux: no server runs; the next one loads our hooks when it starts.';
  } catch (error) {
    return `tmux: ${explain(error)}`;
  }
}

/** What would stop working later, or could not be written into the files we write. */
function checkPaths(root: string, { node, dist }: InstalledPaths): void {
  if (dist.includes('/_npx/'))
    throw refused(
      `${dist} is a cache that npm empties at will`,
      'Install it first: npm install -g threadmux',
    );
  if (!existsSync(join(dist, 'hooks', 'drop')))
    throw refused(`${dist} is not complete: hooks/drop is missing`, 'Build or install it again.');
  for (const path of [root, node, dist])
    if (/\p{Cc}/u.test(path))
      throw refused(
        `${JSON.stringify(path)} holds a control character`,
        'Choose a folder with a plain name.',
      );
}

/** It would go on writing into a home that is gone. */
function checkNoBridge(root: string): void {
  const pid = holderOf(lockOf(root, 'bridge'));
  if (pid === undefined) return;
  throw refused(`threadmux is running (process ${pid})`, 'Stop it first, then run this again.');
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

function lockOf(root: string, name: 'bridge' | 'courier' | 'install'): string {
  return join(root, 'state', `${name}.lock`);
}

function refused(message: string, hint: string): ThreadmuxError {
  return new ThreadmuxError('home_unsafe', message, { hint });
}

/** Two at once take turns; the second finds everything done. */
async function locked<T>(root: string, act: (home: Home) => Promise<T>): Promise<T> {
  const home = openHome(root);
  for (let waited = 0; ; waited += 50) {
    const release = attempt(home);
    if (release !== undefined) return act(home).finally(release);
    if (waited >= PATIENCE_MS)
      throw new ThreadmuxError(
        'busy',
        `another install is at work (process ${holderOf(lockOf(root, 'install'))})`,
        {
          hint: 'Run this again when it has ended.',
        },
      );
    await sleep(50);
  }
}

/** An uninstall that ends just now takes the folder away under our hands. */
function attempt(home: Home): (() => void) | undefined {
  try {
    home.folder('state');
    return tryLock(lockOf(home.root, 'install'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function clearHome(home: Home): void {
  for (const name of [
    'tmux.conf',
    'tmux-event',
    'state/node',
    'state/tmux-events',
    'state/backups',
  ])
    rmSync(home.path(name), { recursive: true, force: true });
}

/** Nobody's messages or token are deleted unasked; an empty folder is nobody's. */
function leaveHome(root: string, purge: boolean): readonly string[] {
  if (purge) rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  else removeIfEmpty(join(root, 'state'));
  if (purge || removeIfEmpty(root)) return [];
  return [
    `${root}: stays, with your configuration and messages; \`threadmux uninstall --purge\` removes it too.`,
  ];
}
