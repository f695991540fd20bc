// Time from a written message to its submission, here and over ssh, compared with typing it with a fixed pause of 300 ms
// before Enter; and to its first reaction while a dialog is open. The fake Claude Code takes 40 ms for each input, like the real one.

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
import { tmuxOn } from '../dist/tmux/tmux.js';
import { typeMessage } from '../dist/tmux/type-message.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { nextPrompt, person, serveSsh, sshFlags, startPane, tell, untilMarked } from './pane-setup.mjs';
import { conclude, measure, median, printTable, spread } from './support.mjs';

const MESSAGES = 25;
const WARM_UP = 3;
const MARKED = 5;
const READS_MS = 40;

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
  const rest = connectRest({ ...local, perSecond: 400 });
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
  const place = await openThreadChannel(rest, workspace.channelId);
  const panes = [];
  for (const [host, session, title] of [
    ['laptop', 'here', '[agent] here'],
    ['far', 'there', '[agent] there@far'],
  ]) {
    const record = await startPane(tmux, folder, { host, session });
    const { id: thread } = await ensureThread(place, title, 'Welcome');
    const where = { thread, title, channel: local.channel, server: own.name };
    shared.threads.registry.put(threadRecordSchema.parse({ ...record, ...where }));
    await tell(record, 'slow', READS_MS);
    panes.push({ record, thread, host, tmux: tmuxOn(shared.hosts.get(host), record.socket) });
  }
  const bridge = await startBridge(shared, { servers: [own], env, onFatal: (error) => console.error(error) });
  const say = await person(workspace);
  try {
    const rows = [['', 'median ms', 'ms from … to', 'of the pause']];
    const ratios = [];
    for (const pane of panes) {
      const times = { message: [], paused: [], marked: [] };
      for (let n = 0; n < WARM_UP + MESSAGES; n++) {
        const message = await written(pane, n);
        const paused = await typedWithPause(pane, n);
        if (n < WARM_UP) continue;
        times.message.push(message);
        times.paused.push(paused);
      }
      for (let n = 0; n < MARKED; n++) times.marked.push(await reacted(pane, n));
      const paused = median(times.paused);
      const where = pane.host === 'laptop' ? 'here' : 'over ssh';
      for (const [what, list] of [
        [`typed with a pause of 300 ms, ${where}`, times.paused],
        [`written → submitted, ${where}`, times.message],
        [`written → 📨 under a dialog, ${where}`, times.marked],
      ])
        rows.push([what, median(list).toFixed(1), spread(list), `${(median(list) / paused).toFixed(2)} x`]);
      ratios.push(median(times.message) / paused, median(times.marked) / paused);
    }
    printTable(`A message until it is submitted, ${MESSAGES} messages`, rows);
    conclude(
      'a message is submitted, or marked, in less time than typing it with a fixed pause takes',
      ratios.every((ratio) => ratio < 1),
    );
  } finally {
    await bridge.close();
    await shared.close();
    await rest.close();
    await workspace.close();
    tmux('kill-server');
    await promisify(execFile)('ssh', [...sshFlags(folder), '-O', 'exit', 'far']).catch(() => {});
    server.close();
  }

  async function written({ record, thread }, n) {
    const submitted = nextPrompt(record.cwd);
    const began = performance.now();
    const { id } = await say(thread, `message ${n}`);
    const took = (await submitted) - began;
    await untilMarked(rest, thread, id);
    return took;
  }

  /** As before: look at nothing, wait, press Enter. */
  async function typedWithPause({ record, tmux }, n) {
    const submitted = nextPrompt(record.cwd);
    const began = performance.now();
    const id = String((BigInt(Date.now()) - 1_420_070_400_000n) << 22n);
    await typeMessage(tmux, { pane: record, command: record.command }, { id, text: `paused ${n}` });
    return (await submitted) - began;
  }

  async function reacted({ record, thread }, n) {
    await tell(record, 'dialog', 'make');
    const began = performance.now();
    const { id } = await say(thread, `waits ${n}`);
    await untilMarked(rest, thread, id, ['📨']);
    const took = performance.now() - began;
    await tell(record, 'close');
    await untilMarked(rest, thread, id);
    return took;
  }
});
