// Other users of the same machine can connect to the port. They get no expensive answer, and cannot block anything.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { limitStrangers } from '../../../workspace/listening.ts';
import { startMachine } from '../../support/hook-process.ts';
import { enter, startTestWorkspace } from '../../support/workspace.ts';

const WAIT = { timeout: 20_000, interval: 50 };

function knock(url: string, words = ''): Socket & { heard: string } {
  const { hostname, port } = new URL(url);
  const socket = Object.assign(connect(Number(port), hostname), { heard: '' });
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    socket.heard += chunk;
  });
  socket.write(words);
  onTestFinished(() => void socket.destroy());
  return socket;
}

function upgradeOf(url: string, path = '/gateway?v=10&encoding=json'): string {
  const { host } = new URL(url);
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${url}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${key}\r\n\r\n`;
}

describe('an unknown client', () => {
  it.each([
    ['a foreign Host', 'Host: evil.example', 403],
    ['a foreign Origin', 'Host: HOST\r\nOrigin: http://evil.example', 403],
    ['no credentials', 'Host: HOST\r\nOrigin: http://HOST', 401],
    ['a wrong token', 'Host: HOST\r\nAuthorization: Session guess', 401],
  ])('with %s is answered before any of the body is read', async (_, headers, status) => {
    const workspace = await startTestWorkspace();
    const { host } = new URL(workspace.url);
    const path = `/api/v10/channels/${workspace.channelId}/messages`;
    const head = `POST ${path} HTTP/1.1\r\n${headers.replaceAll('HOST', host)}\r\nContent-Length: 26000000\r\n\r\n`;
    const socket = knock(workspace.url, head);
    await vi.waitFor(() => expect(socket.heard).toContain(`HTTP/1.1 ${status}`), WAIT);
    await vi.waitFor(() => expect(socket.closed).toBe(true), WAIT);
  });

  it('can hold only a few connections open, and the user and the bot still get theirs', async () => {
    const workspace = await startTestWorkspace();
    const known = await workspace.person.say(workspace.channelId, 'before');
    const half = Array.from({ length: 200 }, () => knock(workspace.url, 'POST / HTTP/1.1\r\nHo'));
    await vi.waitFor(() => expect(half.filter((one) => !one.closed).length).toBeLessThan(100), WAIT);
    expect(known.content).toBe('before');
    await workspace.person.say(workspace.channelId, 'after');
    const said = await workspace.bot('GET', `/channels/${workspace.channelId}/messages`);
    expect(said.body.map(({ content }: { content: string }) => content)).toEqual(['after', 'before']);
  });

  it('that opens many connections at once does not keep more of them', async () => {
    const server = createServer();
    const strangers = limitStrangers(server, 4);
    const sockets = Array.from({ length: 20 }, () => new Socket());
    const open = () => sockets.flatMap(({ destroyed }, n) => (destroyed ? [] : [n]));
    // All in one turn of the event loop, before any "close" event.
    for (const socket of sockets) server.emit('connection', socket);
    expect(open()).toEqual([16, 17, 18, 19]);
    strangers.admit(sockets[16] as Socket);
    for (const _ of sockets) server.emit('connection', new Socket());
    expect(open()).toEqual([16]);
  });

  it('is cut off if it sends another request before it has read the answer', async () => {
    const workspace = await startTestWorkspace();
    const ask = `GET /page.js HTTP/1.1\r\nHost: ${new URL(workspace.url).host}\r\n\r\n`;
    const pipelining = knock(workspace.url, ask.repeat(3_000));
    await vi.waitFor(() => expect(pipelining.closed).toBe(true), WAIT);
    expect(pipelining.heard.match(/HTTP\/1\.1 200/g)?.length ?? 0).toBeLessThan(2);
    const patient = knock(workspace.url, ask);
    for (const times of [1, 2, 3]) {
      await vi.waitFor(() => {
        expect(patient.heard.match(/HTTP\/1\.1 200/g)).toHaveLength(times);
        expect(patient.heard.endsWith('\r\n0\r\n\r\n')).toBe(true);
      }, WAIT);
      patient.write(ask);
    }
  });

  it('cannot make us buffer answers to WebSocket pings that it does not read', async () => {
    const workspace = await startTestWorkspace();
    const socket = knock(workspace.url, upgradeOf(workspace.url));
    await vi.waitFor(() => expect(socket.heard).toContain('101 Switching'), WAIT);
    const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
    socket.write(Buffer.concat(Array.from({ length: 200 }, () => ping)));
    await vi.waitFor(() => expect(socket.heard).toContain('being rate limited'), WAIT);
  });

  it.each(['9', '10'])('does not end the process with a broken frame after asking for version %s', async (version) => {
    const workspace = await startTestWorkspace();
    const uncaught = vi.fn();
    const before = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', uncaught);
    onTestFinished(() => {
      process.removeAllListeners('uncaughtException');
      for (const one of before) process.on('uncaughtException', one);
    });
    const socket = knock(workspace.url, upgradeOf(workspace.url, `/gateway?v=${version}`));
    await vi.waitFor(() => expect(socket.heard).toContain('101 Switching'), WAIT);
    socket.write(Buffer.from([0xff, 0x80, 0, 0, 0, 0]));
    await vi.waitFor(() => expect(socket.closed).toBe(true), WAIT);
    expect(uncaught).not.toHaveBeenCalled();
  });

  it.each([
    ['heartbeats', '10', Buffer.concat([Buffer.from([0x81, 0x91, 0, 0, 0, 0]), Buffer.from('{"op":1,"d":null}')])],
    ['pings', '10', Buffer.from([0x89, 0x80, 0, 0, 0, 0])],
    ['pongs', '10', Buffer.from([0x8a, 0x80, 0, 0, 0, 0])],
    ['pings for another version', '9', Buffer.from([0x89, 0x80, 0, 0, 0, 0])],
  ])('that goes on sending %s is cut off', async (_, version, frame) => {
    const workspace = await startTestWorkspace();
    const socket = knock(workspace.url, upgradeOf(workspace.url, `/gateway?v=${version}`));
    await vi.waitFor(() => expect(socket.heard).toContain('101 Switching'), WAIT);
    const frames = Buffer.concat(Array.from({ length: 10_000 }, () => frame));
    const since = performance.now();
    socket.on('drain', () => socket.write(frames));
    socket.write(frames);
    await vi.waitFor(() => expect(socket.closed).toBe(true), { ...WAIT, timeout: 60_000 });
    // A socket that we only ask to close may go on for half a minute.
    expect(performance.now() - since).toBeLessThan(20_000);
  });

  it('leaves nothing behind after many heartbeats', async () => {
    const workspace = await startTestWorkspace();
    const socket = knock(workspace.url, upgradeOf(workspace.url));
    await vi.waitFor(() => expect(socket.heard).toContain('101 Switching'), WAIT);
    const beat = Buffer.concat([Buffer.from([0x81, 0x91, 0, 0, 0, 0]), Buffer.from('{"op":1,"d":null}')]);
    socket.write(Buffer.concat(Array.from({ length: 110 }, () => beat)));
    await vi.waitFor(() => expect(socket.heard.match(/"op":11/g)).toHaveLength(110), WAIT);
    expect(workspace.gateway.received.length).toBeLessThanOrEqual(100);
  });

  it.each([
    ['a request that is not finished', () => 'POST / HTTP/1.1\r\nHo', ''],
    ['an answer that is not read', (url: string) => `GET / HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`, '200'],
    ['a WebSocket that was turned away', (url: string) => upgradeOf(url, '/elsewhere'), '404'],
    ['a WebSocket of another version', (url: string) => upgradeOf(url, '/gateway?v=9'), '101'],
    ['a WebSocket that says nothing', upgradeOf, '101'],
  ])('cannot keep the workspace from closing with %s', async (_, words, answer) => {
    const workspace = await startTestWorkspace();
    const { hostname, port } = new URL(workspace.url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    socket.write(words(workspace.url));
    const heard = await Promise.race([once(socket, 'data'), answer === '' ? [''] : new Promise<never>(() => {})]);
    expect(String(heard)).toContain(answer);
    await workspace.close();
  });

  it('may not use the bot’s token on the port', async () => {
    const workspace = await startTestWorkspace();
    const answer = await fetch(`${workspace.url}/api/v10/users/@me`, {
      headers: {
        authorization: `Bot ${workspace.token}`,
        'user-agent': 'DiscordBot (https://example.com, 1.0)',
      },
    });
    expect(answer.status).toBe(401);
  });

  it('that repeatedly requests the gateway slows down neither the bot nor the user', async () => {
    const rateLimits = { perBucket: 10, windowMs: 60_000, globalPerSecond: 20 };
    const workspace = await startTestWorkspace({ rateLimits });
    const api = `${workspace.url}/api/v10`;
    for (let n = 0; n < 40; n++) await (await fetch(`${api}/gateway`)).arrayBuffer();
    expect((await workspace.bot('GET', '/gateway')).status).toBe(200);
    expect((await workspace.bot('GET', '/gateway/bot')).status).toBe(200);
    expect((await workspace.person.call('GET', '/users/@me')).status).toBe(200);
  });
});

describe('without a free file descriptor,', () => {
  it('the program keeps running, and works again once there are some', async () => {
    const machine = startMachine();
    // Uses all descriptors on request, for longer than the program goes without looking for requests; later nearly all of them.
    const hog = `import { closeSync, openSync } from 'node:fs';
      process.on('SIGUSR2', () => {
        const held = [];
        try { for (;;) held.push(openSync('/dev/null')); } catch {}
        setTimeout(() => {
          for (const fd of held.slice(-20)) closeSync(fd);
          process.stderr.write('nearly full');
        }, 5_000);
      });`;
    const node = [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(hog)}`];
    const command = [...node, 'dist/bin/threadmux.js', 'up', '--port', '0'];
    const program = spawn('sh', ['-c', 'ulimit -n 300; exec "$@"', 'sh', ...command], {
      env: { ...machine.env, SHELL: '/bin/sh', THREADMUX_TMUX_SOCKET: machine.tmux.socket },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void program.kill('SIGKILL'));
    let printed = '';
    for (const stream of [program.stdout, program.stderr])
      stream.on('data', (chunk) => {
        printed += chunk;
      });
    const url = await vi.waitFor(() => {
      const origin = /http:\/\/[^/\s]+/.exec(printed)?.[0];
      if (origin === undefined) throw new Error(`no link yet: ${printed}`);
      return origin;
    }, WAIT);
    const you = await enter(/http:\/\/\S+/.exec(printed)?.[0] ?? '');
    const { channel } = JSON.parse(readFileSync(machine.home.path('state', 'workspace.json'), 'utf8'));
    program.kill('SIGUSR2');
    await vi.waitFor(() => {
      expect([program.exitCode, program.signalCode], printed).toEqual([null, null]);
      expect(printed).toContain('nearly full');
    }, WAIT);
    for (let round = 0; round < 3; round++) {
      const half = Array.from({ length: 100 }, () => knock(url, 'GET / HTTP/1.1\r\nHost: x\r\nX'));
      // Fewer than the connections it would accept: there is no descriptor left for more.
      await vi.waitFor(() => expect(half.filter((one) => !one.closed).length).toBeLessThan(40), WAIT);
      await you.say(channel, `!sessions ${round}`).catch(() => {}); // needs files and processes
      for (const socket of half) socket.destroy();
      expect([program.exitCode, program.signalCode], printed).toEqual([null, null]);
    }
    await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200), WAIT);
    await you.say(channel, 'still here');
  });

  it('a program that cannot be started is reported', async () => {
    const module = pathToFileURL('dist/hosts/process.js').href;
    const script = `import { openSync, closeSync } from 'node:fs'; import { runProcess } from ${JSON.stringify(module)};
      const run = () => runProcess('true', [], { env: process.env, timeoutMs: 5000 });
      await run();
      const held = [];
      try { for (;;) held.push(openSync('/dev/null')); } catch {}
      const full = await run();
      for (const fd of held) closeSync(fd);
      const free = await run();
      console.log(full.ended, full.stderr, '/', free.ended, free.status);`;
    const args = ['-c', 'ulimit -n 60; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', script];
    const child = spawn('sh', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect([said.trim(), complaint]).toEqual(['not-started spawn true EMFILE / itself 0', '']);
  });
});
