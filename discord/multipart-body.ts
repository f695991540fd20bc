// A request body of several parts, as a browser would write it. The files go out as they are, in pieces, never
// gathered into one large copy.

import { randomBytes } from 'node:crypto';

export interface Upload {
  readonly name: string;
  readonly data: Uint8Array;
}

export interface MultipartBody {
  readonly contentType: string;
  readonly size: number;
  readonly pieces: readonly Uint8Array[];
}

export function multipartBody(payload: unknown, files: readonly Upload[]): MultipartBody {
  // No file can hold what is not known before.
  const boundary = `threadmux-${randomBytes(16).toString('hex')}`;
  const head = (field: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${field}"`;
  const pieces = [
    Buffer.from(`${head('payload_json')}\r\n\r\n${JSON.stringify(payload)}\r\n`),
    ...files.flatMap(({ name, data }, at) => [
      Buffer.from(`${head(`files[${at}]`)}; filename="${escaped(name)}"\r\n${BYTES}\r\n\r\n`),
      data,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ].filter(({ byteLength }) => byteLength > 0);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    size: pieces.reduce((sum, { byteLength }) => sum + byteLength, 0),
    pieces,
  };
}

const BYTES = 'Content-Type: application/octet-stream';
const ESCAPES: Readonly<Record<string, string>> = { '"': '%22', '\r': '%0D', '\n': '%0A' };

/** What would end the name or its line is written in percent, as the HTML standard has it; all else as UTF-8. */
function escaped(name: string): string {
  return name.replace(/["\r\n]/g, (character) => ESCAPES[character] ?? '');
}
