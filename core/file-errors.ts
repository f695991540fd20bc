// What an error of the file system means for a person: one sentence per errno, and what to do about it.

import { ThreadmuxError } from './errors.ts';

interface Words {
  readonly why: string;
  readonly remedy: string;
  /** The same may work a moment later, without anybody changing the configuration. */
  readonly passes?: true;
}

const PERMISSIONS =
  'Look at its owner and permissions and those of its folder, then run this again.';

const WORDS: Readonly<Record<string, Words>> = {
  ENOSPC: { why: 'the disk is full', remedy: 'Make room on it.', passes: true },
  EDQUOT: { why: 'your quota of the disk is used up', remedy: 'Make room on it.', passes: true },
  EIO: {
    why: 'the disk reports an error',
    remedy: 'Check the disk: it may be failing.',
    passes: true,
  },
  EFBIG: {
    why: 'no file may grow (a limit of this shell)',
    remedy: 'Raise it: ulimit -f unlimited',
    passes: true,
  },
  EMFILE: {
    why: 'too many files are open',
    remedy: 'Raise the limit: ulimit -n 4096',
    passes: true,
  },
  ENFILE: {
    why: 'too many files are open on this machine',
    remedy: 'End some programs.',
    passes: true,
  },
  EROFS: { why: 'the disk is read-only', remedy: 'Mount it writable, then run this again.' },
  EACCES: { why: 'you may not', remedy: PERMISSIONS },
  EPERM: { why: 'you may not', remedy: PERMISSIONS },
  ENOTDIR: {
    why: 'a part of its path is not a folder',
    remedy: 'Correct the path, then run this again.',
  },
  ELOOP: { why: 'its links lead in a circle', remedy: 'Correct the links, then run this again.' },
};

/** Undefined: not an error of the file system that we expect. */
export function errnoWords(errno: string | undefined): Words | undefined {
  return WORDS[errno ?? ''];
}

/** Also of an error that we made of one. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof ThreadmuxError ? errnoOf(error.cause) : code;
}

/** The disk has no room for this: it is worth waiting for. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
}

/** A sentence instead of an errno; any other error stays as it is. */
export function fileError(error: unknown, doing: string, otherRemedy?: string): unknown {
  const words = error instanceof ThreadmuxError ? undefined : errnoWords(errnoOf(error));
  if (words === undefined) return error;
  const hint =
    otherRemedy === undefined
      ? words.remedy
      : `${words.remedy.replace(/\.$/, '')}, or ${otherRemedy}.`;
  const code = words.passes ? 'disk_failed' : 'home_unsafe';
  return new ThreadmuxError(code, `${doing}: ${words.why}`, { cause: error, hint });
}

/** The same for an error nobody expected at its place: the path is all it knows. */
export function plainError(error: unknown): unknown {
  const { path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return syscall === undefined ? error : fileError(error, path ?? `a file (${syscall})`);
}
