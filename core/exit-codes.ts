// Exit codes, for scripts and service managers. Every error has one of them; docs/cli.md lists them.

import { type ErrorCode, isThreadmuxError } from './errors.ts';

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
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
