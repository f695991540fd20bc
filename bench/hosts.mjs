// The cost of another host: an idle one; time until its reply is visible, compared with a local reply plus one round trip;
// execs per message; and a host that comes back.

import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runCourierHere } from '../dist/bin/run-courier.js';
import { startBridge } from '../dist/bridge/bridge.js';
import { parseConfig } from '../dist/core/config.js';
import { silentLog } from '../dist/core/log.js';
import { connectRest } from '../dist/discord/rest.js';
import { localServer } from '../dist/home/config-file.js';
import { openHome } from '../dist/home/home.js';
import { takeCourierLock } from '../dist/hooks/courier-lock.js';
import { filesForHosts } from '../dist/install/program-files.js';
import { openShared } from '../dist/threads/shared-services.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { bareSsh, STAND_IN, writer } from './pane-setup.mjs';
import { replier, watchReplies } from './reply-setup.mjs';
import { conclude, measure, median, openTmux, PROCESSES, printTable, spread, until } from './support.mjs';

const ROUNDS = 25;
const WARM_UP = 5;
const LIMIT = 1.5;
const MESSAGES = 10;
const ABSENCES = 5;
const AWAY_MS = 6_000;
/** Until everything goes on after the first connection. */
const BACK_MS = 2_000;
const IDLE_SECONDS = 60;
/** Three heartbeats, each with a look at the panes, and one more of both if the minute begins just before one. */
const WAKE_UPS = 8;
const HERE = fileURLToPath(new URL('../dist/hooks/drop', import.meta.url));
const now = () => performance.timeOrigin + performance.now();

await measure(async ({ folder, start }) => {
  const naps = join(folder, 'naps');
  const PATH = `${countedSleep(folder, naps)}:${process.env.PATH}`;
  const ssh = start(new URL('ssh-server.mjs', PROCESSES), { args: [folder], env: { PATH } });
  const { config: sshConfig, home: farHome } = await ssh.next();
  const workspace = await startWorkspace({ dir: join(folder, 'workspace') });
  const local = { api: workspace.api, token: workspace.token, channel: workspace.channelId };
  const rest = connectRest(local);
  const { visible, close: stopWatching } = watchReplies(rest, workspace, /reply \w+ \d+\./);
  const [near, far] = [openServer(folder, 'near', folder), openServer(folder, 'far', farHome)];
  const home = openHome(join(folder, 'home'));
  const config = parseConfig({
    env: { THREADMUX_HOST: 'laptop', THREADMUX_TMUX_SOCKET: near.socket },
    hostname: 'laptop',
    file: { path: 'config.json', text: JSON.stringify({ hosts: { far: { ssh: 'far', socket: far.socket } } }) },
  });
  const own = localServer({ ...local, user: workspace.userId });
  const env = { PATH: process.env.PATH, HOME: folder };
  const shared = openShared({
    config,
    env,
    home,
    log: silentLog,
    hostFiles: filesForHosts,
    sshConfig,
    servers: () => [own],
  });
  const release = await takeCourierLock({ home, log: silentLog, takeOver: true });
  const bridge = await startBridge(shared, {
    servers: [own],
    env,
    settleMs: 0,
    onFatal: (error) => console.error(error),
  });
  const stopping = new AbortController();
  const work = { lingerMs: Number.POSITIVE_INFINITY, signal: stopping.signal, collects: true };
  const courier = runCourierHere(shared, work);
  const ours = join(farHome, '.threadmux/for/laptop');
  const drop = join(ours, 'bin/drop');
  await until(() => existsSync(drop) && existsSync(join(ours, 'settings.json')));
  const replies = {
    here: replier({ ...near, drop: HERE, home: home.root, folder, visible }),
    there: replier({ ...far, drop, home: ours, folder, visible }),
  };
  const bare = await bareSsh(folder);
  try {
    // First, because the sessions of all hosts are listed every three minutes. Nothing has changed on the host for a minute.
    await sleep(80_000);
    const before = await ssh.ask('counts');
    const slept = linesOf(naps);
    await sleep(IDLE_SECONDS * 1_000);
    const after = await ssh.ask('counts');
    const printed = after.printed - before.printed;
    const wakeUps = linesOf(naps) - slept;
    conclude(
      `an idle host for ${IDLE_SECONDS} seconds: ${after.execs - before.execs} execs, ${printed} bytes (a heartbeat has 5), ${wakeUps} wake-ups there`,
      after.execs === before.execs && printed <= 20 && printed % 5 === 0 && wakeUps <= WAKE_UPS,
    );

    const times = { here: [], bare: [], there: [] };
    const asked = (await ssh.ask('counts')).execs;
    for (let n = 0; n < WARM_UP + ROUNDS; n++)
      for (const [kind, act] of [...Object.entries(replies), ['bare', bare]]) {
        const took = await act(n);
        if (n >= WARM_UP) times[kind].push(took);
      }
    const each = ((await ssh.ask('counts')).execs - asked) / (WARM_UP + ROUNDS) - 1;
    const expected = median(times.here) + median(times.bare);
    const row = (name, list) => [name, median(list).toFixed(1), spread(list)];
    printTable(`From the hook to the reply in its thread, median of ${ROUNDS}, interleaved`, [
      ['', 'ms', 'ms from … to'],
      row('a reply from here', times.here),
      row('one bare round trip (`ssh host true`)', times.bare),
      row('a reply from a host', times.there),
    ]);
    const ratio = median(times.there) / expected;
    conclude(
      `a reply from a host takes ${ratio.toFixed(2)} times one from here plus a bare round trip, at most ${LIMIT}; it costs ${each.toFixed(1)} execs`,
      ratio <= LIMIT,
    );

    const chat = await openChat({ far, folder, drop, ours, shared, workspace });
    const execs = await typing({ chat, ssh });
    // Now and then a look at the state of the session falls between.
    conclude(`a message into a pane there costs ${median(execs)} execs (${spread(execs)})`, median(execs) === 2);

    const { reply, message } = await comingBack({ chat, ssh, replies });
    printTable(`After a host is back, ms from its first connection, median of ${ABSENCES}`, [
      ['', 'ms', 'ms from … to'],
      row('a reply that waited there is visible', reply),
      row('a message that waited here is typed', message),
    ]);
    conclude(
      `what waited for a host goes on within ${BACK_MS / 1_000} seconds of the first connection`,
      Math.max(...reply, ...message) <= BACK_MS,
    );
  } finally {
    stopping.abort();
    await courier;
    await bridge.close();
    await shared.close();
    release();
    stopWatching();
    for (const { tmux } of [near, far]) tmux('kill-server');
  }
  await bare.close();
  await rest.close();
  await workspace.close();
});

function openServer(folder, name, home) {
  const socket = join(folder, name);
  const tmux = openTmux(socket, home);
  tmux('new-session', '-d', '-s', `replies-${name}`, '-c', folder, 'cat');
  const [pid, pane] = tmux('display-message', '-p', '#{pid} #{pane_id}').split(' ');
  return { name, socket, tmux, pane: { TMUX: `${socket},${pid},0`, TMUX_PANE: pane } };
}

/** The fake Claude Code with its hooks in a pane there, and the user in its thread. */
async function openChat({ far, folder, drop, ours, shared, workspace }) {
  const cwd = join(folder, 'pane');
  mkdirSync(cwd);
  const record = join(cwd, 'record');
  writeFileSync(record, '');
  far.tmux(
    ...['new-session', '-d', '-s', 'web', '-x', '120', '-y', '40', '-c', cwd],
    ...['-e', `THREADMUX_HOME=${ours}`, process.execPath, STAND_IN, cwd, drop],
  );
  const mine = () => shared.threads.registry.all().find((one) => one.sessionName === 'web' && one.claudeSession);
  await until(() => mine() !== undefined);
  const say = await writer(workspace);
  /** Writes a message; resolves with a function that waits for its Enter and returns when that was. */
  return async (content) => {
    const length = readFileSync(record).length;
    await say(mine().thread, content);
    return async () => {
      await until(() => readFileSync(record).length > length);
      return statSync(record).mtimeMs;
    };
  };
}

/** Execs from a message to its Enter. */
async function typing({ chat, ssh }) {
  const execs = [];
  for (let n = 0; n < MESSAGES; n++) {
    await sleep(4_000); // the previous reply is posted, and the pane was looked at
    const before = (await ssh.ask('counts')).execs;
    const typed = await chat(`message ${n}`);
    const enterAt = await typed();
    // Later execs belong to the answer.
    const { times } = await ssh.ask('counts');
    execs.push(times.slice(before).filter((at) => at < enterAt).length);
  }
  return execs;
}

/** A reply that waits on the host and a message that waits here, while the host is away for some seconds. */
async function comingBack({ chat, ssh, replies }) {
  const times = { reply: [], message: [] };
  for (let n = 0; n < ABSENCES; n++) {
    await sleep(2_000);
    await ssh.ask('away');
    await sleep(1_000);
    const number = WARM_UP + ROUNDS + n;
    const seen = replies.there(number).then(now);
    const typed = await chat(`written while it was away ${n}`);
    await sleep(AWAY_MS);
    await ssh.ask('back');
    const [seenAt, typedAt] = await Promise.all([seen, typed()]);
    const { connectedAt } = await ssh.ask('counts');
    times.reply.push(seenAt - connectedAt);
    times.message.push(typedAt - connectedAt);
  }
  return times;
}

/** A folder with a `sleep` that notes each call: everything on the host that waits uses it. */
function countedSleep(folder, file) {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(file, '');
  writeFileSync(join(bin, 'sleep'), `#!/bin/sh\necho >> '${file}'\nexec /bin/sleep "$@"\n`, { mode: 0o755 });
  return bin;
}

function linesOf(file) {
  return readFileSync(file, 'utf8').split('\n').length - 1;
}
