// Time from a message to its Enter key in a pane of another host, without the settle pause, compared with
// one plain `ssh host true` over an open connection. Also counts the execs per message.

import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
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
import { startWorkspace } from '../dist/workspace/server.js';
import { nextPrompt, person, serveSsh, sshFlags, startPane, untilMarked } from './pane-setup.mjs';
import { conclude, measure, median, printTable, spread } from './support.mjs';

const MESSAGES = 40;
const WARM_UP = 5;
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
  const record = await startPane(tmux, folder, { host: 'far' });

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
    const execs = [];
    for (let n = 0; n < WARM_UP + MESSAGES; n++) {
      const [before, submitted] = [server.execs, nextPrompt(record.cwd)];
      const began = performance.now();
      const { id } = await say(thread.id, `message ${n}`);
      const took = (await submitted) - began;
      const until = server.execs - before;
      await untilMarked(rest, thread.id, id); // without hooks the bridge confirms it with one more look
      if (n >= WARM_UP) {
        times.message.push(took);
        execs.push(until);
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
    // On a busy machine a message takes so long that the state of the session is looked at meanwhile.
    const each = median(execs);
    conclude(
      `a message costs ${each} execs (at most ${Math.max(...execs)}) over ${server.connections - 1} connection, and at most 6 bare ones in time`,
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

function bareSsh(folder) {
  return async () => {
    const began = performance.now();
    await run('ssh', [...sshFlags(folder), '--', 'far', 'true']);
    return performance.now() - began;
  };
}
