// From a tap to the decision: between the gateway's INTERACTION_CREATE and the line on the waiting
// hook's stdout, here and on a host behind ssh, against one bare `ssh host true` on an open connection.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBridge } from '../dist/bridge/bridge.js';
import { parseConfig } from '../dist/core/config.js';
import { silentLog } from '../dist/core/log.js';
import { openGateway } from '../dist/discord/gateway.js';
import { connectRest } from '../dist/discord/rest.js';
import { openHome } from '../dist/home/home.js';
import { localServer, saveLocalServer } from '../dist/home/local-server.js';
import { savePaneRecord } from '../dist/home/pane-record.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { signIn } from '../test/support/outside.mjs';
import { conclude, measure, median, PROCESSES, printTable, spread } from './support.mjs';

const ROUNDS = Number(process.argv[2] ?? 15);
const LIMIT_HERE = 4;
const LIMIT_FAR = 6;
const HOOK = new URL('../dist/bin/permission-request.js', import.meta.url).pathname;

const REQUEST = {
  session_id: 'x',
  transcript_path: '/nowhere/x.jsonl',
  cwd: '/home/me/shop',
  hook_event_name: 'PermissionRequest',
  tool_name: 'Bash',
  tool_input: { command: 'make test' },
};

await measure(async ({ folder, start }) => {
  const ssh = await start(new URL('ssh-server.mjs', PROCESSES), { args: [`${folder}/ssh`] }).next();
  const workspace = await startWorkspace({ dir: `${folder}/workspace` });
  const person = await enter(workspace);
  const rest = connectRest({ token: workspace.token, api: workspace.api });
  const taps = [];
  const listener = openGateway({
    rest,
    token: workspace.token,
    intents: 513,
    load: () => undefined,
    save: () => {},
    onFatal: () => {},
    handle: (name) => void (name === 'INTERACTION_CREATE' && taps.push(performance.now())),
    log: silentLog,
  });
  const here = await openPlace({ name: 'web', host: 'here', root: `${folder}/home` });
  const far = await openPlace({ name: 'web@far', host: 'far', root: `${ssh.home}/.threadmux` });
  const file = { hosts: { here: 'local', far: { ssh: 'far' } }, defaultHost: 'here' };
  const bridge = await startBridge({
    config: parseConfig({
      env: { THREADMUX_HOST: 'here', THREADMUX_TMUX_SOCKET: `${folder}/tmux` },
      hostname: 'here',
      file: { path: 'config.json', text: JSON.stringify(file) },
    }),
    server: localServer(addressOf(workspace)),
    home: here.home,
    env: { PATH: process.env.PATH, HOME: folder },
    log: silentLog,
    sshConfig: ssh.config,
    onFatal: (error) => {
      throw error;
    },
  });
  while (bridge.gateway.state().at !== 'live' || listener.state().at !== 'live') await sleep(20);

  /** A session, its thread, and what its hooks have reported. */
  async function openPlace({ name, host, root }) {
    const home = openHome(root);
    saveLocalServer(home, addressOf(workspace));
    const path = `/channels/${workspace.channelId}/messages`;
    const first = await rest.call('POST', path, { body: { content: name } });
    const body = { name: `[agent] ${name}` };
    const { id: thread } = await rest.call('POST', `${path}/${first.id}/threads`, { body });
    const socket = `${folder}/tmux`;
    const about = ['-P', '-F', '#{pane_id} #{pane_pid} #{pid} #{session_id}'];
    const made = tmux(socket, 'new-session', '-d', '-s', host, ...about, 'cat');
    const [paneId, panePid, serverPid, sessionId] = made.split(' ');
    const pane = { socket, paneId, panePid: Number(panePid), serverPid: Number(serverPid) };
    savePaneRecord(home, {
      ...pane,
      ...{ thread, server: 'local', host, sessionId, sessionName: 'web', command: 'cat' },
      ...{ cwd: folder, claudeSession: 'x', transcript: '/nowhere', state: 'working', shell: 'no' },
      at: Date.now(),
    });
    const env = {
      ...{ PATH: process.env.PATH, HOME: folder, THREADMUX_HOME: root, THREADMUX_HOST: host },
      ...{ TMUX: `${socket},${serverPid},0`, TMUX_PANE: paneId },
    };
    return { home, thread, env };
  }

  async function tapToDecision({ thread, env }) {
    const hook = spawn(process.execPath, [HOOK], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    const decided = new Promise((resolve) =>
      hook.stdout.once('data', () => resolve(performance.now())),
    );
    const ended = new Promise((resolve) => hook.once('exit', resolve));
    hook.stdin.end(JSON.stringify(REQUEST));
    const [message, customId] = await untilAsked(thread);
    await sleep(Math.random() * 500); // nobody taps in step with the hook
    const before = taps.length;
    await person({
      type: 3,
      channel_id: thread,
      message_id: message,
      data: { custom_id: customId },
    });
    const end = await decided;
    await ended;
    return end - taps[before];
  }

  async function untilAsked(thread) {
    for (;;) {
      const [last] = await rest.call('GET', `/channels/${thread}/messages?limit=1`);
      const id = JSON.stringify(last?.components ?? []).match(/"custom_id":"(p:[^"]*:allow)"/)?.[1];
      if (id !== undefined) return [last.id, id];
      await sleep(20);
    }
  }

  const control = `${folder}/control`;
  mkdirSync(control);
  const bareSsh = () => {
    const options = ['ControlMaster=auto', `ControlPath=${control}/s`, 'ControlPersist=60'];
    const flags = ['-F', ssh.config, ...options.flatMap((one) => ['-o', one]), 'far'];
    return new Promise((resolve) => {
      const began = performance.now();
      spawn('ssh', [...flags, 'true'], { stdio: 'ignore' }).once('exit', () =>
        resolve(performance.now() - began),
      );
    });
  };

  const contenders = [
    { name: 'ssh far true', act: bareSsh },
    { name: 'tap to decision, here', act: () => tapToDecision(here) },
    { name: 'tap to decision, over ssh', act: () => tapToDecision(far) },
  ].map((contender) => ({ ...contender, ms: [] }));
  try {
    for (let round = -1; round < ROUNDS; round++)
      for (const { act, ms } of contenders) {
        const took = await act();
        if (round >= 0) ms.push(took); // the first one opens the connections
      }
  } finally {
    spawnSync('ssh', ['-F', ssh.config, '-o', `ControlPath=${control}/s`, '-O', 'exit', 'far'], {
      stdio: 'ignore',
    });
    listener.close();
    await bridge.close();
    await rest.close();
    await workspace.close();
    tmux(`${folder}/tmux`, 'kill-server');
  }

  const [bare, local, remote] = contenders.map(({ ms }) => median(ms));
  printTable(`From a tap to the decision, median of ${ROUNDS}, interleaved`, [
    ['', 'ms', 'from, to', 'of ssh far true'],
    ...contenders.map(({ name, ms }) => [
      name,
      median(ms).toFixed(1),
      spread(ms),
      `${(median(ms) / bare).toFixed(2)} x`,
    ]),
  ]);
  conclude(
    `a tap decides within ${LIMIT_HERE} (here) and ${LIMIT_FAR} (over ssh) times a bare ssh call`,
    local <= LIMIT_HERE * bare && remote <= LIMIT_FAR * bare,
  );
});

function addressOf({ api, token, channelId, userId }) {
  return { api, token, channel: channelId, user: userId };
}

function tmux(socket, ...args) {
  const env = { PATH: process.env.PATH, HOME: '/', LANG: 'C.UTF-8' };
  const all = ['-u', '-f', '/dev/null', '-S', socket, ...args];
  return spawnSync('tmux', all, { env, encoding: 'utf8' }).stdout.trim();
}

/** The person behind the page: opens the link and taps. */
async function enter({ newLink, url }) {
  const { headers: mine } = await signIn(newLink());
  const headers = { ...mine, 'content-type': 'application/json' };
  return async (body) => {
    const options = { method: 'POST', headers, body: JSON.stringify(body) };
    const reply = await fetch(`${url}/api/v10/interactions`, options);
    if (!reply.ok) throw new Error(`a tap was refused: ${await reply.text()}`);
  };
}
