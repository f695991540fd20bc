import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMessage } from '../../discord/messages.ts';
import { connectRest, type FileUpload } from '../../discord/rest.ts';
import { restOf } from '../support/client.ts';
import { startTestWorkspace } from '../support/workspace.ts';

const hostileName = fc
  .array(fc.constantFrom('a', '.md', '"', '\r', '\n', '\r\n', ';', '=', '\\', "'", 'ü', '😀', ' ', '%'), {
    minLength: 1,
    maxLength: 8,
  })
  .map((letters) => letters.join(''));
const hostileBytes = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 20 }),
      fc.constantFrom('\r\n', '--', '\r\n--', '\r\n------formdata-undici-0', '\0').map((t) => Buffer.from(t)),
    ),
    { maxLength: 6 },
  )
  .map((pieces) => Buffer.concat(pieces));
const uploads = fc.array(fc.record({ name: hostileName, data: hostileBytes }), { minLength: 1, maxLength: 10 });

/** An escaped name cannot be distinguished from a name that was written that way. */
const decoded = (name: string) => name.replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replace(/%22/g, '"');
const hex = (data: Uint8Array) => Buffer.from(data).toString('hex');

/** A web server that keeps the body of every request, and a client for it. */
async function listening() {
  const bodies: { readonly bytes: Buffer; readonly type: string; readonly length: number }[] = [];
  const server = createServer(async (request, response) => {
    const { 'content-type': type = '', 'content-length': length } = request.headers;
    bodies.push({ bytes: await buffer(request), type, length: Number(length) });
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rest = connectRest({ api, token: 'token' });
  onTestFinished(async () => {
    await rest.close();
    server.close();
  });
  const send = async (body: unknown, files: readonly FileUpload[]) => {
    await rest.call('POST', '/channels/1/messages', { body, files });
    return bodies.at(-1) ?? expect.fail('nothing arrived');
  };
  return { send };
}

describe('a request with files', () => {
  it('is parsed correctly by a standard multipart parser', async () => {
    const { send } = await listening();
    await fc.assert(
      fc.asyncProperty(uploads, fc.string({ unit: 'grapheme' }), async (files, content) => {
        const { bytes, type, length } = await send({ content }, files);
        expect(length).toBe(bytes.byteLength);
        const form = await new Response(bytes as BodyInit, { headers: { 'content-type': type } }).formData();
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

  it('escapes characters in a name that would end its header line', async () => {
    const { send } = await listening();
    const name = 'a"b\r\nX-Evil: 1\nü😀.md';
    const { bytes } = await send({}, [{ name, data: Buffer.of(1) }]);
    expect(bytes.toString()).toContain('name="files[0]"; filename="a%22b%0D%0AX-Evil: 1%0Aü😀.md"\r\n');
  });

  it('has a new boundary each time, so that no file can contain it', async () => {
    const { send } = await listening();
    const file = { name: 'a', data: Buffer.of(1) };
    expect((await send({}, [file])).type).not.toBe((await send({}, [file])).type);
  });

  it('arrives whole, even when it is sent again', async () => {
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
    const files: readonly FileUpload[] = [
      { name: 'large "one".bin', data: Buffer.alloc(5_000_000, 'abcdefg') },
      { name: 'empty.txt', data: new Uint8Array() },
      { name: 'ünï.md', data: Buffer.from('# ünï') },
    ];
    const posted = await createMessage(restOf(workspace), workspace.channelId, 'n1', { content: 'three files', files });
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
