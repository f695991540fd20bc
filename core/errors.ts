// Every expected failure has a code. An error without a code is a bug and may crash the process. No message contains a token.

import { maskSecrets } from './mask-secrets.ts';

type ErrorCode =
  | 'config_invalid'
  | 'name_refused'
  | 'home_unsafe'
  | 'disk_failed'
  | 'busy'
  | 'not_running'
  | 'needs_person'
  | 'not_submitted'
  | 'not_found'
  | 'bad_usage'
  | 'tmux_not_installed'
  | 'tmux_failed'
  | 'session_not_found'
  | 'session_exists'
  | 'host_unreachable'
  | 'host_refused'
  | 'discord_refused'
  | 'discord_unauthorized'
  | 'discord_unreachable'
  | 'discord_fatal'
  | 'workspace_failed';

export class ThreadmuxError extends Error {
  override readonly name = 'ThreadmuxError';
  readonly code: ErrorCode;
  /** What the user can do about it, in one sentence; shown below the message. */
  readonly hint: string | undefined;
  /** The HTTP status and Discord's error code, for callers that act on them. */
  readonly answer: { readonly status: number; readonly code: number } | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; hint?: string; answer?: { status: number; code: number } } = {},
  ) {
    super(maskSecrets(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint === undefined ? undefined : maskSecrets(options.hint);
    this.answer = options.answer;
  }
}

export function isThreadmuxError(error: unknown, code?: ErrorCode): error is ThreadmuxError {
  return error instanceof ThreadmuxError && (code === undefined || error.code === code);
}

/** For people: what went wrong and, on the next line, what to do. */
export function explain(error: unknown): string {
  if (isThreadmuxError(error) && error.hint !== undefined) return `${error.message}\n${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}

// Exit codes, for scripts and service managers. Every error has one of them; docs/cli.md lists them.

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  /** The agent waits for a person. */
  needsPerson: 4,
  timeIsUp: 5,
  /** A host or Discord could not be reached: the same command may work later. */
  unreachable: 69,
  /** A restart would not help: a service manager must not try. */
  config: 78,
} as const;

const CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  bad_usage: EXIT.usage,
  name_refused: EXIT.usage,
  not_found: EXIT.notFound,
  session_not_found: EXIT.notFound,
  needs_person: EXIT.needsPerson,
  not_running: EXIT.unreachable,
  host_unreachable: EXIT.unreachable,
  discord_unreachable: EXIT.unreachable,
  config_invalid: EXIT.config,
  home_unsafe: EXIT.config,
  discord_unauthorized: EXIT.config,
  discord_fatal: EXIT.config,
};

export function exitCodeOf(error: unknown): number {
  return (isThreadmuxError(error) ? CODES[error.code] : undefined) ?? EXIT.failed;
}

/** What is printed on stderr with --json. */
export function errorData(error: unknown): {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string | null };
} {
  const message = error instanceof Error ? error.message : String(error);
  return isThreadmuxError(error)
    ? { error: { code: error.code, message, hint: error.hint ?? null } }
    : { error: { code: 'internal', message, hint: null } };
}

/** The error that another process has described in this way. */
export function errorOf({ code, message, hint }: ReturnType<typeof errorData>['error']): Error {
  if (code === 'internal') return new Error(message);
  return new ThreadmuxError(code as ErrorCode, message, hint === null ? {} : { hint });
}

// Explains file system errors to people: per errno, what it means and what to do about it.

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
  EIO: { why: 'the disk reports an error', remedy: 'Check the disk: it may be failing.', passes: true },
  EFBIG: { why: 'the shell limits the size of files', remedy: 'Raise the limit: ulimit -f unlimited', passes: true },
  EMFILE: { why: 'too many files are open', remedy: 'Raise the limit: ulimit -n 4096', passes: true },
  ENFILE: { why: 'too many files are open on this machine', remedy: 'End some programs.', passes: true },
  EROFS: { why: 'the disk is read-only', remedy: 'Mount it writable, then run this again.' },
  EACCES: { why: 'permission denied', remedy: PERMISSIONS },
  EPERM: { why: 'permission denied', remedy: PERMISSIONS },
  ENOTDIR: { why: 'part of the path is not a folder', remedy: 'Correct the path, then run this again.' },
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
