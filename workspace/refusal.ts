// How the workspace says no: Discord's status, code and sentence. Thrown by routes, caught in one place, by http.ts.

import { isThreadmuxError, ThreadmuxError } from '../core/errors.ts';

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const REFUSALS = {
  10002: [404, 'Unknown Application'],
  10003: [404, 'Unknown Channel'],
  10004: [404, 'Unknown Guild'],
  10007: [404, 'Unknown Member'],
  10008: [404, 'Unknown Message'],
  10013: [404, 'Unknown User'],
  10014: [400, 'Unknown Emoji'],
  10015: [404, 'Unknown Webhook'],
  10062: [404, 'Unknown interaction'],
  10063: [404, 'Unknown application command'],
  30010: [400, 'Maximum number of reactions reached (20)'],
  30015: [400, 'Maximum number of attachments in a message reached (10)'],
  30032: [400, 'Maximum number of application commands reached (100)'],
  40005: [413, 'Request entity too large'],
  40060: [400, 'Interaction has already been acknowledged.'],
  50001: [403, 'Missing Access'],
  50005: [403, 'Cannot edit a message authored by another user'],
  50006: [400, 'Cannot send an empty message'],
  50013: [403, 'Missing Permissions'],
  50021: [400, 'Cannot execute action on a system message'],
  50024: [400, 'Cannot execute action on this channel type'],
  50045: [413, 'File uploaded exceeds the maximum size'],
  50083: [400, 'Thread is archived'],
  50109: [400, 'The request body contains invalid JSON.'],
  160004: [400, 'A thread has already been created for this message'],
  160005: [403, 'Thread is locked'],
} as const satisfies Record<number, readonly [number, string]>;

export type RefusalCode = keyof typeof REFUSALS;

/** Ends the request with one of Discord's own refusals. */
export function refuse(code: RefusalCode): never {
  const [status, message] = REFUSALS[code];
  throw refusal({ status, body: { message, code } });
}

/** Nested as Discord nests it: `{content: {_errors: [{code, message}]}}`. */
export interface FormErrors {
  readonly [key: string]: FormErrors | readonly FormError[];
}
export interface FormError {
  readonly code: string;
  readonly message: string;
}

export function refuseForm(errors: FormErrors): never {
  throw refusal({ status: 400, body: { message: 'Invalid Form Body', code: 50035, errors } });
}

export function refuseField(
  path: readonly (string | number)[],
  code: string,
  message: string,
): never {
  const leaf: FormErrors = { _errors: [{ code, message }] };
  refuseForm(path.reduceRight<FormErrors>((inner, key) => ({ [key]: inner }), leaf));
}

export function refuseWith(answer: Answer): never {
  throw refusal(answer);
}

function refusal(answer: Answer): ThreadmuxError {
  return new ThreadmuxError('workspace_failed', 'The workspace refused the request.', {
    cause: { answer },
  });
}

export function answerOf(error: unknown): Answer | undefined {
  if (!isThreadmuxError(error, 'workspace_failed')) return undefined;
  return (error.cause as { answer?: Answer } | undefined)?.answer;
}
