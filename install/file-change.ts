// Changes one file of the user, here or on another host, and undoes the change. The backup is stored on this machine before the
// file is changed.

import { existsSync, readdirSync } from 'node:fs';
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

/** The part of a file that belongs to us. */
export interface ChangePart {
  readonly kind: Installed['kind'];
  add(text: string): string;
  remove(text: string, before: string | undefined): string;
  /** Describes for the user what was added. */
  added(text: string): string;
}

/** A file as it is now, without our part, and after the change. Undefined means that the file does not exist. */
export interface FileChange<File extends UserFile = UserFile> {
  readonly file: File;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The topmost folder that was created for the file. */
  readonly madeFolder: string | null;
  readonly part: ChangePart;
}

/** Writes files on the machine that has them. */
export interface Files<File extends UserFile = UserFile> {
  /** Returns the topmost folder that had to be created. */
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
        : 'added the hooks. The status line has an unknown format and was not changed.',
  };
}

/** If `only` is given, only lines that load this file are ours; otherwise every line of this machine's threadmux. */
export function tmuxPart(conf: string, only?: string): ChangePart {
  return {
    kind: 'tmux',
    add: (text) => addSourceLine(text, conf, only),
    remove: (text) => removeSourceLine(text, only),
    added: () => `added the line that loads ${conf}.`,
  };
}

/** `records` is the folder for home/installed.ts. */
export function planAdding<File extends UserFile>(records: string, file: File, part: ChangePart): FileChange<File> {
  const { path, text } = file;
  const entry = entryOf(records, path);
  const madeFolder = entry?.madeFolder ?? null;
  const isDone = text !== undefined && withPath(path, () => edit(text, part.add)) === text;
  if (isDone) return { file, before: text, after: text, madeFolder, part };
  const before = withoutUs(records, file, part, entry);
  const after = withPath(path, () => edit(before, part.add));
  return { file, before, after, madeFolder, part };
}

export function planRemoving<File extends UserFile>(records: string, file: File, part: ChangePart): FileChange<File> {
  const entry = entryOf(records, file.path);
  const after = withPath(file.path, () => withoutUs(records, file, part, entry));
  return { file, before: after, after, madeFolder: entry?.madeFolder ?? null, part };
}

export async function applyChange<File extends UserFile>(
  { file, before, after, madeFolder, part }: FileChange<File>,
  records: string,
  files: Files<File>,
): Promise<string> {
  const { path } = file;
  if (after === undefined || after === file.text) return `${path}: already up to date.`;
  const texts = { before, after };
  const { kind } = part;
  rememberInstalled(records, { path, kind, madeFolder }, texts);
  const made = await files.write(file, after);
  if (made !== undefined) rememberInstalled(records, { path, kind, madeFolder: made }, texts);
  return `${path}: ${part.added(after)}`;
}

export async function revertChange<File extends UserFile>(
  { file, after, madeFolder, part }: FileChange<File>,
  records: string,
  files: Files<File>,
): Promise<string> {
  const { path } = file;
  if (after === undefined && file.text !== undefined) await files.remove(file, madeFolder ?? undefined);
  else if (after !== undefined && after !== file.text) await files.write(file, after);
  forgetInstalled(records, path);
  if (after === file.text) return `${path}: nothing to remove.`;
  if (after === undefined) return `${path}: deleted, because install created it.`;
  return `${path}: removed the ${part.kind === 'tmux' ? 'threadmux line' : 'hooks and the status line'}.`;
}

/** The changes, for --dry-run. */
export function describeChange({ file, after }: FileChange): readonly string[] {
  if (after === file.text) return [`${file.path}: no changes.`];
  const verb = file.text === undefined ? 'created' : after === undefined ? 'deleted' : 'changed';
  return [`${file.path} would be ${verb}:`, ...lineDiff(file.text ?? '', after ?? '')];
}

function entryOf(records: string, path: string): Installed | undefined {
  return loadInstalled(records).find((one) => one.path === path);
}

/** The backup if the file has not changed since; otherwise the file without our part. */
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
  const isOurs = wasMissing || part.kind === 'extension';
  return isOurs && /^\s*(\{\s*\}\s*)?$/.test(rest) ? undefined : rest;
}

/** Keeps a byte order mark at the start. */
function edit(text: string | undefined, change: (text: string) => string): string {
  const mark = text?.startsWith('\ufeff') ? '\ufeff' : '';
  return mark + change((text ?? '').slice(mark.length));
}

/** Adds the path to errors about the text of a file. */
function withPath<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!isThreadmuxError(error)) throw error;
    throw new ThreadmuxError(error.code, `${path} was not changed: ${error.message}`, {
      cause: error,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
    });
  }
}

const PATIENCE_MS = 10_000;

type LockName = 'bridge' | 'courier' | 'install' | `install@${string}`;

export function lockOf(root: string, name: LockName): string {
  return join(root, 'state', `${name}.lock`);
}

/**
 * Waits while another install or uninstall is running, for this machine or for `host`. A lock per host: one that does not answer
 * must not hold up the others.
 */
export async function withInstallLock<T>(root: string, act: (home: Home) => Promise<T>, host?: string): Promise<T> {
  const home = openHome(root);
  const lock = lockOf(root, host === undefined ? 'install' : `install@${host}`);
  for (let waited = 0; ; waited += 50) {
    const release = attempt(home, lock);
    if (release !== undefined) return act(home).finally(release);
    if (waited >= PATIENCE_MS) throw isInstalling(holderOf(lock));
    await sleep(50);
  }
}

/** An uninstall that is just finishing may delete the folder. */
function attempt(home: Home, lock: string): (() => void) | undefined {
  try {
    home.folder('state');
    return tryLock(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isInstalling(pid: number | undefined): ThreadmuxError {
  return new ThreadmuxError('busy', `another install is running (process ${pid})`, {
    hint: 'Run this again when it has finished.',
  });
}

/** Before our home is deleted: the backups of the files on hosts are in it, too. */
export function checkUnused(root: string): void {
  checkNoBridge(root);
  const state = join(root, 'state');
  for (const name of existsSync(state) ? readdirSync(state) : []) {
    const pid = /^install@.+\.lock$/.test(name) ? holderOf(join(state, name)) : undefined;
    if (pid !== undefined) throw isInstalling(pid);
  }
}

/** A running bridge would write into a deleted home. */
export function checkNoBridge(root: string): void {
  const pid = holderOf(lockOf(root, 'bridge'));
  if (pid === undefined) return;
  throw new ThreadmuxError('home_unsafe', `threadmux is running (process ${pid})`, {
    hint: 'Stop it first, then run this again.',
  });
}

/** Runs the acts one after the other. */
export async function inOrder<T, R>(all: readonly T[], act: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const one of all) done.push(await act(one));
  return done;
}
