// Signs in a browser as the user: a single-use code registers a public key, and that key's signature of a fresh nonce gives a
// session token. Codes, nonces and tokens end with this process. A program that takes our port in between and receives them
// cannot use them here.

import { createHash, createHmac, createPublicKey, randomBytes, verify } from 'node:crypto';
import { statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { parseJson } from '../../core/json.ts';
import { readJson, writeJson } from '../../home/atomic-write.ts';
import { readBytes } from '../request-body.ts';
import { type AdmittedCaller, foreign, sameSecret } from './admit.ts';

const MAX_KEYS = 20;
const MAX_CODES = 20;
const MAX_SESSIONS = 200;
const CODE_MS = 15 * 60_000;
const NONCE_MS = 60_000;
const SESSION_MS = 24 * 3600_000;

const keySchema = z.object({
  id: z.string(),
  /** P-256, as DER in base64. */
  publicKey: z.string(),
  /** The page that has the private key: a page at any other address must not use it. */
  origin: z.string(),
  addedAt: z.string(),
  usedAt: z.string(),
});
const fileSchema = z.object({ keys: z.array(keySchema) });
type Key = z.infer<typeof keySchema>;

interface SignInProof {
  readonly key: string;
  readonly nonce: string;
  readonly signature: string;
}

interface SignIn {
  /** Works once, within 15 minutes, and not after a restart. */
  newCode(): string;
  /** Returns the key's id; undefined if the code or the key is invalid. */
  register(code: string, publicKey: string, origin: string): string | undefined;
  newNonce(): string;
  /** Returns a session token; undefined if the proof is invalid. */
  open(proof: SignInProof, origin: string): string | undefined;
  isSession(token: string): boolean;
}

/** What the browser signs. It includes the origin, so that another port cannot forward a signature to us. */
function signedText(nonce: string, origin: string): string {
  return `threadmux sign-in\n${nonce}\n${origin}`;
}

export function makeSignIn(path: string, now: () => number = Date.now): SignIn {
  const secret = randomBytes(32);
  const codes = new Map<string, number>();
  const usedNonces = new Map<string, number>();
  const sessions = new Map<string, { readonly until: number; readonly key: string }>();
  let read: { readonly at: bigint; readonly keys: readonly Key[] } | undefined;
  /** Called for every request, so the file is only read when it has changed. */
  const keys = (): readonly Key[] => {
    const at = statSync(path, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
    if (at === undefined) return [];
    if (read?.at === at) return read.keys;
    try {
      read = { at, keys: readJson(path, fileSchema)?.keys ?? [] };
    } catch {
      // No file descriptor is left: use what was read before.
    }
    return read?.keys ?? [];
  };
  const save = (key: Key) => {
    const others = keys().filter(({ id }) => id !== key.id);
    const newest = [...others, key].sort((a, b) => (a.usedAt < b.usedAt ? 1 : -1));
    writeJson(path, { keys: newest.slice(0, MAX_KEYS) });
    read = undefined; // two files that are written within one tick of the clock have the same time
  };
  const sign = (text: string) => createHmac('sha256', secret).update(text).digest('base64url');
  const isFresh = (nonce: string) => {
    const [, at = '', random = '', mark = ''] = /^(\d+)\.([\w-]+)\.([\w-]+)$/.exec(nonce) ?? [];
    return sameSecret(mark, sign(`${at}.${random}`)) && now() - Number(at) < NONCE_MS;
  };
  return {
    newCode() {
      const code = random();
      keepNewest(codes, hash(code), now() + CODE_MS, MAX_CODES);
      return code;
    },
    register(code, publicKey, origin) {
      const isValid = (codes.get(hash(code)) ?? 0) > now();
      if (!isValid || readKey(publicKey) === undefined) return undefined;
      codes.delete(hash(code));
      const at = new Date(now()).toISOString();
      const id = hash(publicKey);
      save({ id, publicKey, origin, addedAt: at, usedAt: at });
      return id;
    },
    newNonce() {
      const text = `${now()}.${random()}`;
      return `${text}.${sign(text)}`;
    },
    open({ key: id, nonce, signature }, origin) {
      const key = keys().find((one) => one.id === id && one.origin === origin);
      if (key === undefined || !isFresh(nonce) || usedNonces.has(nonce)) return undefined;
      if (!isSigned(key, signedText(nonce, origin), signature)) return undefined;
      // Only a valid signature uses up a nonce, so strangers cannot fill this list.
      for (const [used, until] of usedNonces) if (until < now()) usedNonces.delete(used);
      usedNonces.set(nonce, now() + NONCE_MS);
      save({ ...key, usedAt: new Date(now()).toISOString() });
      const token = random();
      keepNewest(sessions, hash(token), { until: now() + SESSION_MS, key: id }, MAX_SESSIONS);
      return token;
    },
    // Removing a key from the file ends its sessions immediately.
    isSession(token) {
      const session = sessions.get(hash(token));
      return session !== undefined && session.until > now() && keys().some(({ id }) => id === session.key);
    },
  };
}

function keepNewest<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}

function readKey(base64: string) {
  try {
    const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  } catch {
    return undefined; // not a key: refused like a wrong one
  }
}

function isSigned({ publicKey }: Key, text: string, signature: string): boolean {
  const key = readKey(publicKey);
  if (key === undefined) return false;
  const bytes = Buffer.from(signature, 'base64');
  return verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, bytes);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function random(): string {
  return randomBytes(32).toString('base64url');
}

// The three requests of a sign-in. Anyone may send them, so their size and time are limited.
export const SIGN_IN = '/sign-in/';

const MAX_BYTES = 4096;
const READ_WITHIN_MS = 5_000;

const text = z.string().max(1024);
const registration = z.object({ code: text, publicKey: text });
const proof = z.object({ key: text, nonce: text, signature: text });

export function makeSignInRequests(signIn: SignIn, door: AdmittedCaller) {
  return async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const { headers, method } = request;
    // A browser sends Origin with every POST. Without it, the signature could not be bound to a page.
    if (foreign(door, headers) !== undefined || headers.origin === undefined) return end(response, 403, {}, true);
    if (method !== 'POST') return end(response, 405, {}, true);
    const body = await readSmallBody(request);
    if (body === undefined) return end(response, 400, {}, true);
    const answer = answerTo(signIn, url.pathname.slice(SIGN_IN.length), body, headers.origin);
    end(response, answer === undefined ? 401 : 200, answer ?? {}, false);
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

async function readSmallBody(request: IncomingMessage): Promise<unknown> {
  const late = setTimeout(() => request.destroy(), READ_WITHIN_MS);
  try {
    const bytes = await readBytes(request, MAX_BYTES);
    return bytes === 'too-large' ? undefined : (parseJson(bytes.toString('utf8')) as unknown);
  } catch {
    return undefined; // interrupted, or not JSON: refused either way
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
