// Runs tmux on a host. No shell and no tmux parser ever reads an argument as a command.

import { isThreadmuxError } from '../core/errors.ts';
import type { Host, ShOptions } from '../hosts/host.ts';
import { NO_TMUX } from '../hosts/host-errors.ts';
import { TMUX_FUNCTION } from '../hosts/own-socket.ts';

export interface Tmux {
  readonly host: Host;
  /** The socket of the server; undefined for the user's default server. */
  readonly socket: string | undefined;
  /** One tmux command; resolves with what it printed. */
  run(args: readonly [command: string, ...string[]], options?: ShOptions): Promise<string>;
  /** A POSIX sh script in which `t` is tmux on this server and "$@" are `args`. */
  script(body: string, args: readonly string[], options?: ShOptions): Promise<string>;
}

export function tmuxOn(host: Host, socket?: string): Tmux {
  const script: Tmux['script'] = (body, args, options) =>
    host.sh(PRELUDE + body, [host.tmux, socket ?? '', ...args], options);
  return {
    host,
    socket,
    script,
    run: (args, options) =>
      script('t "$@"', args.map(keepSemicolon), { doing: `run tmux ${args[0]}`, maxBytes: MOST_BYTES, ...options }),
  };
}

/** The same, as a script with its arguments for another shell of that host. */
export function asScript(
  { host, socket }: Pick<Tmux, 'host' | 'socket'>,
  body: string,
  ...args: string[]
): [string, ...string[]] {
  return [PRELUDE + body, host.tmux, socket ?? '', ...args];
}

/** For `catch`: no server, session or pane is there. Other failures are thrown. */
export const unlessGone =
  <T>(otherwise: T) =>
  (error: unknown): T => {
    if (isThreadmuxError(error, 'session_not_found')) return otherwise;
    throw error;
  };

/** What one command prints, such as the list of the sessions. A hostile host could print millions of rows. */
const MOST_BYTES = 256 * 1024;

const PRELUDE = `tmux=$1; socket=$2; shift 2
${TMUX_FUNCTION}command -v "$tmux" >/dev/null 2>&1 || exit ${NO_TMUX}
`;

/** tmux ends a command at a trailing ";" of any argument, even in argv. */
function keepSemicolon(argument: string): string {
  return argument.endsWith(';') ? `${argument.slice(0, -1)}\\;` : argument;
}

/** The option of a session that says how we started it. It ends with the session, but the registry has a copy. */
export const START_OPTION = '@threadmux_start';

// Rows of values printed by tmux, separated by tabs and newlines. The format replaces both inside values, so that no
// title, path or name can break a row.

/** A program can give its pane a title of a million characters; only the end is printed. */
const SHORT: ReadonlySet<string> = new Set(['pane_title']);

/** A tmux format that prints the given variables as one row. */
export function rowFormat(variables: readonly string[]): string {
  return variables.map((variable) => `#{${SHORT.has(variable) ? '=-1000;' : ''}s|[\t\n]|?|:${variable}}`).join('\t');
}

/** What tmux prints for a variable. A hostile host could print anything, and a record with no number in it cannot be read again. */
const FORMS: readonly (readonly [variable: RegExp, value: RegExp])[] = [
  [/^session_id$/, /^(?:\$\d{1,15})?$/],
  [/^pane_id$/, /^(?:%\d{1,15})?$/],
  [/^(?:pid|pane_pid|(?:session|window)_(?:created|activity|attached)|history_size)$/, /^-?\d{0,15}$/],
  [/^(?:pane_(?:width|height|dead|dead_status|dead_time)|cursor_[xy])$/, /^-?\d{0,15}$/],
];

/** The values of one row by variable; undefined if the line is not such a row. */
export function readRow<Variable extends string>(
  variables: readonly Variable[],
  line: string,
): Readonly<Record<Variable, string>> | undefined {
  const values = line.split('\t');
  if (values.length !== variables.length) return undefined;
  const fits = (variable: string, value: string) => FORMS.every(([of, form]) => !of.test(variable) || form.test(value));
  if (!variables.every((variable, index) => fits(variable, values[index] ?? ''))) return undefined;
  return Object.fromEntries(variables.map((variable, index) => [variable, values[index] ?? ''])) as Record<
    Variable,
    string
  >;
}
