// What the form for a new session offers on the page of the local workspace.

import type { CommandContext } from '../commands/command.ts';
import { settingWords } from '../commands/set.ts';

export interface NewSessionChoices {
  readonly projects: readonly { readonly name: string; readonly directory: string; readonly host: string }[];
  readonly hosts: readonly string[];
  readonly defaultHost: string;
  readonly models: readonly string[];
  readonly modes: readonly string[];
}

export function newSessionChoices(
  parts: Pick<CommandContext, 'config' | 'hosts' | 'threads' | 'server'>,
): NewSessionChoices {
  const { config, hosts, threads, server } = parts;
  const { defaultHost } = config;
  return {
    projects: threads
      .projects()
      .filter((one) => one.server === server.name && one.path !== '')
      .map(({ name, path, host = defaultHost }) => ({ name, directory: path, host })),
    hosts: hosts.names(),
    defaultHost,
    models: settingWords('model', parts),
    modes: settingWords('mode', parts),
  };
}
