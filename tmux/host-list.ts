// The hosts in the configuration: this machine, and those that are reached by ssh. Each is opened when it is first used.

import type { Config, ConfigEnvironment } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { ownValue } from '../core/own-value.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { Home } from '../home/home.ts';
import { type Host, localHost } from '../hosts/host.ts';
import { sshHost } from '../hosts/ssh.ts';
import { type Tmux, tmuxOn } from './tmux.ts';

export interface HostList {
  /** Throws if the name is not in the configuration. */
  get(name: string): Host;
  names(): readonly string[];
  isLocal(name: string): boolean;
  /** The tmux server on which new sessions are started. */
  tmux(name: string): Tmux;
  close(): Promise<void>;
}

interface HostListOptions {
  readonly config: Config;
  readonly home: Home;
  readonly env: ConfigEnvironment;
  /** An ssh configuration to use instead of the user's own, for tests. */
  readonly sshConfig?: string;
  /** Another host has carried out a script. */
  readonly onAnswer?: (host: string) => void;
}

export function openHostList(options: HostListOptions): HostList {
  const { config, home, env, sshConfig = config.sshConfig } = options;
  const opened = new Map<string, Host>();
  const open = (name: string): Host => {
    const host = ownValue(config.hosts, name);
    if (host === undefined)
      throw new ThreadmuxError('not_found', `there is no host ${untrustedCode(name)}`, {
        hint: `The configured hosts are: ${Object.keys(config.hosts).join(', ')}.`,
      });
    if (host === 'local') return localHost({ name, env });
    const remote = sshHost({
      name,
      ssh: host.ssh,
      controlDir: home.folder('ssh'),
      env,
      ...(host.tmux === undefined ? {} : { tmux: host.tmux }),
      ...(sshConfig === undefined ? {} : { configFile: sshConfig }),
    });
    return {
      ...remote,
      async sh(...call) {
        const printed = await remote.sh(...call);
        options.onAnswer?.(name);
        return printed;
      },
    };
  };
  const get = (name: string): Host => {
    const host = opened.get(name) ?? open(name);
    opened.set(name, host);
    return host;
  };
  const isLocal = (name: string) => ownValue(config.hosts, name) === 'local';
  return {
    get,
    isLocal,
    names: () => Object.keys(config.hosts),
    tmux(name) {
      const host = ownValue(config.hosts, name);
      const socket = isLocal(name) ? config.tmuxSocket : typeof host === 'object' ? host.socket : undefined;
      return tmuxOn(get(name), socket);
    },
    close: async () => {
      await Promise.all([...opened.values()].map((host) => host.close()));
    },
  };
}
