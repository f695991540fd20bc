// The tmux hooks that report created, closed and renamed sessions. They have an index of their own, next to the user's hooks,
// and no session name is ever read as a command. Their reports are only hints; the list of sessions decides.

import { createHash } from 'node:crypto';
import { quoteShellWord } from '../core/shell-word.ts';
import { type Tmux, unlessGone } from './tmux.ts';

const EVENTS = ['created', 'closed', 'renamed'] as const;
const MARK = '# threadmux';

/** Where our hooks are in tmux. Each threadmux that uses the same server has its own place. */
interface HookPlace {
  readonly index: number;
  /** The tmux option with the path of the script. */
  readonly option: string;
}

export const OWN_PLACE: HookPlace = { index: 8410, option: '@threadmux-event' };

/** On a remote host, the place is derived from the name of the threadmux. */
export function hookPlaceOf(name: string): HookPlace {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 6);
  return { index: 10_000 + Number.parseInt(hash, 16), option: `${OWN_PLACE.option}-${hash}` };
}

/**
 * Writes one small file per server, session and event into state/tmux-events.
 * It prints nothing and never fails: otherwise tmux would show the output in the user's pane.
 */
export const eventScript = `#!/bin/sh
# tmux runs this when a session is created, closed or renamed. \`threadmux uninstall\` removes it.
exec >/dev/null 2>&1
umask 077
box=\${0%/*}/state/tmux-events
mkdir -p "$box"
note=$box/\${2#--server=}.\${3#--id=?}.$1
printf '%s\\n' "$@" > "$note.$$" && mv "$note.$$" "$note"
exit 0
`;

/**
 * The script's path is in a tmux option, so that #{q:} quotes it for the shell like any name and none of the three parsers
 * interprets it. The prefixes such as --name= keep a name from being read as "~root" or as the option "-x".
 */
export function hooksConf(script: string, place = OWN_PLACE): string {
  const hooks = EVENTS.map((event) => {
    const words = [
      `exec sh #{q:${place.option}} ${event} --server=#{pid} --id=#{q:hook_session}`,
      '--name=#{q:hook_session_name} --socket=#{q:socket_path} >/dev/null 2>&1',
    ];
    return `set-hook -g '${hookName(event, place)}' 'run-shell -b "${words.join(' ')}"'`;
  });
  return `${[
    '# Written by `threadmux install`: reports created, closed and renamed sessions. `threadmux uninstall` removes it.',
    `set-option -g ${place.option} ${quoteShellWord(script)}`,
    ...hooks,
  ].join('\n')}\n`;
}

/** The user's tmux configuration with our line at its end, which replaces those that `removeSourceLine` removes. */
export function addSourceLine(text: string, conf: string, only?: string): string {
  const line = `source-file -q ${quoteShellWord(asPattern(conf))} ${MARK}`;
  if (text.split('\n').includes(line)) return text;
  const rest = removeSourceLine(text, only);
  const joint = rest === '' || rest.endsWith('\n') ? '' : '\n';
  const continued = /\\\n?$/.test(rest) ? '\n' : ''; // an empty line ends a last line that is continued
  return `${rest}${joint}${continued}${line}\n`;
}

/** Removes the lines that load `only`; without it, all lines of this machine's threadmux. Lines of other machines load files below `for/`. */
export function removeSourceLine(text: string, only?: string): string {
  const word = only && ` ${quoteShellWord(asPattern(only))} `;
  const isMine = (line: string) => (word ? line.includes(word) : !/\/for\/[^/]+\/tmux\.conf' /.test(line));
  return text
    .split(/(?<=\n)/)
    .filter((line) => !(/^\s*source(-file)?\s.*# threadmux\s*$/.test(line) && isMine(line)))
    .join('');
}

/** Loads the hooks into the running server; false if no server runs. */
export function loadHooks(tmux: Tmux, conf: string): Promise<boolean> {
  return tmux
    .run(['source-file', asPattern(conf)], { doing: 'set its hooks' })
    .then(() => true)
    .catch(unlessGone(false));
}

/** Removes our hooks, and no others, from the running server; false if it has none. */
export function unloadHooks(tmux: Tmux, place = OWN_PLACE): Promise<boolean> {
  return removeHooks(tmux, place).catch(unlessGone(false));
}

async function removeHooks(tmux: Tmux, place: HookPlace): Promise<boolean> {
  const hooks = await tmux.run(['show-hooks', '-g'], { doing: 'read its hooks' });
  const ours = EVENTS.filter((event) =>
    hooks.split('\n').some((line) => line.startsWith(hookName(event, place)) && line.includes(place.option)),
  );
  for (const event of ours) await tmux.run(['set-hook', '-gu', hookName(event, place)], { doing: 'remove its hooks' });
  await tmux.run(['set-option', '-gqu', place.option], { doing: 'remove its hooks' });
  return ours.length > 0;
}

function hookName(event: (typeof EVENTS)[number], { index }: HookPlace): string {
  return `session-${event}[${index}]`;
}

/** source-file expands glob patterns. */
function asPattern(path: string): string {
  return path.replace(/[\\*?[\]]/g, '\\$&');
}
