// Time from a tap to the decision: from INTERACTION_CREATE on the gateway to the line on stdout of the hook, compared
// with one plain `ssh host true` on an open connection.

import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCourierHere } from '../dist/bin/run-courier.js';
import { startBridge } from '../dist/bridge/bridge.js';
import { parseConfig } from '../dist/core/config.js';
import { silentLog } from '../dist/core/log.js';
import { openGateway } from '../dist/discord/gateway.js';
import { connectRest } from '../dist/discord/rest.js';
import { localServer, saveLocalServer } from '../dist/home/config-file.js';
import { openHome } from '../dist/home/home.js';
import { takeCourierLock } from '../dist/hooks/courier-lock.js';
import { openShared } from '../dist/threads/shared-services.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { bareSsh } from './pane-setup.mjs';
import { conclude, measure, median, openTmux, PROCESSES, person, printTable, spread, until } from './support.mjs';

const ROUNDS = Number(process.argv[2] ?? 15);
const LIMIT = 4;
const HOOK = new URL('../dist/hooks/ask', import.meta.url).pathname;

const REQUEST = {
  session_id: 'x',
  transcript_path: '/nowhere/x.jsonl',
  cwd: '/home/me/shop',
  hook_event_name: 'PermissionRequest',
  tool_name: 'Bash',
  tool_input: { command: 'make test' },
};

await measure(async ({ folder, start }) => {
  await start(new URL('ssh-server.mjs', PROCESSES), { args: [folder] }).next();
  const workspace = await startWorkspace({ dir: `${folder}/workspace` });
  const call = await person(workspace);
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
  const home = openHome(`${folder}/ours`);
  saveLocalServer(home, addressOf(workspace));
  const env = { PATH: process.env.PATH, HOME: folder };
  const servers = [localServer(addressOf(workspace))];
  const release = await takeCourierLock({ home, log: silentLog, takeOver: true });
  const shared = openShared({
    config: parseConfig({ env: { THREADMUX_HOST: 'here', THREADMUX_TMUX_SOCKET: `${folder}/tmux` }, hostname: 'here' }),
    home,
    env,
    log: silentLog,
    servers: () => servers,
  });
  const bridge = await startBridge(shared, {
    servers,
    env,
    onFatal: (error) => {
      throw error;
    },
  });
  const stopping = new AbortController();
  const { signal } = stopping;
  const courier = runCourierHere(shared, { lingerMs: Number.POSITIVE_INFINITY, signal });
  const isLive = () => [...bridge.gateways, listener].every((one) => one.state().at === 'live');
  await until(isLive);
  const tmux = openTmux(`${folder}/tmux`, '/');
  const here = openSession();

  /** A session, and the environment of its hooks. */
  function openSession() {
    const about = ['-P', '-F', '#{pane_id} #{pid}'];
    const [TMUX_PANE, serverPid] = tmux('new-session', '-d', '-s', 'web', ...about, 'cat').split(' ');
    const ours = { THREADMUX_HOME: home.root, THREADMUX_HOST: 'here' };
    return { ...env, ...ours, TMUX: `${folder}/tmux,${serverPid},0`, TMUX_PANE };
  }

  async function tapToDecision() {
    const hook = spawn(HOOK, { env: here, stdio: ['pipe', 'pipe', 'ignore'] });
    const decided = new Promise((resolve) => hook.stdout.once('data', () => resolve(performance.now())));
    const ended = new Promise((resolve) => hook.once('exit', resolve));
    hook.stdin.end(JSON.stringify(REQUEST));
    const [thread, message, customId] = await untilAsked();
    await sleep(Math.random() * 500); // random, because a user does not tap in step with the hook
    const before = taps.length;
    const tap = { type: 3, channel_id: thread, message_id: message, data: { custom_id: customId } };
    await call('POST', '/interactions', tap);
    const end = await decided;
    await ended;
    return end - taps[before];
  }

  async function untilAsked() {
    let asked;
    await until(async () => {
      const thread = shared.threads.registry.all().find((one) => one.sessionName === 'web')?.thread;
      const [last] = thread ? await rest.call('GET', `/channels/${thread}/messages?limit=1`) : [];
      const id = JSON.stringify(last?.components ?? []).match(/"custom_id":"(p:[^"]*:allow)"/)?.[1];
      asked = [thread, last?.id, id];
      return id !== undefined;
    });
    return asked;
  }

  const bare = await bareSsh(folder);
  const contenders = [
    { name: 'ssh far true', act: bare },
    { name: 'tap to decision', act: tapToDecision },
  ].map((contender) => ({ ...contender, ms: [] }));
  try {
    for (let round = -1; round < ROUNDS; round++)
      for (const { act, ms } of contenders) {
        const took = await act();
        if (round >= 0) ms.push(took); // the first one opens the connections
      }
  } finally {
    await bare.close();
    listener.close();
    stopping.abort();
    await courier;
    await bridge.close();
    await shared.close();
    release();
    await rest.close();
    await workspace.close();
    tmux('kill-server');
  }

  const [ssh, local] = contenders.map(({ ms }) => median(ms));
  printTable(`From a tap to the decision, median of ${ROUNDS}, interleaved`, [
    ['', 'ms', 'from, to', 'of ssh far true'],
    ...contenders.map(({ name, ms }) => [
      name,
      median(ms).toFixed(1),
      spread(ms),
      `${(median(ms) / ssh).toFixed(2)} x`,
    ]),
  ]);
  conclude(`a tap decides within ${LIMIT} times a bare ssh call`, local <= LIMIT * ssh);
});

function addressOf({ api, token, channelId, userId }) {
  return { api, token, channel: channelId, user: userId };
}
