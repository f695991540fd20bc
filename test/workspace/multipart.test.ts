import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerOf, parseBody } from '../../workspace/request-body.ts';

const BOUNDARY = '----a-boundary-of-forty-characters-0123456';
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

interface Sent {
  readonly filename: string;
  readonly data: Uint8Array;
}

function build(files: readonly Sent[]): Buffer {
  const pieces = files.flatMap(({ filename, data }, at) => [
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="files[${at}]"; filename="${filename}"\r\nContent-Type: text/x-test\r\n\r\n`,
    ),
    data,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

const status = (body: Buffer, type = TYPE) =>
  parseBody(body, type).then(
    () => 200,
    (error) => answerOf(error)?.status,
  );

describe('a multipart body', () => {
  it('is parsed byte for byte, whatever the files contain', async () => {
    const nasty = fc.constantFrom('\r\n', '--', '\r\n--', '\r\n------a-bound', '\0', '\r\n\r\n');
    const data = fc
      .array(
        fc.oneof(
          fc.uint8Array({ maxLength: 20 }),
          nasty.map((text) => Buffer.from(text)),
        ),
        { maxLength: 6 },
      )
      .map((pieces) => Buffer.concat(pieces));
    const filename = fc.constantFrom('a.txt', 'ü 😀.md', 'a;b=c.md', '..%2F', '');
    const file = fc.record({ filename, data });
    await fc.assert(
      fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 5 }), async (files) => {
        const { uploads } = await parseBody(build(files), TYPE);
        expect(uploads.map((one) => [one.key, one.filename, one.data.toString('hex')])).toEqual(
          files.map((one, at) => [`${at}`, one.filename, Buffer.from(one.data).toString('hex')]),
        );
        expect(new Set(uploads.map(({ contentType }) => contentType))).toEqual(new Set(['text/x-test']));
      }),
    );
  });

  it('that is cut or mangled is refused, and never throws', async () => {
    const whole = build([{ filename: 'a', data: Buffer.from('data') }]);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: whole.length - 1 }), fc.uint8Array({ maxLength: 5 }), async (at, noise) => {
        const [before, after] = [whole.subarray(0, at), whole.subarray(at)];
        for (const body of [before, Buffer.concat([before, noise, after])])
          expect([200, 400]).toContain(await status(body));
      }),
    );
  });

  it.each([
    ['multipart/form-data', 400],
    [`multipart/form-data; charset=utf-8; boundary="${BOUNDARY}"`, 200],
    [`Multipart/Form-Data; BOUNDARY=${BOUNDARY}`, 200],
    ['multipart/form-data; boundary=----another-boundary-of-forty-characters', 400],
  ])('of the type %s gets %i', async (type, expected) => {
    expect(await status(build([{ filename: 'a', data: Buffer.from('data') }]), type)).toBe(expected);
  });

  it('with too many parts is refused before it is read', async () => {
    const part = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="x"\r\n\r\n\r\n`;
    const body = (parts: number) => Buffer.from(`${part.repeat(parts)}--${BOUNDARY}--\r\n`);
    expect(await status(body(31))).toBe(200);
    expect(await status(body(32))).toBe(400);
    expect(await status(body(150_000))).toBe(400);
  });
});
