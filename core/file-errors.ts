// Explains file system errors to people: per errno, what it means and what to do about it.

import { ThreadmuxError } from './errors.ts';

interface Words {
  readonly why: string;
  readonly remedy: string;
  /** Temporary: the same write may work later without a change of the configuration. */
  readonly passes?: true;
}

const PERMISSIONS = 'Check the owner and permissions of it and of its folder, then run this again.';

const WORDS: Readonly<Record<string, Words>> = {
  ENOSPC: { why: 'the disk is full', remedy: 'Make room on it.', passes: true },
  EDQUOT: { why: 'your disk quota is used up', remedy: 'Make room on it.', passes: true },
  EIO: {
    why: 'the disk reports an error',
    remedy: 'Check the disk: it may be failing.',
    passes: true,
  },
  EFBIG: {
    why: 'the shell limits the size of files',
    remedy: 'Raise the limit: ulimit -f unlimited',
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
  EACCES: { why: 'permission denied', remedy: PERMISSIONS },
  EPERM: { why: 'permission denied', remedy: PERMISSIONS },
  ENOTDIR: {
    why: 'part of the path is not a folder',
    remedy: 'Correct the path, then run this again.',
  },
  ELOOP: { why: 'its links form a loop', remedy: 'Correct the links, then run this again.' },
};

/** Undefined for an unexpected errno. */
export function errnoWords(errno: string | undefined): Words | undefined {
  return WORDS[errno ?? ''];
}

/** Also finds the errno behind a ThreadmuxError. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof ThreadmuxError ? errnoOf(error.cause) : code;
}

/** Worth waiting for: there may be room later. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
}

/** Replaces an errno with a sentence; returns any other error unchanged. */
export function fileError(error: unknown, doing: string, otherRemedy?: string): unknown {
  const words = error instanceof ThreadmuxError ? undefined : errnoWords(errnoOf(error));
  if (words === undefined) return error;
  const hint = otherRemedy === undefined ? words.remedy : `${words.remedy.replace(/\.$/, '')}, or ${otherRemedy}.`;
  const code = words.passes ? 'disk_failed' : 'home_unsafe';
  return new ThreadmuxError(code, `${doing}: ${words.why}`, { cause: error, hint });
}

/** Like `fileError`, for an error that was not expected where it happened: only its path is known. */
export function plainError(error: unknown): unknown {
  const { path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return syscall === undefined ? error : fileError(error, path ?? `a file (${syscall})`);
}
