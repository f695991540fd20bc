// Where terminals and headless agents may work, on this machine and on other hosts. `shop` is a directory here; `mini:shop` is
// resolved and checked on the host mini.

import { ThreadmuxError } from '../core/errors.ts';
import type { Host } from '../hosts/host.ts';
import { type AllowedDirectories, type DirectoryDisk, openAllowedDirectories } from './allowed-directories.ts';

export interface AllowedHostDirectories extends AllowedDirectories {
  /** The host and the rest of a name like `mini:shop`; undefined for a directory here. */
  elsewhere(name: string): { readonly host: string; readonly name: string } | undefined;
  on(host: string): AllowedDirectories;
}

interface HostDirectoriesOptions {
  readonly here: AllowedDirectories;
  /** The roots of the other hosts, by host. */
  readonly roots: Readonly<Record<string, readonly string[]>>;
  /** The name of this machine: `laptop:shop` is a directory here, too. */
  readonly own: string;
  readonly host: (name: string) => Host;
}

/** The user waits for suggestions while typing a slash command. */
const SUGGEST_MS = 1500;

export function openAllowedHostDirectories(options: HostDirectoriesOptions): AllowedHostDirectories {
  const { here, roots, own } = options;
  const on = (host: string, timeoutMs?: number) =>
    openAllowedDirectories({
      projects: [],
      roots: roots[host] ?? [],
      homedir: '~',
      wholePaths: true,
      prefix: `${host}:`,
      disk: diskOf(options.host(host), timeoutMs),
      hint: `Name folders of ${host} in \`~/.threadmux/config.json\`, such as \`{ "hosts": { "${host}": { "ssh": "${host}", "roots": ["~/code"] } } }\`, and restart threadmux.`,
    });

  function elsewhere(text: string) {
    const [, host = '', name = ''] = text.match(/^([A-Za-z0-9][A-Za-z0-9_.-]{0,62}):(.*)$/s) ?? [];
    return Object.hasOwn(roots, host) ? { host, name } : undefined;
  }

  const local = (name: string) => (name.startsWith(`${own}:`) ? name.slice(own.length + 1) : name);

  async function names(begun: string): Promise<readonly string[]> {
    const there = elsewhere(begun);
    if (there !== undefined) {
      const found = await on(there.host, SUGGEST_MS)
        .names(there.name)
        .catch(() => []); // the host cannot be reached
      return found.map((name) => `${there.host}:${name}`);
    }
    const hosts = Object.keys(roots).filter((host) => (roots[host] ?? []).length > 0);
    const fitting = hosts.map((host) => `${host}:`).filter((name) => name.startsWith(begun));
    return [...(await here.names(begun)), ...fitting];
  }

  return { ...here, resolve: (name) => here.resolve(local(name)), names, elsewhere, on };
}

function diskOf(host: Host, timeoutMs?: number): DirectoryDisk {
  const call = async (script: string, paths: readonly string[]) => {
    const doing = 'look for a directory';
    const options = timeoutMs === undefined ? { doing } : { doing, timeoutMs };
    return (await host.sh(`${PATHS}${script}`, paths, options)).split('\0').slice(0, -1);
  };
  return {
    async real(paths) {
      if (paths.length === 0) return [];
      const found = await call(REAL, paths);
      if (found.length !== paths.length)
        throw new ThreadmuxError('tmux_failed', `${host.name} did not say where a directory is`);
      return found.map((path) => (path.startsWith('/') ? path : undefined));
    },
    below: (parents) => (parents.length === 0 ? Promise.resolve([]) : call(BELOW, parents)),
  };
}

const PATHS = `unset CDPATH
whole() { case $1 in '~') p=$HOME ;; '~/'*) p=$HOME/\${1#'~/'} ;; /*) p=$1 ;; *) p=/dev/null ;; esac; }
`;
/** `$(…)` strips line ends, so a dot after the path protects a name that ends with one. */
const REAL = `for given in "$@"; do
  whole "$given"
  real=$(cd -P -- "$p" 2>/dev/null && pwd -P && echo .) || real=
  real=\${real%.}; printf '%s\\0' "\${real%?}"
done`;
const BELOW = `for given in "$@"; do
  whole "$given"
  cd -- "$p" 2>/dev/null || continue
  for name in *; do [ -d "$name" ] && [ ! -h "$name" ] && printf '%s\\0' "$name"; done
done
exit 0`;
