// Requests to the workspace, and the sign-in. Every outcome is a value: an answer, or a sentence that says what went wrong.

const API = '/api/v10';
const MAX_WAITS = 5;
/**
 * How everything is requested once the page has loaded. Another program may have our port: what it answers, or redirects to, must not stay in the
 * browser's cache, where the next page would find it in place of our own files.
 */
const UNKEPT = /** @type {const} */ ({ credentials: 'omit', cache: 'no-store', redirect: 'error' });

/**
 * @typedef {{ ok: true, data: any } | { ok: false, status: number, code: number, message: string }} Answer
 * @param {string} method
 * @param {string} path
 * @param {object | FormData} [body]
 * @returns {Promise<Answer>} status 0 if the workspace could not be reached
 */
export async function call(method, path, body) {
  let renewed = false;
  for (let waits = 0; ; waits++) {
    const me = await signIn();
    if (me.kind === 'unreachable') return unreachable();
    if (me.kind !== 'in') return failure(401, 0, sentence(401));
    const response = await send(method, path, body, me.token).catch(() => undefined);
    if (response === undefined || response.status === 401) forgetToken(me.token);
    if (response === undefined) return unreachable();
    if (response.status === 401 && !renewed) {
      renewed = true; // the workspace was restarted, so its tokens are invalid
      continue;
    }
    const data = await response.json().catch(() => undefined);
    if (response.ok) return { ok: true, data };
    if (response.status === 429 && waits < MAX_WAITS) {
      await new Promise((done) => setTimeout(done, (data?.retry_after ?? 1) * 1000));
      continue;
    }
    return failure(response.status, data?.code ?? 0, sentence(response.status, data));
  }
}

/** The bytes of a file of a message; undefined if it cannot be loaded. @param {string} path @returns {Promise<ArrayBuffer | undefined>} */
export async function download(path) {
  try {
    const response = await fetch(path, UNKEPT);
    return response.ok ? await response.arrayBuffer() : undefined;
  } catch {
    return undefined;
  }
}

function unreachable() {
  return failure(0, 0, 'The workspace cannot be reached.');
}

function send(method, path, body, token) {
  const form = body instanceof FormData;
  return fetch(API + path, {
    ...UNKEPT,
    method,
    headers: {
      Authorization: `Session ${token}`,
      ...(body !== undefined && !form && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: form ? body : JSON.stringify(body) }),
  });
}

function failure(status, code, message) {
  return { ok: /** @type {const} */ (false), status, code, message };
}

const SENTENCES = {
  10003: 'This thread is gone.',
  10008: 'This message is gone.',
  10062: 'This has expired; nothing was changed.',
  40005: 'The files are too large: 10 MB each at most.',
  50083: 'This session is closed. Write a message to open its thread again.',
};

/** @param {number} status @param {any} [data] */
function sentence(status, data) {
  if (status === 401 || status === 403) return 'This browser is not signed in.';
  return SENTENCES[data?.code] ?? firstError(data?.errors) ?? data?.message ?? `Error ${status}.`;
}

/** The first of the nested errors of a form. */
function firstError(errors) {
  if (typeof errors !== 'object' || errors === null) return undefined;
  if (Array.isArray(errors._errors)) return errors._errors[0]?.message;
  for (const inner of Object.values(errors)) {
    const found = firstError(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

// Signs in this browser. The private key stays in the browser and can only be used, not read; the session token stays in this
// page's memory. A program that answers on our port while the workspace is down learns nothing that gives access later.

const LINK = /^#\/enter\/([\w-]+)$/;

let code = takeCode();
let token;
let key;
let signing;

// Without a reload: the program that answers now may be another one, and may have put such a link into the page.
addEventListener('hashchange', () => {
  code = takeCode() ?? code;
});

/**
 * @typedef {{ kind: 'in', token: string } | { kind: 'stranger' } | { kind: 'insecure' } | { kind: 'unreachable' }} SignedIn
 * @returns {Promise<SignedIn>} with the token we have, or a new one
 */
export function signIn() {
  if (token !== undefined) return Promise.resolve({ kind: 'in', token });
  signing ??= attempt().finally(() => {
    signing = undefined;
  });
  return signing;
}

/** The next request signs in again. @param {string} [old] only if this is the token still in use */
export function forgetToken(old = token) {
  if (old === token) token = undefined;
}

async function attempt() {
  if (globalThis.crypto?.subtle === undefined) return { kind: 'insecure' };
  key ??= await storedKey().catch(() => undefined);
  const known = key === undefined ? { kind: 'stranger' } : await prove(key);
  if (known.kind !== 'stranger' || code === undefined) return known;
  const made = await register(code);
  if (made.kind !== 'registered') return made;
  key = made.key;
  return prove(key);
}

async function register(once) {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
  const publicKey = base64(await crypto.subtle.exportKey('spki', pair.publicKey));
  const answer = await post('key', { code: once, publicKey });
  if (answer === undefined) return { kind: 'unreachable' };
  code = undefined;
  if (answer.key === undefined) return { kind: 'stranger' };
  const made = { id: answer.key, privateKey: pair.privateKey };
  await store(made).catch(() => {}); // a browser without storage is signed in until this page is closed
  return { kind: 'registered', key: made };
}

async function prove({ id, privateKey }) {
  const asked = await post('nonce', {});
  if (asked?.nonce === undefined) return { kind: 'unreachable' };
  const { nonce } = asked;
  const text = new TextEncoder().encode(`threadmux sign-in\n${nonce}\n${location.origin}`);
  const how = { name: 'ECDSA', hash: 'SHA-256' };
  const signature = base64(await crypto.subtle.sign(how, privateKey, text));
  const answer = await post('session', { key: id, nonce, signature });
  if (answer === undefined) return { kind: 'unreachable' };
  token = answer.token;
  return token === undefined ? { kind: 'stranger' } : { kind: 'in', token };
}

/** The answer; an empty object for a refusal, undefined for no answer. */
async function post(path, body) {
  try {
    const response = await fetch(`/sign-in/${path}`, {
      ...UNKEPT,
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.ok ? await response.json() : {};
  } catch {
    return undefined;
  }
}

function takeCode() {
  const found = LINK.exec(location.hash)?.[1];
  if (found !== undefined) history.replaceState(null, '', '/');
  return found;
}

function base64(buffer) {
  return btoa(String.fromCharCode(...new Uint8Array(buffer)));
}

const STORE = 'keys';
const MINE = 'mine';

function storedKey() {
  return inStore('readonly', (keys) => keys.get(MINE));
}

function store(made) {
  return inStore('readwrite', (keys) => keys.put(made, MINE));
}

function inStore(mode, act) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open('threadmux', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const asked = act(database.transaction(STORE, mode).objectStore(STORE));
      asked.onsuccess = () => resolve(asked.result);
      asked.onerror = () => reject(asked.error);
      asked.transaction.oncomplete = () => database.close();
    };
  });
}
