// Inspects in one call what a machine has of the things that we need. It changes nothing, and it reports only the names of
// secrets, never their values.

import { clockDifference } from '../core/duration.ts';
import type { Host } from './host.ts';
import { LOGIN } from './host-paths.ts';

export interface Probe {
  /** The output of `tmux -V`; undefined if tmux is not installed. */
  readonly tmux: string | undefined;
  /** How many milliseconds its clock is ahead of ours; 0 if the difference is too small to measure. */
  readonly clockAheadMs: number;
  readonly agent: boolean;
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

export interface ProbeOptions {
  /** The socket of the tmux server, if not the default one. */
  readonly socket?: string | undefined;
  readonly agent: string;
  /** The tmux option that identifies our hooks there. */
  readonly hookOption: string;
  /** Our name on a remote host; undefined for this machine. */
  readonly name?: string | undefined;
  /** Our home and Claude Code's folder, if not in their usual places. */
  readonly home?: string | undefined;
  readonly claudeDir?: string | undefined;
}

export async function probeHost(host: Host, options: ProbeOptions): Promise<Probe> {
  const askedMs = Date.now();
  const { socket = '', agent, hookOption, name = '', home = '', claudeDir = '' } = options;
  const args = [host.tmux, socket, agent, hookOption, name, home, claudeDir];
  const output = await host.sh(SCRIPT, args, { doing: 'look around' });
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
const SCRIPT = `tmux=$1; socket=$2; agent=$3; option=$4; name=$5; home=$6; claude=$7
PATH="$PATH:/opt/homebrew/bin:/usr/local/bin:/opt/local/bin:/home/linuxbrew/.linuxbrew/bin:/snap/bin:$HOME/.local/bin:$HOME/bin:/usr/bin:/bin"
export PATH; unset TMUX TMUX_PANE
t() { if [ -n "$socket" ]; then "$tmux" -S "$socket" "$@"; else "$tmux" "$@"; fi; }
say() { printf '%s %s\\n' "$1" "$2"; }
say clock "$(date +%s)"
if [ -n "$name" ]; then
${LOGIN}
  home=$HOME/.threadmux/for/$name; claude=$(login CLAUDE_CONFIG_DIR)
  PATH=$(login PATH) command -v "$agent" >/dev/null 2>&1 && say agent yes
else
  command -v "$agent" >/dev/null 2>&1 && say agent yes
fi
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
if [ -e "$claude/settings.json" ]; then say settings; cat "$claude/settings.json"; fi
exit 0`;

function readProbe(output: string, asked: number, answered: number): Probe {
  const at = output.search(/^settings $/m);
  const lines = (at === -1 ? output : output.slice(0, at)).split('\n');
  const all = (key: string) =>
    lines.filter((line) => line.startsWith(`${key} `)).map((line) => line.slice(key.length + 1));
  const [courier] = all('courierNode');
  const [hooks] = all('tmuxHooks');
  return {
    tmux: all('tmux')[0],
    clockAheadMs: clockDifference(Number(all('clock')[0]) * 1_000, asked, answered),
    agent: all('agent').length > 0,
    secrets: all('secret'),
    tmuxHooks: hooks === undefined ? undefined : hooks === 'yes',
    courierNode:
      courier === undefined ? undefined : { path: courier.replace(/^\w+ /, ''), works: courier.startsWith('yes ') },
    home: all('home')[0] ?? '',
    settingsPath: all('settingsPath')[0] ?? '',
    settings: at === -1 ? undefined : output.slice(at + 'settings \n'.length),
  };
}
