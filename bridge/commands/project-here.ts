// The project that counts where a command was given, and what a session may do in it.

import { ThreadmuxError } from '../../core/errors.ts';
import { type Project, projectsOf } from '../../core/project.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { settledProject } from '../../threads/thread-settings.ts';
import type { CommandCall, CommandContext } from './command.ts';

/** In a session's thread, the project of the session; otherwise that of the channel, if the channel is for one project only. */
export function projectHere(
  { thread, channel }: Pick<CommandCall, 'thread' | 'channel'>,
  { config, server, threads }: Pick<CommandContext, 'config' | 'server' | 'threads'>,
): Project | undefined {
  const record = thread === undefined ? undefined : threads.registry.get(thread.id);
  const own = record && settledProject(record, threads);
  if (own !== undefined) return own.path === '' ? undefined : own;
  const id = thread?.parentId ?? channel;
  const here = projectsOf(config, [server]).filter((one) => one.channel === id);
  return here.length === 1 && here[0]?.path !== '' ? here[0] : undefined;
}

/** A person may ask for no permissions only where the configuration allows it. A project's own defaults may. */
export async function checkBypass(
  settings: SessionSettings,
  { host, directory }: { readonly host: string; readonly directory: string },
  { config, hosts, directories }: Pick<CommandContext, 'config' | 'hosts' | 'directories'>,
): Promise<void> {
  if (settings.permissionMode !== 'bypassPermissions') return;
  if (hosts.isLocal(host) && (await directories.isWithin(directory, config.skipPermissions))) return;
  throw new ThreadmuxError('bad_usage', `An agent may not skip permissions in ${untrustedCode(directory)}.`, {
    hint: hosts.isLocal(host)
      ? 'Choose another mode, or add the folder to "skipPermissions" in the configuration.'
      : 'On another host, only "permissionMode" in the "defaults" of a project can allow it.',
  });
}
