// Signs this browser in. The private key stays in the browser and cannot be read, only used; the session token stays in this
// page's memory. Somebody who answers on our port while the workspace is down learns nothing that opens it later.

const LINK = /^#\/enter\/([\w-]+)$/;

let code = takeCode();
let token;
let key;
let signing;

addEventListener('hashchange', () => {
  if (LINK.test(location.hash)) location.reload();
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
  await store(made).catch(() => {}); // a browser that keeps nothing is signed in until this page is closed
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

/** What was answered, an empty object for a refusal, undefined for no answer. */
async function post(path, body) {
  try {
    const response = await fetch(`/sign-in/${path}`, {
      method: 'POST',
      credentials: 'omit',
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
