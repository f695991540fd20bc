// Shared by the measurements of typing: the fake Claude Code in panes, here and behind an SSH server on loopback, and a user.

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startBridge } from '../dist/bridge/bridge.js';
import { parseConfig } from '../dist/core/config.js';
import { silentLog } from '../dist/core/log.js';
import { connectRest } from '../dist/discord/rest.js';
import { ensureThread, openThreadChannel } from '../dist/discord/threads.js';
import { localServer } from '../dist/home/config-file.js';
import { openHome } from '../dist/home/home.js';
import { threadRecordSchema } from '../dist/threads/registry.js';
import { openShared } from '../dist/threads/shared-services.js';
import { tmuxOn } from '../dist/tmux/tmux.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { openTmux, PROCESSES, person, until } from './support.mjs';

export const STAND_IN = fileURLToPath(new URL('../test/support/fake-claude.mjs', import.meta.url));

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
async function startPane(tmux, folder, { host, session }) {
  const cwd = join(folder, `pane-${session}`);
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'record'), '');
  const program = [process.execPath, STAND_IN, cwd, '/bin/true'];
  tmux('new-session', '-d', '-s', session, '-x', '120', '-y', '40', '-c', cwd, ...program);
  await until(() => tmux('capture-pane', '-p', '-t', session).includes('❯'));
  return paneRecord(tmux, { host, session, socket: join(folder, 't'), cwd });
}

/** What the registry knows of a session. */
export function paneRecord(tmux, { host, session, socket, cwd }) {
  const format = '#{pid} #{pane_id} #{pane_pid} #{session_id} #{pane_current_command}';
  const seen = tmux('display-message', '-p', '-t', session, format).split(' ');
  const [serverPid, paneId, panePid, sessionId, command] = seen;
  return {
    host,
    socket,
    serverPid: Number(serverPid),
    paneId,
    panePid: Number(panePid),
    sessionId,
    sessionName: session,
    command,
    cwd,
    claudeSession: '',
    transcript: '',
    state: 'idle',
    shell: 'no',
    at: Date.now(),
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

/** Writes messages as the user. */
export async function writer(workspace) {
  const call = await person(workspace);
  return (channel, content) => call('POST', `/channels/${channel}/messages`, { content });
}

export async function untilMarked(rest, thread, message, marks = ['✅', '⚠️']) {
  await until(async () => {
    const { reactions = [] } = await rest.call('GET', `/channels/${thread}/messages/${message}`);
    return reactions.some(({ emoji }) => marks.includes(emoji.name));
  }, 30);
}

function sshFlags(folder) {
  const socket = `ControlPath=${join(folder, 'bare')}`;
  const master = ['-o', 'ControlMaster=auto', '-o', socket, '-o', 'ControlPersist=60'];
  return ['-F', join(folder, 'config'), '-o', 'BatchMode=yes', ...master];
}

/** Times `ssh far true` over a connection that stays open. */
export async function bareSsh(folder) {
  const run = (...args) => promisify(execFile)('ssh', [...sshFlags(folder), ...args]);
  const bare = async () => {
    const began = performance.now();
    await run('--', 'far', 'true');
    return performance.now() - began;
  };
  await bare();
  return Object.assign(bare, { close: () => run('-O', 'exit', 'far').catch(() => {}) });
}

/** A workspace, a bridge, and the fake Claude Code in a pane per session, here or on the host "far". */
export async function withPanes({ folder, start }, sessions, options, act) {
  const ssh = start(new URL('ssh-server.mjs', PROCESSES), { args: [folder] });
  const { config: sshConfig, home: far } = await ssh.next();
  const tmux = openTmux(join(folder, 't'), far);
  const workspace = await startWorkspace({ dir: join(folder, 'workspace') });
  const local = { api: workspace.api, token: workspace.token, channel: workspace.channelId };
  const rest = connectRest({ ...local, perSecond: 400 });
  const own = localServer({ ...local, user: workspace.userId });
  const env = { PATH: process.env.PATH, HOME: folder };
  const config = parseConfig({
    env: { THREADMUX_HOST: 'laptop' },
    hostname: 'laptop',
    file: { path: 'config.json', text: JSON.stringify({ hosts: { far: { ssh: 'far' } } }) },
  });
  const shared = openShared({
    config,
    env,
    home: openHome(join(folder, 'ours')),
    log: silentLog,
    servers: () => [own],
    sshConfig,
  });
  const place = await openThreadChannel(rest, workspace.channelId);
  const panes = [];
  for (const { host, session } of sessions) {
    const title = `[agent] ${session}${host === 'far' ? '@far' : ''}`;
    const record = await startPane(tmux, folder, { host, session });
    const { id: thread } = await ensureThread(place, title, 'Welcome');
    const where = { thread, title, channel: local.channel, server: own.name };
    shared.threads.registry.put(threadRecordSchema.parse({ ...record, ...where }));
    panes.push({ record, thread, host, tmux: tmuxOn(shared.hosts.get(host), record.socket) });
  }
  const onFatal = (error) => console.error(error);
  const bridge = await startBridge(shared, { servers: [own], env, onFatal, ...options });
  try {
    await act({ panes, rest, ssh, say: await writer(workspace) });
  } finally {
    await bridge.close();
    await shared.close();
    await rest.close();
    await workspace.close();
    tmux('kill-server');
  }
}
