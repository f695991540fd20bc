// Inspects in one call what a machine has of the things that we need. It changes nothing, and it reports only the names of
// secrets, never their values.

import { clockDifference } from '../core/duration.ts';
import type { Host } from './host.ts';
import { LOGIN } from './host-home.ts';
import { TMUX_FUNCTION } from './own-socket.ts';

export interface Probe {
  /** The output of `tmux -V`; undefined if tmux is not installed. */
  readonly tmux: string | undefined;
  /** How many milliseconds its clock is ahead of ours; 0 if the difference is too small to measure. */
  readonly clockAheadMs: number;
  /** The programs of agents that are not installed. */
  readonly missingAgents: readonly string[];
  /** Variables with secrets in the environment of the tmux server, which every new pane gets. */
  readonly secrets: readonly string[];
  /** Whether the running tmux server has our hooks; undefined if no server runs. */
  readonly tmuxHooks: boolean | undefined;
  /** The Node.js that `hooks/drop` starts a courier with, and whether it exists. */
  readonly courierNode: { readonly path: string; readonly works: boolean } | undefined;
  readonly home: string;
  readonly settingsPath: string;
  /** Claude Code's settings.json; undefined if it does not exist. */
  readonly settings: string | undefined;
}

interface ProbeOptions {
  /** The socket of the tmux server, if not the default one. */
  readonly socket?: string | undefined;
  /** The programs of the agents that are looked for. */
  readonly agents: readonly string[];
  /** The tmux option that identifies our hooks there. */
  readonly hookOption: string;
  /** Our name on a remote host; undefined for this machine. */
  readonly name?: string | undefined;
  /** Our home and Claude Code's folder, if not in their usual places. */
  readonly home?: string | undefined;
  readonly claudeDir?: string | undefined;
}

/** With Claude Code's settings.json. */
const MOST_BYTES = 8 * 2 ** 20;

export async function probeHost(host: Host, options: ProbeOptions): Promise<Probe> {
  const askedMs = Date.now();
  const { socket = '', agents, hookOption, name = '', home = '', claudeDir = '' } = options;
  const args = [host.tmux, socket, hookOption, name, home, claudeDir, ...agents];
  const output = await host.sh(SCRIPT, args, { doing: 'look around', maxBytes: MOST_BYTES });
  return readProbe(output, askedMs, Date.now());
}

/** The files that do not exist. */
export async function missingFiles(host: Host, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const script = `for path; do [ -e "$path" ] || printf '%s\\0' "$path"; done`;
  return (await host.sh(script, paths, { doing: 'look for files' })).split('\0').filter(Boolean);
}

/** The paths that are not folders; `~` is the user's home on that host. */
export async function missingFolders(host: Host, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const script = `for path; do
  case $path in '~') at=$HOME ;; '~/'*) at=$HOME/\${path#'~/'} ;; *) at=$path ;; esac
  [ -d "$at" ] || printf '%s\\0' "$path"
done`;
  return (await host.sh(script, paths, { doing: 'look for folders' })).split('\0').filter(Boolean);
}

const SECRETS = ['DISCORD_BOT_TOKEN'];

/** Prints one "key value" per line, and the settings file at the end. */
const SCRIPT = `tmux=$1; socket=$2; option=$3; name=$4; home=$5; claude=$6; shift 6
${TMUX_FUNCTION}say() { printf '%s %s\\n' "$1" "$2"; }
say clock "$(date +%s)"
path=$PATH
if [ -n "$name" ]; then
${LOGIN}
  home=$HOME/.threadmux/for/$name; claude=$(login CLAUDE_CONFIG_DIR)
  path=$(login PATH)
fi
for agent; do PATH=$path command -v "$agent" >/dev/null 2>&1 || say missingAgent "$agent"; done
home=\${home:-$HOME/.threadmux}; claude=\${claude:-$HOME/.claude}
say home "$home"
if command -v "$tmux" >/dev/null 2>&1; then
  say tmux "$("$tmux" -V 2>&1 | head -n 1)"
  if hooks=$(t show-hooks -g 2>/dev/null); then
    case $hooks in *"#{q:$option}"*) say tmuxHooks yes ;; *) say tmuxHooks no ;; esac
    for name in ${SECRETS.join(' ')}; do
      t show-environment -g "$name" 2>/dev/null | grep -q "^$name=." && say secret "$name"
    done
  fi
fi
if read -r path < "$home/state/node"; then
  [ -x "$path" ] && say courierNode "yes $path" || say courierNode "no $path"
fi 2>/dev/null
say settingsPath "$claude/settings.json"
if [ -f "$claude/settings.json" ]; then say settings; cat "$claude/settings.json"; fi
exit 0`;

function readProbe(output: string, asked: number, answered: number): Probe {
  const at = output.search(/^settings $/m);
  const all = valuesIn(at === -1 ? output : output.slice(0, at));
  const [courier] = all('courierNode');
  const [hooks] = all('tmuxHooks');
  return {
    tmux: all('tmux')[0],
    clockAheadMs: clockDifference(Number(all('clock')[0]) * 1_000, asked, answered),
    missingAgents: all('missingAgent'),
    secrets: all('secret'),
    tmuxHooks: hooks === undefined ? undefined : hooks === 'yes',
    courierNode:
      courier === undefined ? undefined : { path: courier.replace(/^\w+ /, ''), works: courier.startsWith('yes ') },
    home: all('home')[0] ?? '',
    settingsPath: all('settingsPath')[0] ?? '',
    settings: at === -1 ? undefined : output.slice(at + 'settings \n'.length),
  };
}

/** What the lines "key value" say about a key. */
function valuesIn(output: string): (key: string) => readonly string[] {
  const lines = output.split('\n');
  return (key) => lines.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
}

// Inspects our home on another host without changing it: the scripts, the bell, the waiting letters and the free disk space.

export interface HostHome {
  readonly exists: boolean;
  readonly bell: 'pipe' | 'missing' | 'other';
  readonly letters: number;
  /** Free kilobytes on the disk of the home; undefined if unknown. */
  readonly freeKb: number | undefined;
  /** The requested files that are missing or differ. */
  readonly outdated: readonly string[];
}

/** stdin: the expected checksums, one per line, in the order of the file names in the arguments. */
const LOOK = `home=$1; shift
say() { printf '%s %s\\n' "$1" "$2"; }
[ -d "$home" ] && say home yes
if [ -p "$home/bell" ]; then say bell pipe; elif [ -e "$home/bell" ]; then say bell other; fi
count=0
for letter in "$home"/outbox/*.*/[0-9]*; do [ ! -f "$letter" ] || count=$((count + 1)); done
say letters $count
df -Pk "$HOME" 2>/dev/null | awk 'NR == 2 { print "free", $4 }'
for file; do
  IFS= read -r sum
  [ -f "$home/$file" ] && [ "$(cksum < "$home/$file")" = "$sum" ] || say outdated "$file"
done
exit 0`;

export async function probeHome(host: Host, home: string, files: Readonly<Record<string, string>>): Promise<HostHome> {
  const sums = Object.values(files).map((text) => `${cksum(Buffer.from(text))}\n`);
  const output = await host.sh(LOOK, [home, ...Object.keys(files)], {
    doing: 'inspect its home',
    input: sums.join(''),
  });
  const all = valuesIn(output);
  const bell = all('bell')[0];
  const free = Number(all('free')[0] ?? Number.NaN);
  return {
    exists: all('home').length > 0,
    bell: bell === 'pipe' || bell === 'other' ? bell : 'missing',
    letters: Number(all('letters')[0] ?? 0),
    freeKb: Number.isFinite(free) ? free : undefined,
    outdated: all('outdated'),
  };
}

/** The output of the POSIX program `cksum`: a CRC of the content followed by its length. */
export function cksum(bytes: Uint8Array): string {
  let crc = 0;
  const add = (byte: number) => {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  };
  for (const byte of bytes) add(byte);
  for (let length = bytes.length; length > 0; length = Math.floor(length / 256)) add(length % 256);
  return `${~crc >>> 0} ${bytes.length}`;
}
