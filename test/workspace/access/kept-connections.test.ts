// Another user's program had our port while we were down. It has given the port back, but not the connections that a browser opened meanwhile: what the
// browser sends there could be passed on to us. Linux lists the connections of all users; the tests need it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { othersKeepConnections } from '../../../workspace/access/kept-connections.ts';
import { freePort } from '../../support/free-port.ts';
import { startTestWorkspace } from '../../support/workspace.ts';

const OTHER = (process.getuid?.() ?? 0) + 1;
/** Accepts nothing once it is stopped; two connections wait for it at most. */
const DEAF = `const server = require('node:net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port))`;

it.each(['127.0.0.1', '::ffff:127.0.0.1'])('connections of other users at %s are seen', async (host) => {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((listening) => server.listen(0, host.startsWith('::') ? '::' : host, listening));
  const { port } = server.address() as AddressInfo;
  const me = OTHER - 1;
  expect(othersKeepConnections(port, OTHER)).toBe(false); // only a listener
  const client = connect(port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  await once(server, 'connection');
  expect(othersKeepConnections(port, OTHER)).toBe(true);
  expect(othersKeepConnections(port, me)).toBe(false);
  expect(othersKeepConnections(client.localPort ?? 0, me)).toBe(false);
});

it('a connection that another user begins from there is seen before anybody accepts it', async () => {
  const deaf = spawn(process.execPath, ['-e', DEAF], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void deaf.kill('SIGKILL'));
  const [said] = await once(deaf.stdout, 'data');
  deaf.kill('SIGSTOP');
  const begin = (localPort?: number) => {
    const socket = connect({ port: Number(said), host: '127.0.0.1', ...(localPort ? { localPort } : {}) });
    onTestFinished(() => void socket.on('error', () => {}).destroy());
    return socket;
  };
  for (const socket of [begin(), begin()]) await once(socket, 'connect'); // its queue is full now
  const port = await freePort();
  const beginning = begin(port);
  await vi.waitFor(() => expect(othersKeepConnections(port, OTHER)).toBe(true));
  expect([othersKeepConnections(port, OTHER - 1), beginning.connecting]).toEqual([false, true]);
});

it('a port at which another user still has connections counts as in use, until they end', async () => {
  const squatter = createServer((socket) => void socket.on('error', () => {}).on('end', () => socket.destroy()));
  await new Promise<void>((listening) => squatter.listen(0, '127.0.0.1', listening));
  const { port } = squatter.address() as AddressInfo;
  const browser = connect(port, '127.0.0.1');
  onTestFinished(() => void browser.destroy());
  const [kept] = (await once(squatter, 'connection')) as [Socket];
  squatter.close();
  // To change the user of a process, the test would have to run as root.
  const me = vi.spyOn(process, 'getuid').mockReturnValue(OTHER);
  onTestFinished(() => me.mockRestore());
  const started = startTestWorkspace({ port });
  await expect(started).rejects.toThrow(`The workspace cannot listen on 127.0.0.1:${port}.`);
  await expect(started).rejects.toMatchObject({ cause: { code: 'EADDRINUSE' } });
  browser.end();
  await once(kept, 'close');
  const { url } = await vi.waitFor(() => startTestWorkspace({ port }));
  expect(url).toBe(`http://127.0.0.1:${port}`);
});
