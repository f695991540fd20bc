// The command lines we put into Claude Code's settings. Each ends in a mark, a comment to the shell,
// by which we know it again wherever threadmux was installed when it was written.

import { quote, unquote } from '../core/shell-word.ts';

export interface InstalledPaths {
  /** The Node.js to run with. */
  readonly node: string;
  /** The folder of the compiled program: it holds hooks/ and bin/. */
  readonly dist: string;
  /** Where drop, ask and statusline are, if not in the program's own folder. */
  readonly scripts?: string;
  /** Only if it is not the one every process finds by itself. */
  readonly home?: string | undefined;
  /** Which commands are to be replaced; `isOurs` unless given. */
  readonly isMine?: IsMine;
}

/** Several threadmux may have their commands in one file; each touches only its own. */
export type IsMine = (command: string) => boolean;

const MARK = ' # threadmux';
/** Marked, or with the mark edited away but still in a folder of our name. */
const OURS =
  /# threadmux\s*$|\/threadmux\/dist\/(?:hooks\/(?:drop|ask|statusline)|bin\/(?:permission-request|statusline)\.js)(?:['\s]|$)/;

/** Of any threadmux, also of one on another machine. */
export function isThreadmux(command: string): boolean {
  return OURS.test(command);
}

/** Of the threadmux on this machine. One on another machine keeps its home here under `for/` and its own name. */
export function isOurs(command: string): boolean {
  return isThreadmux(command) && !/\/for\/[^/]+$/.test(readCommand(command).home ?? '');
}

/** Of the threadmux with this home, or with a program below this folder. */
export function isOf(home: string, program?: string): IsMine {
  return (command) => {
    if (!isThreadmux(command)) return false;
    const read = readCommand(command);
    const isBelow = (file: string) => program !== undefined && file.startsWith(`${program}/`);
    return read.home === home || read.files.some(isBelow);
  };
}

/** The words of a command that we wrote, up to the user's own command in it. */
export function readCommand(command: string): {
  readonly files: readonly string[];
  readonly home: string | undefined;
} {
  const words = (command.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? []).map((word) =>
    word.replace(
      /'([^']*)'|\\(.)/g,
      (_, plain?: string, escaped?: string) => plain ?? escaped ?? '',
    ),
  );
  const end = words.findIndex((word) => word === '--' || word === '#');
  const own = end === -1 ? words : words.slice(0, end);
  const home = own.find((word) => word.startsWith('THREADMUX_HOME='));
  return {
    files: own.filter((word) => word.startsWith('/')),
    home: home?.slice('THREADMUX_HOME='.length),
  };
}

function script({ scripts, dist }: InstalledPaths, name: string): string {
  return `${scripts ?? `${dist}/hooks`}/${name}`;
}

export function dropCommand(paths: InstalledPaths): string {
  return marked(paths, [script(paths, 'drop')]);
}

export function askCommand(paths: InstalledPaths): string {
  // Without exec a shell may stay between the agent and `ask`, which would not notice the agent's end.
  return marked(paths, ['exec', script(paths, 'ask')]);
}

/** The status line command of the user, which ours runs and shows. */
export interface Wrapped {
  readonly command: string;
  /** It is kept in another settings file; here it is only shown, so there is nothing to give back. */
  readonly borrowed: boolean;
}

/** The user's command stands in ours in full: it can be read, edited and given back without any record. */
export function statuslineCommand(paths: InstalledPaths, wrapped: Wrapped | undefined): string {
  const words = [script(paths, 'statusline')];
  if (wrapped?.borrowed) words.push('--borrowed');
  return marked(paths, wrapped === undefined ? words : [...words, '--', wrapped.command]);
}

export function wrappedIn(command: string): Wrapped | undefined {
  const flags = afterOurs(command)?.match(/^('?--borrowed'? )?'?--'? /);
  if (flags === null || flags === undefined) return undefined;
  const rest = withoutMark((afterOurs(command) as string).slice(flags[0].length));
  if (rest === '') return undefined;
  return { command: unquote(rest) ?? rest, borrowed: flags[1] !== undefined };
}

/** What follows our program, which was `node …/bin/statusline.js` once. Word by word: a quoted home may hold its name, too. */
function afterOurs(command: string): string | undefined {
  const words = /((?:[^\s'\\]|'[^']*'|\\.)+)\s*/y;
  for (let word = words.exec(command); word !== null; word = words.exec(command))
    if (/\/statusline(?:\.js)?'?$/.test(word[1] as string)) return command.slice(words.lastIndex);
  return undefined;
}

/** The command of another threadmux that wraps `inner`, with `rest` in its place. */
export function rewrapped(command: string, inner: string, rest: string | undefined): string {
  const before = command.slice(0, command.lastIndexOf(` -- ${word(inner)}`));
  return `${before}${rest === undefined ? '' : ` -- ${word(rest)}`}${MARK}`;
}

function withoutMark(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.endsWith(MARK.trim()) ? trimmed.slice(0, -MARK.trim().length).trimEnd() : text;
}

function marked({ home }: InstalledPaths, words: readonly string[]): string {
  const where = home === undefined ? '' : `THREADMUX_HOME=${quote(home)} `;
  return where + words.map(word).join(' ') + MARK;
}

/** Plain words stay readable. */
function word(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : quote(text);
}
