// The terminals and headless agents of one server, and the directories where they may work.

import { configuredAgent } from '../agents/configured-agent.ts';
import { rootsOfHosts } from '../core/config.ts';
import type { ThreadChannel } from '../discord/threads.ts';
import type { StreamRecord } from '../home/stream-record.ts';
import { openAllowedDirectories } from '../streams/allowed-directories.ts';
import { type AllowedHostDirectories, openAllowedHostDirectories } from '../streams/allowed-host-directories.ts';
import type { BridgeOptions, ServerParts } from './bridge-options.ts';
import { streamState } from './commands/streams.ts';
import { createOwnCommands } from './list-own-commands.ts';
import { decideSlash } from './slash-decision.ts';
import { createStreamThreads, type StreamThreads } from './stream-threads.ts';

interface ServerStreamsOptions extends ServerParts {
  readonly place: ThreadChannel;
  readonly bridge: Pick<BridgeOptions, 'env' | 'program'>;
}

export function openServerStreams(options: ServerStreamsOptions): {
  readonly directories: AllowedHostDirectories;
  readonly streams: StreamThreads;
} {
  const { config, hosts, remote, server, bridge } = options;
  const directories = openAllowedHostDirectories({
    here: localDirectories(options),
    roots: rootsOfHosts(config),
    own: config.host,
    host: hosts.get,
  });
  const own = createOwnCommands(options);
  const agentOf = ({ agent = 'claude' }: Pick<StreamRecord, 'agent'>) => configuredAgent(config, agent);
  const streams = createStreamThreads({
    ...options,
    env: bridge.env,
    server: server.name,
    members: server.allow,
    agentOf,
    isCommand: async (text, record) => {
      const { commands, name: agent } = agentOf(record).driver;
      const list = () => own({ host: record.far?.host ?? config.host, cwd: record.dir, transcript: '', agent });
      return (await decideSlash(text, commands, list, config.slashCommands)).kind === 'command';
    },
    agentSettings: bridge.program?.hookSettings,
    there: async (host) => ({
      host: hosts.get(host),
      home: await remote.home(host),
      agentSettings: await remote.settings(host),
    }),
    check: async ({ dir, far }) => {
      await (far === undefined ? directories : directories.on(far.host)).check(dir);
      if (far !== undefined) return { skipPermissions: false };
      return { skipPermissions: await directories.isWithin(dir, config.skipPermissions) };
    },
  });
  options.sessionsChanged.listen(streams.wake);
  options.states.also(() => streams.all().map((one) => [one.record().thread, streamState(one, options)]));
  return { directories, streams };
}

/** The projects of this machine, as the configuration has them now. */
function localDirectories({ config, hosts, threads, server, bridge }: ServerStreamsOptions) {
  const now = () =>
    openAllowedDirectories({
      projects: threads
        .projects()
        .filter(({ server: name, path }) => name === server.name && path !== '')
        .filter(({ host }) => host === undefined || hosts.isLocal(host))
        .map(({ path }) => path),
      roots: config.roots,
      homedir: bridge.env.HOME ?? '/',
    });
  return {
    names: (begun: string) => now().names(begun),
    resolve: (name: string) => now().resolve(name),
    check: (directory: string) => now().check(directory),
    isWithin: (directory: string, paths: readonly string[]) => now().isWithin(directory, paths),
  };
}
