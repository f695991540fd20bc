import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundaryOf, parseMultipart } from '../../workspace/multipart.ts';
import { answerOf } from '../../workspace/refusal.ts';

const BOUNDARY = 'x-boundary';

function build(parts: readonly { name: string; filename: string; data: Uint8Array }[]): Buffer {
  const pieces = parts.flatMap(({ name, filename, data }) => [
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: text/plain\r\n\r\n`,
    ),
    data,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

describe('multipart bodies', () => {
  it('come back byte for byte, whatever the files hold', () => {
    const nasty = fc.constantFrom(
      '\r\n',
      '--',
      '\r\n--',
      `\r\n--x-boundar`,
      `--${BOUNDARY}`,
      '\0',
      '\r\n\r\n',
    );
    const data = fc
      .array(
        fc.oneof(
          fc.uint8Array({ maxLength: 20 }),
          nasty.map((text) => Buffer.from(text)),
        ),
        { maxLength: 6 },
      )
      .map((pieces) => Buffer.concat(pieces))
      // A body never holds its own delimiter: its maker chooses another one then.
      .filter(
        (bytes) => !Buffer.concat([Buffer.from('\r\n'), bytes]).includes(`\r\n--${BOUNDARY}`),
      );
    const part = fc.record({
      name: fc.constantFrom('files[0]', 'payload_json'),
      filename: fc.constantFrom('a.txt', 'ü 😀.md', ''),
      data,
    });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const read = parts.length === 0 ? [] : parseMultipart(build(parts), BOUNDARY);
        expect(
          read.map(({ name, filename, data: bytes }) => [name, filename, bytes.toString('hex')]),
        ).toEqual(
          parts.map(({ name, filename, data: bytes }) => [name, filename, bytes.toString('hex')]),
        );
      }),
    );
  });

  it('that are cut or mangled are refused, never thrown over', () => {
    const whole = build([{ name: 'files[0]', filename: 'a', data: Buffer.from('data') }]);
    fc.assert(
      fc.property(
        fc.nat({ max: whole.length - 1 }),
        fc.uint8Array({ maxLength: 5 }),
        (at, noise) => {
          for (const body of [
            whole.subarray(0, at),
            Buffer.concat([whole.subarray(0, at), noise, whole.subarray(at)]),
          ]) {
            try {
              parseMultipart(body, BOUNDARY);
            } catch (error) {
              expect(answerOf(error)?.status).toBe(400);
            }
          }
        },
      ),
    );
  });

  it.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['multipart/form-data; charset=utf-8; boundary="a b"', 'a b'],
    ['multipart/form-data', undefined],
  ])('of type %s have the boundary %s', (type, boundary) => {
    expect(boundaryOf(type)).toBe(boundary);
  });
});
