// The three requests of a browser that signs in. Anybody may send them, so little is read of them and for a short time.

import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { parseJson } from '../../core/json.ts';
import { readBytes } from '../request-body.ts';
import { type AdmittedCaller, foreign } from './admit.ts';
import type { SignIn } from './sign-in.ts';

export const SIGN_IN = '/sign-in/';

const MAX_BYTES = 4096;
const READ_WITHIN_MS = 5_000;

const text = z.string().max(1024);
const registration = z.object({ code: text, publicKey: text });
const proof = z.object({ key: text, nonce: text, signature: text });

export function makeSignInRequests(signIn: SignIn, door: AdmittedCaller) {
  return {
    async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
      const { headers, method } = request;
      // A browser sends Origin with every POST: without one there is nothing that the signature could be bound to.
      if (foreign(door, headers) !== undefined || headers.origin === undefined) return end(response, 403, {}, true);
      if (method !== 'POST') return end(response, 405, {}, true);
      const body = await readJson(request);
      if (body === undefined) return end(response, 400, {}, true);
      const answer = answerTo(signIn, url.pathname.slice(SIGN_IN.length), body, headers.origin);
      end(response, answer === undefined ? 401 : 200, answer ?? {}, false);
    },
  };
}

function answerTo(signIn: SignIn, what: string, body: unknown, origin: string): object | undefined {
  if (what === 'nonce') return { nonce: signIn.newNonce() };
  if (what === 'key') {
    const { data } = registration.safeParse(body);
    const key = data && signIn.register(data.code, data.publicKey, origin);
    return key === undefined ? undefined : { key };
  }
  const { data } = proof.safeParse(what === 'session' ? body : undefined);
  const token = data && signIn.open(data, origin);
  return token === undefined ? undefined : { token };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const late = setTimeout(() => request.destroy(), READ_WITHIN_MS);
  try {
    const bytes = await readBytes(request, MAX_BYTES);
    return bytes === 'too-large' ? undefined : (parseJson(bytes.toString('utf8')) as unknown);
  } catch {
    return undefined; // cut off, or not JSON: refused either way
  } finally {
    clearTimeout(late);
  }
}

function end(response: ServerResponse, status: number, body: object, close: boolean): void {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(close && { Connection: 'close' }),
  });
  response.end(JSON.stringify(body));
}
