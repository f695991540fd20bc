// Takes in a request's body: JSON, or multipart with payload_json and files. Bounded: what is too large is refused, not kept.

import type { IncomingMessage } from 'node:http';
import { MOST_LEVELS, parseJson } from '../core/json.ts';
import { FILE_TOO_LARGE, INVALID_JSON, REQUEST_TOO_LARGE, TOO_MANY_ATTACHMENTS } from '../discord/error-codes.ts';
import { refuse, refuseField, refuseWith } from './refusal.ts';
import { MAX_FILE_BYTES, MAX_FILES } from './storage/uploads.ts';

const MAX_REQUEST_BYTES = 25 * 1024 * 1024;
/** How many times the limit of a too large body is still read, so that its sender gets to hear the refusal. */
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
  if (bytes === 'too-large') refuse(REQUEST_TOO_LARGE);
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
    if (uploads.length === MAX_FILES) refuse(TOO_MANY_ATTACHMENTS);
    if (file.size > MAX_FILE_BYTES) refuse(FILE_TOO_LARGE);
    const data = Buffer.from(await file.arrayBuffer());
    uploads.push({ key, filename: file.name, contentType: file.type || undefined, data });
  }
  if (typeof payload === 'string') return { payload: jsonIn(payload), uploads };
  const fields = [...form].filter(([, value]) => typeof value === 'string');
  return { payload: Object.fromEntries(fields), uploads };
}

/** The platform's reader has no limit of its own: many tiny parts would take far more memory than their bytes. */
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
    refuseWith({
      status: 400,
      body: { message: 'The multipart body could not be read.', code: INVALID_JSON },
    })
  );
}

function jsonIn(text: string): unknown {
  try {
    // Less than what clients take: it comes back to them inside an event or a list.
    return parseJson(text, MOST_LEVELS / 2);
  } catch {
    refuse(INVALID_JSON);
  }
}
