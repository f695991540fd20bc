// threadmux install and uninstall: finds this installation and this machine, and prints what was done.

import { realpathSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { homeRoot } from '../../home/home.ts';
import { localHost } from '../../hosts/host.ts';
import { type InstallOptions, install, uninstall } from '../../install/install.ts';
import { tmuxOn } from '../../tmux/tmux.ts';

export interface InstallFlags {
  readonly project?: string;
  readonly dryRun?: boolean;
  /** False for --no-tmux. */
  readonly tmux?: boolean;
}

export async function runInstall(flags: InstallFlags): Promise<void> {
  const said = await install({ ...optionsOf(flags), paths: installedPaths() });
  for (const line of said) console.log(line);
}

export async function runUninstall(flags: InstallFlags & { purge?: boolean }): Promise<void> {
  const said = await uninstall({ ...optionsOf(flags), purge: flags.purge });
  for (const line of said) console.log(line);
}

/** This installation, as the hooks in Claude Code's settings name it. */
export function installedPaths() {
  return {
    node: lastingNode(),
    dist: fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, ''),
    home: process.env.THREADMUX_HOME ? resolve(process.env.THREADMUX_HOME) : undefined,
  };
}

function optionsOf(flags: InstallFlags): InstallOptions {
  const here = localHost({ name: 'this machine', env: process.env });
  return {
    root: resolve(homeRoot(process.env)),
    env: process.env,
    project: flags.project,
    dryRun: flags.dryRun,
    tmux: flags.tmux === false ? undefined : tmuxOn(here, process.env.THREADMUX_TMUX_SOCKET),
  };
}

/** Package managers keep Node.js under its version and link to it: the link outlives the next upgrade. */
function lastingNode(): string {
  const links = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  return links.find((path) => path.startsWith('/') && leadsHere(path)) ?? process.execPath;
}

function leadsHere(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(process.execPath);
  } catch {
    return false; // no such program
  }
}
