// threadmux install --host and uninstall --host: finds the host, and prints what was done there.

import { ThreadmuxError } from '../../core/errors.ts';
import { neutralise } from '../../core/untrusted-text.ts';
import { type HostInstallOptions, installOn, uninstallOn } from '../../install/install-on-host.ts';
import { openHostList } from '../../tmux/host-list.ts';
import { openContext } from '../command-context.ts';
import { filesForHosts } from '../files-for-hosts.ts';
import type { InstallFlags } from './install.ts';

export async function installOnHost(name: string, flags: InstallFlags): Promise<void> {
  await withHost('install', name, flags, (options) => installOn({ ...options, files: filesForHosts(options.name) }));
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
      ...{ root: home.root, name: config.host, host: hosts.get(name), dryRun: flags.dryRun },
      tmux: flags.tmux === false ? undefined : hosts.tmux(name),
    });
    for (const line of said) console.log(neutralise(line));
  } finally {
    await hosts.close();
  }
}
