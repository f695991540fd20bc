// 20 terminals that stream at once, with Discord's limits: edits per second, the time of a line from the program to
// its message compared with what the rate limit allows at best, 429 answers, and memory.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRest } from '../dist/discord/rest.js';
import { ensureThread, openThreadChannel } from '../dist/discord/threads.js';
import { openHome } from '../dist/home/home.js';
import { localHost } from '../dist/hosts/host.js';
import { sliceOf } from '../dist/streams/terminal/message-plan.js';
import { startTerminal } from '../dist/streams/terminal/terminal.js';
import { tmuxOn } from '../dist/tmux/tmux.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { asDiscord } from '../test/support/as-discord.mjs';
import { conclude, measure, median, PROCESSES, printTable, whole } from './support.mjs';

const TERMINALS = 20;
const SECONDS = 30;
const EVERY_MS = 100;
/** Discord's limits, as its answers show them: five edits per channel in five seconds, fifty requests per second in all. */
const LIMITS = { perBucket: 5, windowMs: 5000, globalPerSecond: 50 };
/** With one edit per second a line waits half a second on average, and one second at worst. */
const FLOOR_MS = LIMITS.windowMs / LIMITS.perBucket / 2;
const RATIO_LIMIT = 2;
const MORE_MB = 60;

/** Lines that contain their time, a little apart from each other; they start when all terminals are followed. */
const PROGRAM = `import { existsSync } from 'node:fs';
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
while (!existsSync(process.argv[2])) await wait(50);
await wait(Math.random() * 1000);
for (let at = 0; at < ${(SECONDS * 1000) / EVERY_MS}; at++) {
  console.log('\\x1b[32mline\\x1b[m ' + at + ' at ' + Date.now());
  await wait(${EVERY_MS});
}`;

await measure(async ({ folder, start }) => {
  const seen = [];
  const { inspection } = asDiscord({
    rateLimits: LIMITS,
    faults: { onRequest: (request) => void seen.push({ ...request, at: Date.now() }) },
  });
  const workspace = await startWorkspace({ dir: join(folder, 'workspace'), inspection });
  const { api, token, channelId, botId } = workspace;
  const rest = connectRest({ api, token });
  const socket = join(folder, 'tmux');
  try {
    const home = openHome(join(folder, 'home'));
    const threads = await startAll({ folder, home, rest, socket, channelId });
    const options = { root: home.root, socket, api, token, botId };
    const bridge = start(new URL('terminals.mjs', PROCESSES), {
      args: [JSON.stringify(options)],
      env: { SHELL: '/bin/sh', LANG: 'C.UTF-8' },
      nodeOptions: ['--expose-gc'],
    });
    await bridge.next();
    const before = await bridge.ask('memory');
    await bridge.ask('follow');
    await sleep(2000);
    seen.length = 0;
    writeFileSync(join(folder, 'go'), '');
    const began = Date.now();
    await sleep(SECONDS * 500);
    const half = await bridge.ask('memory');
    await sleep(SECONDS * 500);
    const streamed = seen.filter(({ method, path }) => method !== 'GET' && path.includes('/messages'));
    const seconds = (Date.now() - began) / 1000;
    const after = await bridge.ask('memory');
    const { limited, failed } = await bridge.ask('ended');
    const texts = await Promise.all(threads.map((thread) => textOf(rest, thread)));
    report({
      streamed,
      seconds,
      before,
      half,
      after,
      limited,
      failed,
      texts,
      delays: delaysOf(seen),
    });
  } finally {
    await rest.close();
    execFileSync('tmux', ['-S', socket, 'kill-server']);
    await workspace.close();
  }
});

async function startAll({ folder, home, rest, socket, channelId }) {
  const program = join(folder, 'program.mjs');
  writeFileSync(program, PROGRAM);
  mkdirSync(join(folder, 'user'));
  const env = { PATH: process.env.PATH, HOME: join(folder, 'user'), SHELL: '/bin/sh', LANG: 'C.UTF-8' };
  const tmux = tmuxOn(localHost({ name: 'here', env }), socket);
  const place = await openThreadChannel(rest, channelId);
  const command = `${process.execPath} ${program} ${join(folder, 'go')}`;
  const threads = [];
  for (let at = 0; at < TERMINALS; at++) {
    const { id: thread } = await ensureThread(place, `[terminal] ${at}`, 'Welcome');
    const name = `terminal-${at}`;
    const record = {
      thread,
      name,
      dir: folder,
      server: 'local',
      kind: 'terminal',
      asked: command,
      order: thread,
      skipPermissions: false,
      startedAt: Date.now(),
    };
    await startTerminal({ home, tmux, server: 'local' }, { thread, name, dir: folder, command, record });
    threads.push(thread);
  }
  return threads;
}

/** For every line, the time from writing it to the first request that contains it. */
function delaysOf(requests) {
  const known = new Set();
  return requests.flatMap(({ path, body, at }) => {
    const thread = path.split('/')[2];
    const lines = [...(body?.content ?? '').matchAll(/^line (\d+) at (\d+)$/gm)];
    return lines.flatMap(([, line, written]) => {
      const key = `${thread} ${line}`;
      if (known.has(key)) return [];
      known.add(key);
      return [at - Number(written)];
    });
  });
}

async function textOf(rest, thread) {
  let text = '';
  for (let after = thread; ; ) {
    const page = await rest.call('GET', `/channels/${thread}/messages?after=${after}&limit=100`);
    page.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
    for (const { content } of page) text += sliceOf(content) ?? '';
    if (page.length < 100) return text;
    after = page.at(-1).id;
  }
}

function isWhole(text) {
  const lines = text.split('\n');
  const count = (SECONDS * 1000) / EVERY_MS;
  return lines.length === count + 1 && lines.every((line, at) => at === count || line.startsWith(`line ${at} at `));
}

function report({ streamed, seconds, before, half, after, limited, failed, texts, delays }) {
  const sorted = delays.toSorted((a, b) => a - b);
  const late = sorted[Math.floor(sorted.length * 0.95)];
  const ratio = median(delays) / FLOOR_MS;
  const more = (after - before) / 1024 / 1024;
  const complete = texts.filter(isWhole).length;
  printTable(`${TERMINALS} terminals, ${1000 / EVERY_MS} lines a second each, for ${SECONDS} s`, [
    ['', '', 'of what the limit allows'],
    ['posts and edits a second, each terminal', (streamed.length / seconds / TERMINALS).toFixed(2), ''],
    ['from line to message, median ms', whole(median(delays)), `${ratio.toFixed(2)} x`],
    ['from line to message, 95 % ms', whole(late), `${(late / 2 / FLOOR_MS).toFixed(2)} x`],
    ['refused with 429, waited out', whole(limited), ''],
    ['memory of the bridge before, MB', whole(before / 1024 / 1024), ''],
    ['memory of the bridge half-way, MB', whole(half / 1024 / 1024), ''],
    ['memory of the bridge at the end, MB', whole(after / 1024 / 1024), `${(after / half).toFixed(2)} x half-way`],
  ]);
  conclude(
    `a line is shown ${ratio.toFixed(2)} x as late as one edit a second allows; at most ${RATIO_LIMIT}`,
    ratio <= RATIO_LIMIT,
  );
  conclude(`${complete} of ${TERMINALS} threads have every line, once and in order`, complete === TERMINALS);
  conclude(`nothing was given up after a refusal (${failed.length} failures)`, failed.length === 0);
  conclude(`they take ${more.toFixed(0)} MB; at most ${MORE_MB}`, more <= MORE_MB);
}
