// Other hosts: our home there, created at first use, and whether they are reachable.

import { homedir } from 'node:os';
import * as z from 'zod';
import { ThreadmuxError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { readJson, writeBestEffort } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import { putScripts } from '../hosts/host-home.ts';
import type { HostList } from '../tmux/host-list.ts';

type Reachable =
  | { readonly kind: 'reachable' }
  | { readonly kind: 'unreachable'; readonly since: number; readonly because: string };

export interface RemoteHosts {
  /** The path of our home on that host. Set up once per process; rejects if the host is unreachable. */
  home(host: string): Promise<string>;
  /** The user's home directory there; undefined until the host was reached once. */
  userHome(host: string): string | undefined;
  /** The settings with our hooks, for agents that are started there. */
  settings(host: string): Promise<string>;
  /** Adds files to our home there. */
  put(host: string, files: Readonly<Record<string, string>>): Promise<void>;
  state(host: string): Reachable;
  heard(host: string, state: Reachable): void;
  /** Panes there may show something else. */
  moved(host: string): void;
  /** Called when a host becomes reachable or unreachable, and when its panes have moved. */
  onNews(listener: (host: string, news: Reachable['kind'] | 'moved') => void): void;
  /** Resolves when the host is reachable again, or after this time. */
  untilBack(host: string, ms: number, signal: AbortSignal): Promise<void>;
  /** The host is needed now: connect at once instead of waiting. */
  wanted(host: string): void;
  /** The host has carried out a script, so it is back if it was away. */
  answered(host: string): void;
  onWanted(host: string, tryNow: () => void): void;
}

interface RemoteHostsOptions {
  readonly hosts: HostList;
  /** Our name there, because two bridges may use one host. */
  readonly name: string;
  /** The scripts and settings, by their path in the home there. */
  readonly files: (name: string) => Readonly<Record<string, string>>;
  readonly log: Log;
  readonly home: Home;
}

const userHomesSchema = z.record(z.string(), z.string());

export function openRemoteHosts({ hosts, name, files, log, home: own }: RemoteHostsOptions): RemoteHosts {
  const homes = new Map<string, Promise<string>>();
  /** Kept on disk: letters are read while a host is away, too. */
  const path = own.path('state', 'host-homes.json');
  const userHomes = new Map(Object.entries(readJson(path, userHomesSchema) ?? {}));
  const states = new Map<string, Reachable>();
  const waiting = new Map<string, Set<() => void>>();
  const connectors = new Map<string, () => void>();
  const listeners: Parameters<RemoteHosts['onNews']>[0][] = [];
  const tell = (host: string, news: Reachable['kind'] | 'moved') => {
    for (const listener of listeners) listener(host, news);
  };

  function learn(host: string, made: { readonly home: string; readonly userHome: string }): string {
    if (userHomes.get(host) !== made.userHome) {
      userHomes.set(host, made.userHome);
      own.folder('state');
      writeBestEffort(path, Object.fromEntries(userHomes));
    }
    return made.home;
  }

  function home(host: string): Promise<string> {
    if (hosts.isLocal(host)) throw new ThreadmuxError('bad_usage', `${host} is this machine: it needs no other home`);
    const made = homes.get(host) ?? putScripts(hosts.get(host), name, files(name)).then((made) => learn(host, made));
    homes.set(host, made);
    connectors.get(host)?.(); // what is about to be started there reports soon
    made.catch(() => homes.delete(host)); // tried again next time
    return made;
  }

  return {
    home,
    userHome: (host) => (hosts.isLocal(host) ? homedir() : userHomes.get(host)),
    settings: async (host) => `${await home(host)}/settings.json`,
    async put(host, more) {
      await putScripts(hosts.get(host), name, more);
    },
    state: (host) => states.get(host) ?? { kind: 'reachable' },
    heard(host, state) {
      const before = states.get(host);
      if (state.kind === 'unreachable' && before?.kind === 'unreachable')
        states.set(host, { ...state, since: before.since });
      else states.set(host, state);
      if (state.kind !== (before?.kind ?? 'reachable')) {
        log.info('host', { host, state: state.kind, ...('because' in state ? { because: state.because } : {}) });
        tell(host, state.kind);
      }
      if (state.kind === 'reachable') for (const wake of waiting.get(host) ?? []) wake();
    },
    moved: (host) => tell(host, 'moved'),
    onNews: (listener) => void listeners.push(listener),
    untilBack(host, ms, signal) {
      return new Promise((resolve) => {
        const all = waiting.get(host) ?? new Set();
        waiting.set(host, all);
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          all.delete(end);
          resolve();
        };
        const timer = setTimeout(end, ms);
        signal.addEventListener('abort', end);
        all.add(end);
      });
    },
    wanted: (host) => connectors.get(host)?.(),
    answered: (host) => states.get(host)?.kind === 'unreachable' && connectors.get(host)?.(),
    onWanted: (host, tryNow) => void connectors.set(host, tryNow),
  };
}
