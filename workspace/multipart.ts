// Reads multipart/form-data that is already in memory. Binary-safe: everything is found by bytes, nothing is decoded but headers.

import { INVALID_JSON } from '../discord/error-codes.ts';
import { refuseWith } from './refusal.ts';

export interface Part {
  readonly name: string;
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  readonly data: Buffer;
}

const MAX_PARTS = 32;
const MAX_HEADER_BYTES = 8 * 1024;
const BLANK_LINE = Buffer.from('\r\n\r\n');

export function boundaryOf(contentType: string): string | undefined {
  const found = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(contentType);
  return found?.[1] ?? found?.[2];
}

export function parseMultipart(body: Buffer, boundary: string): Part[] {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  const opening = delimiter.subarray(2);
  if (!body.subarray(0, opening.length).equals(opening)) return malformed();
  const parts: Part[] = [];
  let at = opening.length;
  while (!startsWith(body, at, '--')) {
    if (!startsWith(body, at, '\r\n') || parts.length >= MAX_PARTS) return malformed();
    const head = body.indexOf(BLANK_LINE, at);
    const end = body.indexOf(delimiter, at);
    // `at` stays on the line end, so that a part without headers still has its blank line.
    if (head < 0 || end < 0 || head + BLANK_LINE.length > end + 2 || head - at > MAX_HEADER_BYTES)
      return malformed();
    const data = body.subarray(head + BLANK_LINE.length, Math.max(head + BLANK_LINE.length, end));
    parts.push(readPart(body.subarray(at + 2, head).toString('utf8'), data));
    at = end + delimiter.length;
  }
  return parts;
}

function startsWith(body: Buffer, at: number, text: string): boolean {
  return body.subarray(at, at + text.length).toString('latin1') === text;
}

function readPart(head: string, data: Buffer): Part {
  const headers = new Map(
    head.split('\r\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const disposition = headers.get('content-disposition') ?? '';
  const name = quoted(disposition, 'name');
  if (!/^form-data\b/i.test(disposition) || name === undefined) return malformed();
  return {
    name,
    filename: quoted(disposition, 'filename'),
    contentType: headers.get('content-type'),
    data,
  };
}

/** Browsers write a quote inside a name as %22. */
function quoted(disposition: string, key: string): string | undefined {
  const found = new RegExp(`;\\s*${key}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, 'i').exec(
    disposition,
  );
  return (found?.[1] ?? found?.[2])?.replace(/\\(["\\])/g, '$1').replace(/%22/g, '"');
}

function malformed(): never {
  refuseWith({
    status: 400,
    body: { message: 'The multipart body could not be read.', code: INVALID_JSON },
  });
}
