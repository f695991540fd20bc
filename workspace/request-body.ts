// Reads a request's body: JSON, or multipart with payload_json and files. Limited: a body that is too large is refused.
import type { IncomingMessage } from 'node:http';
import { isThreadmuxError, ThreadmuxError } from '../core/errors.ts';
import { MOST_LEVELS, parseJson } from '../core/json.ts';
import * as codes from '../discord/error-codes.ts';
import { MAX_FILE_BYTES, MAX_FILES } from './storage/uploads.ts';

const MAX_REQUEST_BYTES = 25 * 1024 * 1024;
/** How many times the limit is still read of a body that is too large, so that its sender receives the refusal. */
const DRAINED = 4;
const MAX_PARTS = 32;

export interface UploadedFile {
  /** The n of files[n], which `attachments` refers to. */
  readonly key: string;
  readonly filename: string;
  readonly contentType: string | undefined;
  readonly data: Buffer;
}

export interface RequestBody {
  readonly payload: unknown;
  readonly uploads: readonly UploadedFile[];
}

export async function readBytes(request: IncomingMessage, maxBytes = MAX_REQUEST_BYTES): Promise<Buffer | 'too-large'> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > DRAINED * maxBytes) request.destroy();
    if (size <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size > maxBytes ? 'too-large' : Buffer.concat(chunks);
}

export async function parseBody(bytes: Buffer | 'too-large', contentType: string | undefined): Promise<RequestBody> {
  if (bytes === 'too-large') refuse(codes.REQUEST_TOO_LARGE);
  if (bytes.length === 0) return { payload: undefined, uploads: [] };
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return { payload: jsonIn(bytes.toString()), uploads: [] };
  if (type !== 'multipart/form-data')
    refuseField(
      [],
      'CONTENT_TYPE_INVALID',
      'Expected "Content-Type" header to be application/json or multipart/form-data.',
    );
  const form = await readMultipart(bytes, contentType ?? '');
  const payload = form.get('payload_json');
  const uploads: UploadedFile[] = [];
  for (const [name, file] of form) {
    const key = /^files\[(\d{1,4})\]$/.exec(name)?.[1] ?? (name === 'file' ? '0' : undefined);
    if (key === undefined || typeof file === 'string') continue;
    if (uploads.length === MAX_FILES) refuse(codes.TOO_MANY_ATTACHMENTS);
    if (file.size > MAX_FILE_BYTES) refuse(codes.FILE_TOO_LARGE);
    const data = Buffer.from(await file.arrayBuffer());
    uploads.push({ key, filename: file.name, contentType: file.type || undefined, data });
  }
  if (typeof payload === 'string') return { payload: jsonIn(payload), uploads };
  const fields = [...form].filter(([, value]) => typeof value === 'string');
  return { payload: Object.fromEntries(fields), uploads };
}

/** The platform's parser has no limit: many tiny parts would use far more memory than their bytes. */
async function readMultipart(bytes: Buffer, contentType: string): Promise<FormData> {
  const [, quoted, plain = ''] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const boundary = `--${quoted ?? plain}`;
  let boundaries = 0;
  for (let at = -1; boundaries <= MAX_PARTS; boundaries++) {
    at = bytes.indexOf(boundary, at + 1);
    if (at < 0) break;
  }
  const headers = { 'content-type': contentType };
  const form =
    boundaries > MAX_PARTS
      ? undefined
      : await new Response(bytes as Uint8Array<ArrayBuffer>, { headers }).formData().catch(() => undefined);
  return (
    form ??
    refuseWith({ status: 400, body: { message: 'The multipart body could not be read.', code: codes.INVALID_JSON } })
  );
}

function jsonIn(text: string): unknown {
  try {
    // Less than clients accept, because it is sent back to them inside an event or a list.
    return parseJson(text, MOST_LEVELS / 2);
  } catch {
    refuse(codes.INVALID_JSON);
  }
}

// How the workspace refuses: Discord's status, code and text. Thrown by routes, caught only in rest-server.ts.
export interface RefusalAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const REFUSALS = {
  [codes.UNKNOWN_APPLICATION]: [404, 'Unknown Application'],
  [codes.UNKNOWN_CHANNEL]: [404, 'Unknown Channel'],
  [codes.UNKNOWN_GUILD]: [404, 'Unknown Guild'],
  [codes.UNKNOWN_MEMBER]: [404, 'Unknown Member'],
  [codes.UNKNOWN_MESSAGE]: [404, 'Unknown Message'],
  [codes.UNKNOWN_USER]: [404, 'Unknown User'],
  [codes.UNKNOWN_EMOJI]: [400, 'Unknown Emoji'],
  [codes.UNKNOWN_WEBHOOK]: [404, 'Unknown Webhook'],
  [codes.UNKNOWN_INTERACTION]: [404, 'Unknown interaction'],
  [codes.UNKNOWN_COMMAND]: [404, 'Unknown application command'],
  [codes.TOO_MANY_REACTIONS]: [400, 'Maximum number of reactions reached (20)'],
  [codes.TOO_MANY_ATTACHMENTS]: [400, 'Maximum number of attachments in a message reached (10)'],
  [codes.TOO_MANY_COMMANDS]: [400, 'Maximum number of application commands reached (100)'],
  [codes.REQUEST_TOO_LARGE]: [413, 'Request entity too large'],
  [codes.ALREADY_ACKNOWLEDGED]: [400, 'Interaction has already been acknowledged.'],
  [codes.MISSING_ACCESS]: [403, 'Missing Access'],
  [codes.NOT_THE_AUTHOR]: [403, 'Cannot edit a message authored by another user'],
  [codes.EMPTY_MESSAGE]: [400, 'Cannot send an empty message'],
  [codes.MISSING_PERMISSIONS]: [403, 'Missing Permissions'],
  [codes.SYSTEM_MESSAGE]: [400, 'Cannot execute action on a system message'],
  [codes.WRONG_CHANNEL_TYPE]: [400, 'Cannot execute action on this channel type'],
  [codes.FILE_TOO_LARGE]: [413, 'File uploaded exceeds the maximum size'],
  [codes.THREAD_ARCHIVED]: [400, 'Thread is archived'],
  [codes.INVALID_JSON]: [400, 'The request body contains invalid JSON.'],
  [codes.THREAD_ALREADY_CREATED]: [400, 'A thread has already been created for this message'],
  [codes.THREAD_LOCKED]: [403, 'Thread is locked'],
} as const satisfies Record<number, readonly [number, string]>;

type RefusalCode = keyof typeof REFUSALS;

/** Ends the request with one of Discord's own refusals. */
export function refuse(code: RefusalCode): never {
  const [status, message] = REFUSALS[code];
  throw refusal({ status, body: { message, code } });
}

/** Nested as on Discord: `{content: {_errors: [{code, message}]}}`. */
interface FormErrors {
  readonly [key: string]: FormErrors | readonly FormError[];
}
export interface FormError {
  readonly code: string;
  readonly message: string;
}

export function refuseForm(errors: FormErrors): never {
  throw refusal({ status: 400, body: { message: 'Invalid Form Body', code: codes.INVALID_FORM, errors } });
}

export function refuseField(path: readonly (string | number)[], code: string, message: string): never {
  const leaf: FormErrors = { _errors: [{ code, message }] };
  refuseForm(path.reduceRight<FormErrors>((inner, key) => ({ [key]: inner }), leaf));
}

export function refuseWith(answer: RefusalAnswer): never {
  throw refusal(answer);
}

function refusal(answer: RefusalAnswer): ThreadmuxError {
  return new ThreadmuxError('workspace_failed', 'The workspace refused the request.', { cause: { answer } });
}

export function answerOf(error: unknown): RefusalAnswer | undefined {
  if (!isThreadmuxError(error, 'workspace_failed')) return undefined;
  return (error.cause as { answer?: RefusalAnswer } | undefined)?.answer;
}
