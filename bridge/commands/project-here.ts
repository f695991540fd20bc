// The project that counts where a command was given, and what a session may do in it.

import { ThreadmuxError } from '../../core/errors.ts';
import type { Project } from '../../core/project.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { rememberedSession } from '../../threads/remembered-session.ts';
import { settledProject } from '../../threads/thread-settings.ts';
import type { CommandCall, CommandContext } from './command.ts';
import type { NewOptions } from './new-options.ts';

/** In a session's thread, the project of the session; otherwise that of the channel, if the channel is for one project only. */
export function projectHere(
  { thread, channel }: Pick<CommandCall, 'thread' | 'channel'>,
  { server, threads }: Pick<CommandContext, 'server' | 'threads'>,
): Project | undefined {
  const record = thread === undefined ? undefined : threads.registry.get(thread.id);
  const own = record && settledProject(record, threads);
  if (own !== undefined) return own.path === '' ? undefined : own;
  const id = thread?.parentId ?? channel;
  const here = threads.projects().filter((one) => one.server === server.name && one.channel === id);
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

/** The session of this name that ran before. In the channel of a project, only one of its channel. */
export function knownSession(
  asked: NewOptions,
  project: Project | undefined,
  context: CommandContext,
): ThreadRecord | undefined {
  const { server, config, threads } = context;
  const isOurs = (one: ThreadRecord) =>
    one.server === server.name && (project === undefined || one.channel === project.channel);
  const defaultHost = project?.host ?? config.defaultHost;
  return rememberedSession(threads.registry.all().filter(isOurs), { ...asked, defaultHost });
}
