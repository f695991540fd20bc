// threadmux install and uninstall, on this machine or on another host: prints what install/ has done.

import { join, resolve } from 'node:path';
import { inspectSettings } from '../../agents/claude/settings.ts';
import { configuredAgent } from '../../agents/configured-agent.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { homeAsItIs, homeRoot, openHome } from '../../home/home.ts';
import { loadInstalled } from '../../home/installed.ts';
import { readUserFile } from '../../home/user-owned-file.ts';
import { localHost } from '../../hosts/host.ts';
import { type InstallOptions, install, uninstall, userSettings } from '../../install/install.ts';
import { type HostInstallOptions, installOn, uninstallOn } from '../../install/install-on-host.ts';
import {
  findBoth,
  findPlugin,
  hasPlugin,
  installPlugin,
  PLUGIN_NAME,
  type PluginParts,
  uninstallPlugin,
} from '../../install/plugin.ts';
import { filesForHosts, programPaths } from '../../install/program-files.ts';
import { openHostList } from '../../tmux/host-list.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import { openContext } from '../command-context.ts';
import { printText } from '../print.ts';
import { agentsToInstall, namedAgents, nothingToAdd } from './install-agents.ts';

interface InstallFlags {
  readonly project?: string;
  readonly dryRun?: boolean;
  /** False for --no-tmux. */
  readonly tmux?: boolean;
  readonly plugin?: boolean;
  /** Names of agents, separated by commas, or "all". */
  readonly agent?: string;
}

export async function runInstall(flags: InstallFlags): Promise<void> {
  checkNotBoth(flags);
  const options = optionsOf(flags);
  const agents = await agentsToInstall(flags.agent, options, process.env);
  const said = await install({ ...options, agents, plugin: flags.plugin, paths: programPaths(process.env) });
  for (const line of [...said, ...nothingToAdd(agents)]) printText(line);
  if (flags.plugin && !flags.dryRun) for (const line of await installPlugin(pluginParts())) printText(line);
}

/** Claude Code would run the hooks of both, and everything would be posted twice. */
function checkNotBoth({ plugin, project }: InstallFlags): void {
  const user = userSettings(process.env);
  const root = resolve(homeRoot(process.env));
  const look = inspectSettings(readUserFile(user).text ?? '');
  const inUser = look.kind === 'settings' && look.events.length > 0 ? [user] : [];
  const known = loadInstalled(join(root, 'state')).flatMap(({ kind, path }) => (kind === 'settings' ? path : []));
  const isThere = [...new Set([...inUser, ...known.filter((path) => path !== user)])];
  if (plugin && isThere.length > 0)
    throw new ThreadmuxError('bad_usage', `the hooks are already in ${isThere.join(', ')}`, {
      hint: 'Run `threadmux uninstall` first. Use either the hooks or the plugin.',
    });
  const wanted = project === undefined ? user : join(resolve(project), '.claude', 'settings.local.json');
  const both = plugin ? undefined : findBoth(user, [wanted], findPlugin(user));
  if (both !== undefined)
    throw new ThreadmuxError('bad_usage', `the plugin is installed${inProject(both.plugin)}, and it has the hooks`, {
      hint: `Run \`threadmux uninstall\` first, or \`claude plugin uninstall ${PLUGIN_NAME}\` if you installed it yourself. Use either the hooks or the plugin.`,
    });
}

const inProject = (project: string | null) => (project === null ? '' : ` in ${project}`);

function pluginParts(): PluginParts {
  const home = openHome(resolve(homeRoot(process.env)));
  const [claude = 'claude'] = configuredAgent(openContext('install').config, 'claude').command;
  const { DISCORD_BOT_TOKEN: _, ...rest } = process.env;
  const env = Object.fromEntries(Object.entries(rest).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  return { home, settings: userSettings(process.env), claude, env };
}

export async function runUninstall(flags: InstallFlags & { purge?: boolean }): Promise<void> {
  const home = homeAsItIs(resolve(homeRoot(process.env)));
  const isOurs = flags.project === undefined && !flags.dryRun && hasPlugin(home);
  if (isOurs) for (const line of await uninstallPlugin(pluginParts())) printText(line);
  const said = await uninstall({ ...optionsOf(flags), purge: flags.purge });
  for (const line of said) printText(line);
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

export async function installOnHost(name: string, flags: InstallFlags): Promise<void> {
  const { tellAgent } = openContext('install').config;
  const agents = namedAgents(flags.agent ?? '');
  const act = (options: HostInstallOptions) =>
    installOn({ ...options, agents, files: filesForHosts(options.name, tellAgent) });
  await withHost('install', name, flags, act);
  for (const line of nothingToAdd(agents)) printText(line);
}

export async function uninstallOnHost(name: string, flags: InstallFlags & { purge?: boolean }): Promise<void> {
  await withHost('uninstall', name, flags, (options) => uninstallOn({ ...options, purge: flags.purge }));
}

async function withHost(
  command: 'install' | 'uninstall',
  name: string,
  flags: InstallFlags,
  act: (options: HostInstallOptions) => Promise<readonly string[]>,
): Promise<void> {
  const { config, home } = openContext(command);
  const hosts = openHostList({ config, home, env: process.env });
  if (hosts.isLocal(name))
    throw new ThreadmuxError('bad_usage', `${name} is this machine`, {
      hint: `Run \`threadmux ${command}\` without --host.`,
    });
  try {
    const said = await act({
      root: home.root,
      name: config.host,
      host: hosts.get(name),
      dryRun: flags.dryRun,
      tmux: flags.tmux === false ? undefined : hosts.tmux(name),
    });
    for (const line of said) printText(line);
  } finally {
    await hosts.close();
  }
}
