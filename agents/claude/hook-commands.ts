// The command lines that we put into Claude Code's settings. Each ends in a shell comment as a mark, by which we recognise it
// wherever threadmux was installed when it was written.

import { quoteShellWord, unquoteShellWord } from '../../core/shell-word.ts';

export interface InstalledPaths {
  /** The folder of the compiled program, with hooks/ and bin/. */
  readonly dist: string;
  /** The folder of drop, ask and statusline, if not in the program's own folder. */
  readonly scripts?: string;
  /** Only if it is not the default home. */
  readonly home?: string | undefined;
  /** Which commands to replace; by default `isOurs`. */
  readonly isMine?: IsMine;
}

/** Several installations of threadmux may have commands in one file; each changes only its own. */
export type IsMine = (command: string) => boolean;

const MARK = ' # threadmux';
/** Has the mark, or a path in a folder named threadmux if a user removed the mark. */
const OURS = /# threadmux\s*$|\/threadmux\/dist\/hooks\/(?:drop|ask|statusline)(?:['\s]|$)/;

/** A command of any threadmux, even of one on another machine. */
export function isThreadmux(command: string): boolean {
  return OURS.test(command);
}

/** A command of the threadmux on this machine. One on another machine has its home here below `for/<name>`. */
export function isOurs(command: string): boolean {
  return isThreadmux(command) && !/\/for\/[^/]+$/.test(readCommand(command).home ?? '');
}

/** A command of the threadmux with this home. */
export function isOfHome(home: string): IsMine {
  return (command) => isThreadmux(command) && readCommand(command).home === home;
}

/** Reads a command that we wrote, up to the user's own command inside it. */
export function readCommand(command: string): { readonly files: readonly string[]; readonly home: string | undefined } {
  const words = (command.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? []).map((word) =>
    word.replace(/'([^']*)'|\\(.)/g, (_, plain?: string, escaped?: string) => plain ?? escaped ?? ''),
  );
  const end = words.findIndex((word) => word === '--' || word === '#');
  const own = end === -1 ? words : words.slice(0, end);
  const home = own.find((word) => word.startsWith('THREADMUX_HOME='));
  return { files: own.filter((word) => word.startsWith('/')), home: home?.slice('THREADMUX_HOME='.length) };
}

/** One line that `drop` prints at the start of a session, so that Claude knows it without being told by a person. */
export function agentContext(tellAgent: boolean): string {
  return tellAgent ? `${HOW_TO_ATTACH}\n` : '';
}

const HOW_TO_ATTACH =
  'Your replies are posted in a chat. To send the user a file of this project there, write [ATTACH: path] on a line of its own.';

function script({ scripts, dist }: InstalledPaths, name: string): string {
  return `${scripts ?? `${dist}/hooks`}/${name}`;
}

export function dropCommand(paths: InstalledPaths): string {
  return marked(paths, [script(paths, 'drop')]);
}

export function askCommand(paths: InstalledPaths): string {
  // Without exec, a shell may stay between the agent and `ask`, and `ask` would not notice when the agent ends.
  return marked(paths, ['exec', script(paths, 'ask')]);
}

/** The user's status line command, which ours runs. */
export interface Wrapped {
  readonly command: string;
  /** It comes from another settings file, so there is nothing to restore in this one. */
  readonly borrowed: boolean;
}

/** Our command contains the user's command in full, so it can be edited and restored without a record. */
export function statuslineCommand(paths: InstalledPaths, wrapped: Wrapped | undefined): string {
  const words = [script(paths, 'statusline')];
  if (wrapped?.borrowed) words.push('--borrowed');
  return marked(paths, wrapped === undefined ? words : [...words, '--', wrapped.command]);
}

export function wrappedCommandIn(command: string): Wrapped | undefined {
  const flags = afterOurs(command)?.match(/^('?--borrowed'? )?'?--'? /);
  if (flags === null || flags === undefined) return undefined;
  const rest = withoutMark((afterOurs(command) as string).slice(flags[0].length));
  if (rest === '') return undefined;
  return { command: unquoteShellWord(rest) ?? rest, borrowed: flags[1] !== undefined };
}

/** The part after our program. Read word by word, because a quoted home may contain its name. */
function afterOurs(command: string): string | undefined {
  const words = /((?:[^\s'\\]|'[^']*'|\\.)+)\s*/y;
  for (let word = words.exec(command); word !== null; word = words.exec(command))
    if (/\/statusline'?$/.test(word[1] as string)) return command.slice(words.lastIndex);
  return undefined;
}

/** The command of another threadmux that wraps `inner`, with `inner` replaced by `rest`. */
export function rewrapStatusline(command: string, inner: string, rest: string | undefined): string {
  const before = command.slice(0, command.lastIndexOf(` -- ${word(inner)}`));
  return `${before}${rest === undefined ? '' : ` -- ${word(rest)}`}${MARK}`;
}

function withoutMark(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.endsWith(MARK.trim()) ? trimmed.slice(0, -MARK.trim().length).trimEnd() : text;
}

function marked({ home }: InstalledPaths, words: readonly string[]): string {
  const where = home === undefined ? '' : `THREADMUX_HOME=${quoteShellWord(home)} `;
  return where + words.map(word).join(' ') + MARK;
}

/** Quotes only if necessary, to keep the command readable. */
function word(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : quoteShellWord(text);
}
