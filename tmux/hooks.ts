// How tmux tells us of sessions that are made, closed and renamed: three hooks at an index of our own, beside the
// user's. No name, however hostile, is read as a command. What they say are hints; the list of sessions is the truth.

import { createHash } from 'node:crypto';
import { isThreadmuxError } from '../core/errors.ts';
import { quote } from '../core/shell-word.ts';
import type { Tmux } from './tmux.ts';

const EVENTS = ['created', 'closed', 'renamed'] as const;
const MARK = '# threadmux';

/** Where in tmux our hooks are. Each threadmux that uses a server has a place of its own there. */
interface HookPlace {
  readonly index: number;
  /** The tmux option with the path of the script. */
  readonly option: string;
}

export const OWN_PLACE: HookPlace = { index: 8410, option: '@threadmux-event' };

/** On another machine than its own, a threadmux is known by its name. */
export function placeOf(name: string): HookPlace {
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 6);
  return { index: 10_000 + Number.parseInt(hash, 16), option: `${OWN_PLACE.option}-${hash}` };
}

/**
 * Leaves one small file per server, session and event in state/tmux-events, however often it happens.
 * It prints nothing and never fails: either would put the user's pane into a view of the output.
 */
export const eventScript = `#!/bin/sh
# tmux runs this when a session is made, closed or renamed. \`threadmux uninstall\` removes it.
exec >/dev/null 2>&1
umask 077
box=\${0%/*}/state/tmux-events
mkdir -p "$box"
note=$box/\${2#--server=}.\${3#--id=?}.$1
printf '%s\\n' "$@" > "$note.$$" && mv "$note.$$" "$note"
exit 0
`;

/**
 * The script's path goes through an option of tmux: #{q:} quotes it for the shell like any name, so that nothing in it is read
 * by one of the three parsers on the way. The prefixes keep a name from being a word of its own ("~root", "-x").
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
    '# Written by `threadmux install`: tells threadmux which sessions come and go. `threadmux uninstall` removes it.',
    `set-option -g ${place.option} ${quote(script)}`,
    ...hooks,
  ].join('\n')}\n`;
}

/** The user's tmux configuration with our one line at its end, instead of the lines that load one of `old`. */
export function addSourceLine(text: string, conf: string, old?: readonly string[]): string {
  const line = `source-file -q ${quote(asPattern(conf))} ${MARK}`;
  if (text.split('\n').includes(line)) return text;
  const rest = removeSourceLine(text, old);
  const joint = rest === '' || rest.endsWith('\n') ? '' : '\n';
  const continued = /\\\n?$/.test(rest) ? '\n' : ''; // an empty line ends a last line that goes on
  return `${rest}${joint}${continued}${line}\n`;
}

/** Without `confs`: every line of a threadmux on this machine. Those of other machines have their files below `for/`. */
export function removeSourceLine(text: string, confs?: readonly string[]): string {
  const words = confs?.map((conf) => ` ${quote(asPattern(conf))} `);
  const isMine = (line: string) =>
    words?.some((word) => line.includes(word)) ?? !/\/for\/[^/]+\/tmux\.conf' /.test(line);
  return text
    .split(/(?<=\n)/)
    .filter((line) => !(/^\s*source(-file)?\s.*# threadmux\s*$/.test(line) && isMine(line)))
    .join('');
}

/** Loads the hooks into the running server; false if none runs. */
export async function loadHooks(tmux: Tmux, conf: string): Promise<boolean> {
  return unlessGone(async () => {
    await tmux.run(['source-file', asPattern(conf)], { doing: 'set its hooks' });
    return true;
  });
}

/** Takes our hooks, and only those, out of the running server; false if it has none. */
export async function unloadHooks(tmux: Tmux, place = OWN_PLACE): Promise<boolean> {
  return unlessGone(async () => {
    const hooks = await tmux.run(['show-hooks', '-g'], { doing: 'read its hooks' });
    const ours = EVENTS.filter((event) =>
      hooks
        .split('\n')
        .some((line) => line.startsWith(hookName(event, place)) && line.includes(place.option)),
    );
    for (const event of ours)
      await tmux.run(['set-hook', '-gu', hookName(event, place)], { doing: 'remove its hooks' });
    await tmux.run(['set-option', '-gqu', place.option], { doing: 'remove its hooks' });
    return ours.length > 0;
  });
}

function hookName(event: (typeof EVENTS)[number], { index }: HookPlace): string {
  return `session-${event}[${index}]`;
}

/** source-file takes a pattern. */
function asPattern(path: string): string {
  return path.replace(/[\\*?[\]]/g, '\\$&');
}

async function unlessGone(act: () => Promise<boolean>): Promise<boolean> {
  try {
    return await act();
  } catch (error) {
    if (isThreadmuxError(error, 'session_not_found')) return false;
    throw error;
  }
}
