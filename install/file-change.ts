// One file of a person, here or on another host: how it changes, and the change itself. The way back is remembered on our
// own machine before the file is touched.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type InstalledPaths, isOurs } from '../agents/claude/hook-commands.ts';
import { addThreadmux, removeThreadmux, showsStatusline } from '../agents/claude/settings.ts';
import { isThreadmuxError, ThreadmuxError } from '../core/errors.ts';
import { lineDiff } from '../core/line-diff.ts';
import { type Home, openHome } from '../home/home.ts';
import {
  beforeInstall,
  forgetInstalled,
  type Installed,
  isAsWeLeftIt,
  loadInstalled,
  rememberInstalled,
} from '../home/installed.ts';
import { holderOf, tryLock } from '../home/lock.ts';
import type { UserFile } from '../home/user-owned-file.ts';
import { addSourceLine, removeSourceLine } from '../tmux/tmux-hooks.ts';

/** What is ours in a file. */
export interface ChangePart {
  readonly kind: Installed['kind'];
  add(text: string): string;
  remove(text: string, before: string | undefined): string;
  /** What was added, for the person. */
  added(text: string): string;
}

/** A file as it is, as it was without us, and as it is going to be. Undefined is a file that is not there. */
export interface FileChange<File extends UserFile = UserFile> {
  readonly kind: Installed['kind'];
  readonly file: File;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The topmost folder that was made for it. */
  readonly madeFolder: string | null;
  readonly part: ChangePart;
}

/** How files are written on the machine that has them. */
export interface Files<File extends UserFile = UserFile> {
  /** Gives the topmost folder that had to be made for it. */
  write(file: File, text: string): Promise<string | undefined>;
  remove(file: File, madeFolder: string | undefined): Promise<void>;
}

export function settingsPart(paths: InstalledPaths, lent?: string): ChangePart {
  const isMine = paths.isMine ?? isOurs;
  return {
    kind: 'settings',
    add: (text) => addThreadmux(text, paths, lent),
    remove: (text, before) => removeThreadmux(text, before, isMine),
    added: (text) =>
      showsStatusline(text, isMine)
        ? 'added the hooks and the status line.'
        : 'added the hooks; its status line has a form we do not know and was left alone.',
  };
}

/** `old`: only the lines that load one of these are ours; every line of this machine's threadmux, if not given. */
export function tmuxPart(conf: string, old?: readonly string[]): ChangePart {
  return {
    kind: 'tmux',
    add: (text) => addSourceLine(text, conf, old),
    remove: (text) => removeSourceLine(text, old),
    added: () => `added the line that loads ${conf}.`,
  };
}

/** `records` is the folder that home/installed.ts keeps its records in. */
export function planAdding<File extends UserFile>(records: string, file: File, part: ChangePart): FileChange<File> {
  const { kind } = part;
  const { path, text } = file;
  const entry = entryOf(records, path);
  const madeFolder = entry?.madeFolder ?? null;
  const isDone = text !== undefined && naming(path, () => edit(text, part.add)) === text;
  if (isDone) return { kind, file, before: text, after: text, madeFolder, part };
  const before = withoutUs(records, file, part, entry);
  const after = naming(path, () => edit(before, part.add));
  return { kind, file, before, after, madeFolder, part };
}

export function planRemoving<File extends UserFile>(records: string, file: File, part: ChangePart): FileChange<File> {
  const entry = entryOf(records, file.path);
  const after = naming(file.path, () => withoutUs(records, file, part, entry));
  return {
    kind: part.kind,
    file,
    before: after,
    after,
    madeFolder: entry?.madeFolder ?? null,
    part,
  };
}

export async function applyChange<File extends UserFile>(
  { kind, file, before, after, madeFolder, part }: FileChange<File>,
  records: string,
  files: Files<File>,
): Promise<string> {
  const { path } = file;
  if (after === undefined || after === file.text) return `${path}: nothing to do, it is up to date.`;
  const texts = { before, after };
  rememberInstalled(records, { path, kind, madeFolder }, texts);
  const made = await files.write(file, after);
  if (made !== undefined) rememberInstalled(records, { path, kind, madeFolder: made }, texts);
  return `${path}: ${part.added(after)}`;
}

export async function revertChange<File extends UserFile>(
  { kind, file, after, madeFolder }: FileChange<File>,
  records: string,
  files: Files<File>,
): Promise<string> {
  const { path } = file;
  if (after === undefined && file.text !== undefined) await files.remove(file, madeFolder ?? undefined);
  else if (after !== undefined && after !== file.text) await files.write(file, after);
  forgetInstalled(records, path);
  if (after === file.text) return `${path}: nothing to do, it holds nothing of ours.`;
  if (after === undefined) return `${path}: removed, as there was none before.`;
  return `${path}: took out ${kind === 'tmux' ? 'our line' : 'our hooks and status line'}.`;
}

/** The difference, for --dry-run. */
export function describeChange({ file, after }: FileChange): readonly string[] {
  if (after === file.text) return [`${file.path}: nothing would change.`];
  const verb = file.text === undefined ? 'made' : after === undefined ? 'removed' : 'changed';
  return [`${file.path} would be ${verb}:`, ...lineDiff(file.text ?? '', after ?? '')];
}

function entryOf(records: string, path: string): Installed | undefined {
  return loadInstalled(records).find((one) => one.path === path);
}

/** As it was if nobody else has changed it since, else with just our parts taken out. */
function withoutUs(
  records: string,
  { text }: UserFile,
  part: ChangePart,
  entry: Installed | undefined,
): string | undefined {
  if (text === undefined) return undefined;
  const before = entry && beforeInstall(records, entry);
  const wasMissing = entry?.backup === null;
  if (entry && isAsWeLeftIt(entry, text) && (wasMissing || before !== undefined)) return before;
  const rest = edit(text, (own) => part.remove(own, before));
  return wasMissing && /^\s*(\{\s*\}\s*)?$/.test(rest) ? undefined : rest;
}

/** A byte order mark stays in front. */
function edit(text: string | undefined, change: (text: string) => string): string {
  const mark = text?.startsWith('\ufeff') ? '\ufeff' : '';
  return mark + change((text ?? '').slice(mark.length));
}

/** The refusals of a text do not know whose text it is. */
function naming<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!isThreadmuxError(error)) throw error;
    throw new ThreadmuxError(error.code, `${path} was left as it is: ${error.message}`, {
      cause: error,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
  }
}

// Two installs at once take turns; none removes a home that a bridge uses.

const PATIENCE_MS = 10_000;

export function lockOf(root: string, name: 'bridge' | 'courier' | 'install'): string {
  return join(root, 'state', `${name}.lock`);
}

/** The second finds everything done. */
export async function locked<T>(root: string, act: (home: Home) => Promise<T>): Promise<T> {
  const home = openHome(root);
  for (let waited = 0; ; waited += 50) {
    const release = attempt(home);
    if (release !== undefined) return act(home).finally(release);
    if (waited >= PATIENCE_MS)
      throw new ThreadmuxError('busy', `another install is at work (process ${holderOf(lockOf(root, 'install'))})`, {
        hint: 'Run this again when it has ended.',
      });
    await sleep(50);
  }
}

/** An uninstall that ends just now takes the folder away under our hands. */
function attempt(home: Home): (() => void) | undefined {
  try {
    home.folder('state');
    return tryLock(lockOf(home.root, 'install'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** It would go on writing into a home that is gone. */
export function checkNoBridge(root: string): void {
  const pid = holderOf(lockOf(root, 'bridge'));
  if (pid === undefined) return;
  throw new ThreadmuxError('home_unsafe', `threadmux is running (process ${pid})`, {
    hint: 'Stop it first, then run this again.',
  });
}

export async function withInstallLock<T, R>(all: readonly T[], act: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const one of all) done.push(await act(one));
  return done;
}
