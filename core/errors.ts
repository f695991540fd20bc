// Every expected failure has a code. An error without a code is a bug and may crash the process.

export type ErrorCode =
  | 'config_invalid'
  | 'name_refused'
  | 'home_unsafe'
  | 'disk_failed'
  | 'busy'
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
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
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
