// A browser looks for "localhost" at ::1 first. A user of the same machine who could listen there would be the workspace for that
// browser: its key would sign what they ask for.

import { request } from 'node:http';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { pageHost } from '../../../workspace/listening.ts';
import { freePort } from '../../support/free-port.ts';
import { enter, startTestWorkspace } from '../../support/workspace.ts';

const hasIPv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
/** Without IPv6 nobody can listen at ::1. */
const REFUSED = hasIPv6 ? 'EADDRINUSE' : /^(?:EADDRNOTAVAIL|EAFNOSUPPORT)$/;

/** What another program gets that wants to listen there. */
function take(host: string, port: number): Promise<{ port: number } | string> {
  const server = createServer();
  onTestFinished(() => void server.close());
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    server.listen({ host, port }, () => resolve(server.address() as { port: number }));
  });
}

const statusOf = (url: string, host: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(url, { headers: { host } }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end();
  });

const portOf = (url: string) => Number(new URL(url).port);

describe('while the workspace runs', () => {
  it.each(['127.0.0.1', '0.0.0.0', 'localhost'])('at %s, nobody else can listen for localhost', async (listen) => {
    const { url } = await startTestWorkspace({ listen });
    expect(await take('::1', portOf(url))).toMatch(REFUSED);
    expect(await take('127.0.0.1', portOf(url))).toBe('EADDRINUSE');
  });

  it('a browser that uses ::1 is served there, with the same checks', async () => {
    const workspace = await startTestWorkspace({ port: await freePort() });
    const host = hasIPv6 ? '[::1]' : '127.0.0.1';
    const person = await enter(workspace.link.replace('127.0.0.1', host));
    await person.say(workspace.channelId, 'over IPv6');
    const [said] = await workspace.person.messages(workspace.channelId);
    expect(said?.content).toBe('over IPv6');
    const foreign = await fetch(workspace.url.replace('127.0.0.1', host), {
      headers: { origin: 'http://evil.example' },
    });
    expect(foreign.status).toBe(200); // the page itself, which is public
    const asked = await fetch(`${workspace.url.replace('127.0.0.1', host)}/sign-in/nonce`, { method: 'POST' });
    expect(asked.status).toBe(403);
  });
});

/** With an address of this machine at its network; without a network, at every address. */
const NETWORK =
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '0.0.0.0';

it('the link is for an address where browsers can sign in, whatever else is listened on', async () => {
  const workspace = await startTestWorkspace({ listen: NETWORK, port: await freePort() });
  expect(workspace.link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#\/enter\//);
  await (await enter(workspace.link)).say(workspace.channelId, 'hello');
  expect(await statusOf(workspace.url.replace('127.0.0.1', NETWORK), `${NETWORK}:${portOf(workspace.url)}`)).toBe(200);
});

describe('a port that the system has chosen', () => {
  it.each([
    ['192.0.2.2', true, '192.0.2.2'],
    ['192.0.2.2', false, '127.0.0.1'],
    ['fd00::2', true, '[fd00::2]'],
    ['fd00::2', false, '127.0.0.1'],
    ['my-machine', false, '127.0.0.1'],
    ['0.0.0.0', true, '127.0.0.1'],
    ['::', true, '127.0.0.1'],
    ['::1', false, '[::1]'],
    ['localhost', false, 'localhost'],
    ['127.0.0.2', true, '127.0.0.2'],
  ])('counts at its own address: for %s, chosen %s, the page is at %s', (listen, isChosen, host) => {
    expect(pageHost({ listen, isChosen })).toBe(host);
  });

  // It is chosen for one address: at the other one, and so at "localhost", another user may have prepared it.
  it.each(['localhost', '[::1]'])('is not used as %s', async (name) => {
    const { url } = await startTestWorkspace({ listen: 'localhost' });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    const at = (host: string) => statusOf(url, `${host}:${portOf(url)}`);
    expect([await at('127.0.0.1'), await at(name)]).toEqual([200, 403]);
  });

  it('is used as "localhost" if the user has chosen it', async () => {
    const { url } = await startTestWorkspace({ port: await freePort() });
    expect(await statusOf(url, `localhost:${portOf(url)}`)).toBe(200);
  });
});

describe('a port of which somebody else has ::1', () => {
  it('counts as in use', async () => {
    const taken = await take(hasIPv6 ? '::1' : '127.0.0.1', 0);
    const { port } = taken as { port: number };
    const failed = startTestWorkspace({ port });
    await expect(failed).rejects.toThrow(`The workspace cannot listen on 127.0.0.1:${port}.`);
    await expect(failed).rejects.toMatchObject({ cause: { code: 'EADDRINUSE' } });
    expect(await take('127.0.0.1', port)).toEqual(hasIPv6 ? expect.objectContaining({ port }) : 'EADDRINUSE');
  });
});

it('after the end, both addresses are free again', async () => {
  const workspace = await startTestWorkspace();
  await workspace.close();
  const again = await vi.waitFor(() => startTestWorkspace({ port: portOf(workspace.url) }));
  expect(again.url).toBe(workspace.url);
});
