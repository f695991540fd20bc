// The files of this installation that agents and other hosts use: the program itself, the settings for agents that we start,
// and what is copied to another host.

import { readFileSync, realpathSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentContext, type InstalledPaths } from '../agents/claude/hook-commands.ts';
import { launchSettings } from '../agents/claude/settings.ts';
import { driverOf } from '../agents/list.ts';
import type { ConfigEnvironment } from '../core/config.ts';
import { writeJson } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import { hookPlaceOf, hooksConf } from '../tmux/tmux-hooks.ts';
import { rememberProgram } from './plugin.ts';

const DIST = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const SCRIPTS = ['drop', 'ask', 'statusline'] as const;

export interface ProgramPaths extends InstalledPaths {
  /** The path of Node.js. */
  readonly node: string;
}

export function programPaths(env: ConfigEnvironment): ProgramPaths {
  return {
    node: stableNode(env.PATH ?? ''),
    dist: DIST,
    home: env.THREADMUX_HOME ? resolve(env.THREADMUX_HOME) : undefined,
  };
}

/** Package managers install Node.js in a folder per version and link to it. The link still works after an upgrade. */
function stableNode(path: string): string {
  const links = path.split(delimiter).map((folder) => join(folder, 'node'));
  return links.find((link) => link.startsWith('/') && isThisNode(link)) ?? process.execPath;
}

function isThisNode(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(process.execPath);
  } catch {
    return false; // no such program
  }
}

/** Where agents that we start on this machine find our program and its files. */
export function programPlace(home: Home, env: ConfigEnvironment) {
  const { node, dist } = programPaths(env);
  rememberProgram(home, { node, dist });
  return { node, dist, scripts: `${dist}/hooks`, home: home.root, hookSettings: agentSettings(home, env) };
}

/**
 * Writes the settings for agents that we start, and returns their path. They add our hooks without changing the user's
 * settings. Written each time, because the program may have moved.
 */
function agentSettings(home: Home, env: ConfigEnvironment): string {
  const path = join(home.folder('state'), 'agent-settings.json');
  writeJson(path, launchSettings(programPaths(env), home.root));
  return path;
}

/**
 * The scripts and settings that another host needs. {HOME} stands for our folder there. `name` is this machine's name on that
 * host, because several machines may use the same host.
 */
export function filesForHosts(name: string, tellAgent: boolean): Readonly<Record<string, string>> {
  const there = { dist: '', scripts: '{HOME}/bin', home: '{HOME}' };
  return {
    ...Object.fromEntries(
      SCRIPTS.map((script) => [`bin/${script}`, readFileSync(join(DIST, 'hooks', script), 'utf8')]),
    ),
    'agent-context': agentContext(tellAgent),
    'tmux-event': EVENT,
    // Loaded by the line that `install --host` adds to the tmux configuration there.
    'tmux.conf': hooksConf('{HOME}/tmux-event', hookPlaceOf(name)),
    'settings.json': `${JSON.stringify(launchSettings(there, '{HOME}'), null, 2)}\n`,
  };
}

/** What the extension of an agent loads from there. */
export function driverFilesForHosts(agent: string): Readonly<Record<string, string>> {
  const { files = [] } = driverOf(agent);
  return Object.fromEntries(files.map((file) => [`bin/${file}`, readFileSync(join(DIST, 'hooks', file), 'utf8')]));
}

/** tmux runs this when a session is created, closed or renamed. Output or a failure would show up in a pane, so there is neither. */
const EVENT = `#!/bin/sh
THREADMUX_HOME=\${0%/*}
TMUX= TMUX_PANE= CLAUDE_CODE_ENTRYPOINT= CLAUDE_PROJECT_DIR=
. "$THREADMUX_HOME/bin/drop"
input='{}' box=0.1
header event "$1"
send
exit 0
`;
