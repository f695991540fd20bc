// threadmux install and uninstall: Claude Code's settings and tmux's hooks. Guards first, each a sentence; then every
// file whole or not at all, with the way back remembered before it is touched.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InstalledPaths } from '../agents/claude/hook-commands.ts';
import { explain, ThreadmuxError } from '../core/errors.ts';
import type { Home } from '../home/home.ts';
import { loadInstalled } from '../home/installed.ts';
import { holderOf } from '../home/lock.ts';
import { removeIfEmpty, removeUserFile, writeUserFile } from '../home/user-owned-file.ts';
import { writeWhole } from '../home/whole-file.ts';
import type { Tmux } from '../tmux/tmux.ts';
import { eventScript, hooksConf, loadHooks, unloadHooks } from '../tmux/tmux-hooks.ts';
import { applyChange, describeChange, type Files, revertChange } from './file-change.ts';
import { checkNoBridge, locked, lockOf, withInstallLock } from './install-lock.ts';
import { type InstallPaths, planInstall, planUninstall, recordsOf } from './plan.ts';

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
