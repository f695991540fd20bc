import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMessage } from '../../discord/messages.ts';
import { multipartBody, type Upload } from '../../discord/multipart-body.ts';
import { boundaryOf, parseMultipart } from '../../workspace/multipart.ts';
import { restOf } from '../support/client.ts';
import { startTestWorkspace } from '../support/workspace.ts';

const hostileName = fc
  .array(
    fc.constantFrom('a', '.md', '"', '\r', '\n', '\r\n', ';', '=', '\\', "'", 'ü', '😀', ' ', '%'),
    { minLength: 1, maxLength: 8 },
  )
  .map((letters) => letters.join(''));
const hostileBytes = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc.constantFrom('\r\n', '--', '\r\n--', '\r\n--threadmux-', '\0').map((t) => Buffer.from(t)),
    ),
    { maxLength: 6 },
  )
  .map((pieces) => Buffer.concat(pieces));
const uploads = fc.array(fc.record({ name: hostileName, data: hostileBytes }), { maxLength: 10 });

/** What a name becomes on the wire cannot be told from a name that was written so. */
const decoded = (name: string) =>
  name.replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replace(/%22/g, '"');
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');

describe('a request with files', () => {
  it('is read by a web browser’s parser as it was meant', async () => {
    await fc.assert(
      fc.asyncProperty(uploads, fc.string({ unit: 'grapheme' }), async (files, content) => {
        const { contentType, size, pieces } = multipartBody({ content }, files);
        const whole = Buffer.concat(pieces);
        expect(whole.byteLength).toBe(size);
        const form = await new Response(whole, {
          headers: { 'content-type': contentType },
        }).formData();
        expect(JSON.parse(String(form.get('payload_json')))).toEqual({ content });
        expect([...form.keys()]).toHaveLength(files.length + 1);
        for (const [at, { name, data }] of files.entries()) {
          const file = form.get(`files[${at}]`) as File;
          expect(file.name).toBe(decoded(name));
          expect(hex(await file.bytes())).toBe(hex(data));
        }
      }),
    );
  });

  it('is read by the workspace as it was meant', () => {
    fc.assert(
      fc.property(uploads, (files) => {
        const { contentType, pieces } = multipartBody({}, files);
        const parts = parseMultipart(Buffer.concat(pieces), boundaryOf(contentType) ?? '');
        expect(parts.map(({ name }) => name)).toEqual([
          'payload_json',
          ...files.map((_, at) => `files[${at}]`),
        ]);
        expect(parts.slice(1).map(({ data }) => hex(data))).toEqual(
          files.map(({ data }) => hex(data)),
        );
      }),
    );
  });

  it('says in a name what no header line can hold as a browser says it', () => {
    const { pieces } = multipartBody({}, [
      { name: 'a"b\r\nX-Evil: 1\nü😀.md', data: Buffer.of(1) },
    ]);
    expect(Buffer.concat(pieces).toString()).toContain(
      'name="files[0]"; filename="a%22b%0D%0AX-Evil: 1%0Aü😀.md"\r\n',
    );
  });

  it('parts its files by something nobody can foresee', () => {
    expect(multipartBody({}, []).contentType).not.toBe(multipartBody({}, []).contentType);
  });

  it('hands its files on without copying them', () => {
    const data = new Uint8Array(1_000_000);
    expect(multipartBody({}, [{ name: 'a', data }]).pieces.includes(data)).toBe(true);
  });

  it('arrives whole, also when it has to be sent again', async () => {
    const failed: string[] = [];
    const workspace = await startTestWorkspace({
      faults: {
        onRequest({ method, path }) {
          if (method !== 'POST' || failed.length === 2) return undefined;
          failed.push(path);
          return failed.length === 1 ? { kind: 'reset' } : { kind: 'answer', status: 502 };
        },
      },
    });
    const files: readonly Upload[] = [
      { name: 'large "one".bin', data: Buffer.alloc(5_000_000, 'abcdefg') },
      { name: 'empty.txt', data: new Uint8Array() },
      { name: 'ünï.md', data: Buffer.from('# ünï') },
    ];
    const posted = await createMessage(restOf(workspace), workspace.channelId, 'n1', {
      content: 'three files',
      files,
    });
    expect(failed).toHaveLength(2);
    const [message] = await workspace.person.messages(workspace.channelId);
    expect(message?.id).toBe(posted?.id);
    expect(message?.content).toBe('three files');
    const stored = await Promise.all(
      (message?.attachments ?? []).map(async ({ url }) => {
        const answer = await fetch(url, { headers: workspace.person.headers });
        return Buffer.from(await answer.arrayBuffer());
      }),
    );
    expect(stored.map(hex)).toEqual(files.map(({ data }) => hex(data)));
  });
});
