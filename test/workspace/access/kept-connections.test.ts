// Another user's program had our port while we were down. It has given the port back, but not the connections that a browser opened meanwhile: what the
// browser sends there could be passed on to us.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { othersKeepConnections } from '../../../workspace/access/kept-connections.ts';
import { startTestWorkspace } from '../../support/workspace.ts';

const isLinux = existsSync('/proc/net/tcp');
const NOBODY = 65_534;

it.runIf(isLinux).each(['127.0.0.1', '::ffff:127.0.0.1'])('connections of other users at %s are seen', async (host) => {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((listening) => server.listen(0, host.startsWith('::') ? '::' : host, listening));
  const { port } = server.address() as AddressInfo;
  const me = process.getuid?.() ?? 0;
  expect(othersKeepConnections(port, me + 1)).toBe(false); // only a listener
  const client = connect(port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  await once(server, 'connection');
  expect(othersKeepConnections(port, me + 1)).toBe(true);
  expect(othersKeepConnections(port, me)).toBe(false);
  expect(othersKeepConnections(client.localPort ?? 0, me)).toBe(false);
});

it.runIf(isLinux && process.getuid?.() === 0)(
  'a port at which another user still has connections counts as in use, until they end',
  async () => {
    const script = `const server = require('node:net').createServer((socket) => {
        socket.on('error', () => {});
        socket.on('end', () => process.exit());
        server.close();
        console.log('kept');
      }).listen(0, '127.0.0.1', () => console.log(server.address().port));`;
    const squatter = spawn(process.execPath, ['-e', script], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: '/',
      env: {},
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void squatter.kill('SIGKILL'));
    const port = Number(String((await once(squatter.stdout, 'data'))[0]));
    const browser = connect(port, '127.0.0.1');
    await once(squatter.stdout, 'data');
    const started = startTestWorkspace({ port });
    await expect(started).rejects.toThrow(`The workspace cannot listen on 127.0.0.1:${port}.`);
    await expect(started).rejects.toMatchObject({ cause: { code: 'EADDRINUSE' } });
    browser.end();
    await once(squatter, 'exit');
    const { url } = await vi.waitFor(() => startTestWorkspace({ port }));
    expect(url).toBe(`http://127.0.0.1:${port}`);
  },
);
