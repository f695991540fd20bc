// Shared by the measurements of typing: the fake Claude Code in a pane, an SSH server on loopback, and a user.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import ssh2 from 'ssh2';
import { signIn } from '../test/support/workspace-access.mjs';

const STAND_IN = fileURLToPath(new URL('../test/support/fake-claude.mjs', import.meta.url));

/** Gives the fake Claude Code an order, such as "dialog". */
export function tell({ cwd }, order, value) {
  return new Promise((resolve, reject) => {
    const socket = connect(join(cwd, 'control'), () => socket.write(JSON.stringify({ order, value })));
    socket
      .on('data', () => {})
      .on('close', resolve)
      .on('error', reject);
  });
}

/** The fake Claude Code of the tests, without hooks. */
export async function startPane(tmux, folder, { host, session = 'web' }) {
  const cwd = join(folder, `pane-${session}`);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'record'), '');
  const program = [process.execPath, STAND_IN, cwd, '/bin/true'];
  tmux('new-session', '-d', '-s', session, '-x', '120', '-y', '40', '-c', cwd, ...program);
  for (let tries = 0; !tmux('capture-pane', '-p', '-t', session).includes('❯'); tries++) {
    if (tries > 100) throw new Error('the stand-in did not start');
    await sleep(50);
  }
  const format = '#{pid} #{pane_id} #{pane_pid} #{session_id} #{pane_current_command}';
  const seen = tmux('display-message', '-p', '-t', session, format).split(' ');
  const [serverPid, paneId, panePid, sessionId, command] = seen;
  return {
    ...{ host, socket: join(folder, 't'), serverPid: Number(serverPid), paneId },
    ...{ panePid: Number(panePid), sessionId, sessionName: session, command, cwd },
    ...{ claudeSession: '', transcript: '', state: 'idle', shell: 'no', at: Date.now() },
  };
}

/** Resolves when the fake Claude Code records the next prompt, so after its Enter. */
export function nextPrompt(folder) {
  const file = join(folder, 'record');
  const before = readFileSync(file, 'utf8').length;
  return new Promise((resolve) => {
    const watcher = watch(file, () => {
      if (readFileSync(file, 'utf8').length === before) return;
      watcher.close();
      resolve(performance.now());
    });
  });
}

export async function person({ newLink, url }) {
  const { headers: mine } = await signIn(newLink());
  const headers = { ...mine, 'content-type': 'application/json' };
  return async (channel, content) => {
    const body = JSON.stringify({ content });
    const options = { method: 'POST', headers, body };
    return (await fetch(`${url}/api/v10/channels/${channel}/messages`, options)).json();
  };
}

export async function untilMarked(rest, thread, message, marks = ['✅', '⚠️']) {
  for (let tries = 0; tries < 3_000; tries++) {
    const { reactions = [] } = await rest.call('GET', `/channels/${thread}/messages/${message}`);
    if (reactions.some(({ emoji }) => marks.includes(emoji.name))) return;
    await sleep(10);
  }
  throw new Error('a message was not marked within half a minute');
}

export function sshFlags(folder) {
  const socket = `ControlPath=${join(folder, 'bare')}`;
  const master = ['-o', 'ControlMaster=auto', '-o', socket, '-o', 'ControlPersist=60'];
  return ['-F', join(folder, 'config'), '-o', 'BatchMode=yes', ...master];
}

/** An SSH server on loopback that runs commands like sshd, with its own home. */
export async function serveSsh(folder, home) {
  const key = (name) => {
    const file = join(folder, name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', file]);
    return readFileSync(file);
  };
  const allowed = ssh2.utils.parseKey(key('client')).getPublicSSH();
  const counts = { execs: 0, connections: 0 };
  const server = new ssh2.Server({ hostKeys: [key('host')] }, (client) => {
    counts.connections++;
    client.on('error', () => {});
    client.on('authentication', (attempt) => {
      if (attempt.method === 'publickey' && attempt.key.data.equals(allowed)) attempt.accept();
      else attempt.reject(['publickey']);
    });
    client.on('session', (accept) => {
      accept().on('exec', (take, _, { command }) => {
        counts.execs++;
        const channel = take();
        const env = { HOME: home, SHELL: '/bin/sh', PATH: '/usr/bin:/bin' };
        const child = spawn('/bin/sh', ['-c', command], { cwd: home, env });
        child.stdin.on('error', () => {});
        channel.pipe(child.stdin);
        child.stdout.pipe(channel, { end: false });
        child.stderr.pipe(channel.stderr, { end: false });
        child.on('close', (status) => {
          channel.exit(status ?? 255);
          channel.end();
        });
      });
    });
  });
  // The listener of ssh2 leaves Nagle's algorithm on, which would slow down every exec.
  const outer = createServer({ noDelay: true }, (socket) => server.injectSocket(socket));
  await new Promise((done) => outer.listen(0, '127.0.0.1', done));
  writeFileSync(
    join(folder, 'config'),
    `Host far
  HostName 127.0.0.1
  Port ${outer.address().port}
  User someone
  IdentityFile ${join(folder, 'client')}
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile ${join(folder, 'known_hosts')}
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking accept-new
`,
  );
  return Object.assign(counts, { close: () => outer.close() });
}
