// Requests to the workspace. Every outcome is a value: an answer, or a sentence that says what went wrong.

import { forgetToken, signIn } from './sign-in.js';

const API = '/api/v10';
const MAX_WAITS = 5;

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
      renewed = true; // the workspace has been restarted: its tokens are gone
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

function unreachable() {
  return failure(0, 0, 'The workspace cannot be reached.');
}

function send(method, path, body, token) {
  const form = body instanceof FormData;
  return fetch(API + path, {
    method,
    credentials: 'omit',
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
  10062: 'This is over; nothing was changed.',
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
