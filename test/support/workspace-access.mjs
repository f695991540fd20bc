// How programs other than threadmux reach a workspace: signed in like a browser, or as a bot that only supports TCP.

import { connect, createServer } from 'node:net';
import { Transform } from 'node:stream';

/** Opens a link like a browser. Every call of `again` signs in again with the same key, like a page that is reloaded. */
export async function signIn(link) {
  const { origin, hash } = new URL(link);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const pair = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
  const spki = await crypto.subtle.exportKey('spki', pair.publicKey);
  const publicKey = Buffer.from(spki).toString('base64');
  const { key } = await post(origin, 'key', { code: hash.split('/').at(-1), publicKey });
  const prove = (nonce, at = origin) =>
    crypto.subtle
      .sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, Buffer.from(`threadmux sign-in\n${nonce}\n${at}`))
      .then((bytes) => ({ key, nonce, signature: Buffer.from(bytes).toString('base64') }));
  const again = async () => {
    const { nonce } = await post(origin, 'nonce', {});
    const { token } = await post(origin, 'session', await prove(nonce));
    return { token, headers: { authorization: `Session ${token}`, origin } };
  };
  return { key, prove, again, ...(await again()) };
}

export async function post(origin, path, body, headers = { origin }) {
  const response = await fetch(`${origin}/sign-in/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`/sign-in/${path}: ${response.status}`);
  return answer;
}

/**
 * A port that leads to the bot's socket. The product has none: another process that takes our port would get the token.
 * `page`: file addresses name this port instead of the page's, because a bot downloads only from its own server.
 */
export async function openBotPort(api, page) {
  const socketPath = /^unix:(.+):\/api\/v10$/.exec(api)?.[1];
  const open = new Set();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const inside = connect({ path: socketPath, allowHalfOpen: true });
    open.add(client);
    client.on('close', () => {
      open.delete(client);
      inside.destroy();
    });
    inside.on('close', () => client.destroy());
    for (const socket of [client, inside]) socket.on('error', () => socket.destroy());
    client.pipe(inside);
    (page === undefined ? inside : inside.pipe(renamed(`${page}/attachments/`, `${url}/attachments/`))).pipe(client);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    url,
    api: `${url}/api/v10`,
    close() {
      server.close();
      for (const client of open) client.destroy();
    },
  };
}

/** The requests of a bot, which resolve with the parsed answer. */
export function callAsBot(api, token) {
  return async (method, path, body) => {
    const response = await fetch(api + path, {
      method,
      headers: {
        authorization: `Bot ${token}`,
        'user-agent': 'DiscordBot (https://example.com, 1.0)',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}

/** Both addresses have ports of five digits, so no content length changes. */
function renamed(from, to) {
  if (from.length !== to.length) throw new Error(`${from} and ${to} differ in length`);
  return new Transform({
    transform(bytes, _, done) {
      done(null, Buffer.from(bytes.toString('latin1').replaceAll(from, to), 'latin1'));
    },
  });
}
