// Takes in a request's body: JSON, or multipart with payload_json and files. Bounded: what is too large is refused, not kept.

import type { IncomingMessage } from 'node:http';
import { FILE_TOO_LARGE, INVALID_JSON, TOO_MANY_ATTACHMENTS } from '../discord/error-codes.ts';
import { MAX_FILE_BYTES, MAX_FILES } from './attachments.ts';
import { boundaryOf, parseMultipart } from './multipart.ts';
import { refuse, refuseField } from './refusal.ts';

export const MAX_REQUEST_BYTES = 25 * 1024 * 1024;
/** How many times the limit of a too large body is still read, so that its sender gets to hear the refusal. */
const DRAINED = 4;

export interface Upload {
  /** The n of files[n], which `attachments` refers to. */
  readonly key: string;
  readonly filename: string;
  readonly contentType: string | undefined;
  readonly data: Buffer;
}

export interface Body {
  readonly payload: unknown;
  readonly uploads: readonly Upload[];
}

export async function readBytes(
  request: IncomingMessage,
  maxBytes = MAX_REQUEST_BYTES,
): Promise<Buffer | 'too-large'> {
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

export function parseBody(bytes: Buffer, contentType: string | undefined): Body {
  if (bytes.length === 0) return { payload: undefined, uploads: [] };
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return { payload: parseJson(bytes), uploads: [] };
  const boundary = type === 'multipart/form-data' ? boundaryOf(contentType ?? '') : undefined;
  if (boundary === undefined)
    refuseField(
      [],
      'CONTENT_TYPE_INVALID',
      'Expected "Content-Type" header to be application/json or multipart/form-data.',
    );
  const parts = parseMultipart(bytes, boundary);
  const payload = parts.find(({ name }) => name === 'payload_json');
  const uploads = parts.flatMap(({ name, filename, contentType, data }) => {
    const key = /^files\[(\d{1,4})\]$/.exec(name)?.[1] ?? (name === 'file' ? '0' : undefined);
    return key === undefined || filename === undefined
      ? []
      : [{ key, filename, contentType, data }];
  });
  if (uploads.length > MAX_FILES) refuse(TOO_MANY_ATTACHMENTS);
  if (uploads.some(({ data }) => data.length > MAX_FILE_BYTES)) refuse(FILE_TOO_LARGE);
  const fields = Object.fromEntries(
    parts
      .filter(({ filename }) => filename === undefined)
      .map(({ name, data }) => [name, data.toString('utf8')]),
  );
  return { payload: payload === undefined ? fields : parseJson(payload.data), uploads };
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    refuse(INVALID_JSON);
  }
}
