// Time from a message to its Enter key in a pane of another host, without the settle pause, compared with
// one plain `ssh host true` over an open connection. Also counts the execs per message.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ssh2 from 'ssh2';
import { startBridge } from '../dist/bridge/bridge.js';
import { parseConfig } from '../dist/core/config.js';
import { silentLog } from '../dist/core/log.js';
import { connectRest } from '../dist/discord/rest.js';
import { ensureThread, openThreadChannel } from '../dist/discord/threads.js';
import { localServer } from '../dist/home/config-file.js';
import { openHome } from '../dist/home/home.js';
import { threadRecordSchema } from '../dist/threads/registry.js';
import { openShared } from '../dist/threads/shared-services.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { signIn } from '../test/support/workspace-access.mjs';
import { conclude, measure, median, printTable, spread } from './support.mjs';

const MESSAGES = 40;
const WARM_UP = 5;
const STAND_IN = fileURLToPath(new URL('../test/support/fake-claude.mjs', import.meta.url));
const run = promisify(execFile);

await measure(async ({ folder }) => {
  const far = join(folder, 'far');
  mkdirSync(far);
  const server = await serveSsh(folder, far);
  const tmux = (...args) =>
    execFileSync('tmux', ['-S', join(folder, 't'), '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: far, LANG: 'C.UTF-8', SHELL: '/bin/sh' },
    }).trim();
  const workspace = await startWorkspace({ dir: join(folder, 'workspace') });
  const local = { api: workspace.api, token: workspace.token, channel: workspace.channelId };
  const rest = connectRest(local);
  const place = await openThreadChannel(rest, workspace.channelId);
  const thread = await ensureThread(place, '[agent] web@far', 'Welcome');
  const record = await startPane(tmux, folder);

  const config = parseConfig({
    env: { THREADMUX_HOST: 'laptop' },
    hostname: 'laptop',
    file: { path: 'config.json', text: JSON.stringify({ hosts: { far: { ssh: 'far' } } }) },
  });
  const own = localServer({ ...local, user: workspace.userId });
  const env = { PATH: process.env.PATH, HOME: folder };
  const shared = openShared({
    ...{ config, env, home: openHome(join(folder, 'home')), log: silentLog },
    ...{ servers: () => [own], sshConfig: join(folder, 'config') },
  });
  const where = { thread: thread.id, title: '[agent] web@far', channel: local.channel };
  shared.threads.registry.put(threadRecordSchema.parse({ ...record, ...where, server: own.name }));
  const bridge = await startBridge(shared, {
    ...{ servers: [own], env, settleMs: 0 },
    onFatal: (error) => console.error(error),
  });
  const say = await person(workspace);
  try {
    const bare = bareSsh(folder);
    const times = { message: [], bare: [] };
    let execs = 0;
    for (let n = 0; n < WARM_UP + MESSAGES; n++) {
      const [before, submitted] = [server.execs, nextPrompt(record.cwd)];
      const began = performance.now();
      const { id } = await say(thread.id, `message ${n}`);
      const took = (await submitted) - began;
      const until = server.execs - before;
      await untilMarked(rest, thread.id, id); // without hooks the bridge confirms it with one more look
      if (n >= WARM_UP) {
        times.message.push(took);
        execs += until;
      }
      const bareTook = await bare();
      if (n >= WARM_UP) times.bare.push(bareTook);
    }
    const ratio = median(times.message) / median(times.bare);
    printTable(`A message into a pane over ssh, ${MESSAGES} messages, no settle pause`, [
      ['', 'median ms', 'ms from … to', 'of one ssh'],
      ['bare `ssh host true`', median(times.bare).toFixed(1), spread(times.bare), '1.0 x'],
      ['written → Enter', median(times.message).toFixed(1), spread(times.message), `${ratio.toFixed(1)} x`],
    ]);
    const each = execs / MESSAGES;
    conclude(
      `a message costs ${each} execs over ${server.connections - 1} connection, and at most 6 bare ones in time`,
      each === 2 && server.connections === 2 && ratio <= 6,
    );
  } finally {
    await bridge.close();
    await shared.close();
    await rest.close();
    await workspace.close();
    tmux('kill-server');
    await run('ssh', [...sshFlags(folder), '-O', 'exit', 'far']).catch(() => {});
    server.close();
  }
});

/** The fake Claude Code of the tests, without hooks. */
async function startPane(tmux, folder) {
  const cwd = join(folder, 'pane');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'record'), '');
  const program = [process.execPath, STAND_IN, cwd, '/bin/true'];
  tmux('new-session', '-d', '-s', 'web', '-x', '120', '-y', '40', '-c', cwd, ...program);
  for (let tries = 0; !tmux('capture-pane', '-p', '-t', 'web').includes('❯'); tries++) {
    if (tries > 100) throw new Error('the stand-in did not start');
    await sleep(50);
  }
  const format = '#{pid} #{pane_id} #{pane_pid} #{session_id} #{pane_current_command}';
  const seen = tmux('display-message', '-p', '-t', 'web', format).split(' ');
  const [serverPid, paneId, panePid, sessionId, command] = seen;
  return {
    ...{ host: 'far', socket: join(folder, 't'), serverPid: Number(serverPid), paneId },
    ...{ panePid: Number(panePid), sessionId, sessionName: 'web', command, cwd },
    ...{ claudeSession: '', transcript: '', state: 'idle', shell: 'no', at: Date.now() },
  };
}

/** Resolves when the fake Claude Code records the next prompt, so after its Enter. */
function nextPrompt(folder) {
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

async function person({ newLink, url }) {
  const { headers: mine } = await signIn(newLink());
  const headers = { ...mine, 'content-type': 'application/json' };
  return async (channel, content) => {
    const body = JSON.stringify({ content });
    const options = { method: 'POST', headers, body };
    return (await fetch(`${url}/api/v10/channels/${channel}/messages`, options)).json();
  };
}

async function untilMarked(rest, thread, message) {
  for (let tries = 0; tries < 600; tries++) {
    const { reactions = [] } = await rest.call('GET', `/channels/${thread}/messages/${message}`);
    if (reactions.some(({ emoji }) => emoji.name === '✅' || emoji.name === '⚠️')) return;
    await sleep(50);
  }
  throw new Error('a message was not marked within half a minute');
}

function sshFlags(folder) {
  const socket = `ControlPath=${join(folder, 'bare')}`;
  const master = ['-o', 'ControlMaster=auto', '-o', socket, '-o', 'ControlPersist=60'];
  return ['-F', join(folder, 'config'), '-o', 'BatchMode=yes', ...master];
}

function bareSsh(folder) {
  return async () => {
    const began = performance.now();
    await run('ssh', [...sshFlags(folder), '--', 'far', 'true']);
    return performance.now() - began;
  };
}

/** An SSH server on loopback that runs commands like sshd, with its own home. */
async function serveSsh(folder, home) {
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
