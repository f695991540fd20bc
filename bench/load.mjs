// Many sessions at once: bursts of messages into 30 panes and a reply to each, while the gateway is cut every 10 s, on a
// server with Discord's rate limits. Nothing may be lost, repeated or out of order in either direction, and every mark has to be right.
// usage: node bench/load.mjs [seconds]

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { addressOf } from '../dist/discord/http-pool.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { asDiscord } from '../test/support/as-discord.mjs';
import { signIn } from '../test/support/workspace-access.mjs';
import { conclude, measure, PROGRAM, printTable } from './support.mjs';

const SECONDS = Number(process.argv[2] ?? 180);
const SESSIONS = 30;
const BURST = 3;
const BURST_EVERY_MS = 20_000;
const CUT_EVERY_MS = 10_000;
const SETTLES_WITHIN_MS = 180_000;
const LIMITS = { perBucket: 5, windowMs: 5_000, globalPerSecond: 50 };
const STAND_IN = fileURLToPath(new URL('../test/support/fake-claude.mjs', import.meta.url));
const DROP = fileURLToPath(new URL('../dist/hooks/drop', import.meta.url));

await measure(async ({ folder }) => {
  const asked = [];
  const { inspection, gateway } = asDiscord({
    rateLimits: LIMITS,
    refuse: ({ actor, method, path }) => void (actor === 'bot' && asked.push(`${method} ${decodeURIComponent(path)}`)),
  });
  const workspace = await startWorkspace({ dir: join(folder, 'workspace'), inspection });
  const proxy = await countAnswers(workspace.api);
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8', SHELL: '/bin/sh' },
    ...{ THREADMUX_HOME: join(folder, 'home'), THREADMUX_HOST: 'laptop' },
    ...{ DISCORD_API_BASE: proxy.api, DISCORD_BOT_TOKEN: workspace.token },
    ...{ DISCORD_CHANNEL_ID: workspace.channelId, DISCORD_ALLOWED_USERS: workspace.userId },
    THREADMUX_TMUX_SOCKET: join(folder, 't'),
  };
  const tmux = (...args) =>
    execFileSync('tmux', ['-u', '-S', join(folder, 't'), '-f', '/dev/null', ...args], {
      ...{ encoding: 'utf8', env },
    }).trim();
  const program = spawn(process.execPath, [fileURLToPath(PROGRAM), 'up'], {
    ...{ env, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  const ended = once(program, 'exit');
  try {
    await once(program.stdout, 'data');
    const call = await person(workspace);
    const sessions = await startSessions(tmux, folder, env.THREADMUX_HOME);
    asked.length = 0; // creating the threads is not counted
    const { cuts } = await talk(sessions, call, gateway);
    const state = await untilSettled(sessions, call, workspace);
    report({ state, cuts, asked, counts: proxy.counts });
  } finally {
    program.kill('SIGTERM');
    await ended;
    tmux('kill-server');
    proxy.close();
    await workspace.close();
  }
});

/** A proxy in front of the workspace that counts 429 answers. */
async function countAnswers(api) {
  const { socketPath } = addressOf(api);
  const counts = { requests: 0, refused: 0 };
  const server = createServer((client) => {
    const upstream = connect(socketPath);
    client.pipe(upstream).pipe(client);
    upstream.on('data', (data) => {
      const text = data.toString('latin1');
      counts.requests += text.split('HTTP/1.1 ').length - 1;
      counts.refused += text.split('HTTP/1.1 429').length - 1;
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ])
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  return { api: `http://127.0.0.1:${port}/api/v10`, counts, close: () => server.close() };
}

async function person(workspace) {
  const { headers } = await signIn(workspace.newLink());
  return async (method, path, body) => {
    const response = await fetch(`${headers.origin}/api/v10${path}`, {
      ...{ method, headers: { ...headers, 'content-type': 'application/json' } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
    return response.json();
  };
}

async function startSessions(tmux, folder, home) {
  const sessions = Array.from({ length: SESSIONS }, (_, n) => ({ name: `web-${n}`, sent: [] }));
  for (const session of sessions) {
    session.folder = join(folder, session.name);
    mkdirSync(session.folder);
    const program = [process.execPath, STAND_IN, session.folder, DROP];
    tmux('new-session', '-d', '-s', session.name, '-x', '120', '-y', '40', ...program);
  }
  for (let tries = 0; sessions.some(({ thread }) => thread === undefined); tries++) {
    if (tries > 600) throw new Error('the sessions were not reported');
    await sleep(200);
    if (!existsSync(join(home, 'threads'))) continue;
    for (const name of readdirSync(join(home, 'threads')).filter((one) => /^\d+\.json$/.test(one))) {
      const record = JSON.parse(readFileSync(join(home, 'threads', name), 'utf8'));
      const session = sessions.find((one) => one.name === record.sessionName);
      if (session !== undefined && record.claudeSession !== '') session.thread = record.thread;
    }
  }
  return sessions;
}

async function talk(sessions, call, gateway) {
  const until = Date.now() + SECONDS * 1_000;
  let cuts = 0;
  const cutting = setInterval(() => {
    cuts++;
    gateway.cutAll();
  }, CUT_EVERY_MS);
  await Promise.all(
    sessions.map(async (session, at) => {
      await sleep((at * BURST_EVERY_MS) / SESSIONS);
      for (let burst = 0; Date.now() < until; burst++) {
        const next = sleep(BURST_EVERY_MS);
        for (let n = 0; n < BURST; n++) {
          const content = `${session.name} message ${burst * BURST + n}`;
          session.sent.push(content);
          await call('POST', `/channels/${session.thread}/messages`, { content });
        }
        await next;
      }
    }),
  );
  clearInterval(cutting);
  return { cuts };
}

async function untilSettled(sessions, call, workspace) {
  const deadline = Date.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const state = [];
    for (const session of sessions) state.push(await stateOf(session, call, workspace));
    if (state.every((one) => one.settled) || Date.now() > deadline) return state;
    await sleep(2_000);
  }
}

function report({ state, cuts, asked, counts }) {
  const sum = (key) => state.reduce((total, one) => total + one[key], 0);
  const rows = [
    ['messages sent', 'sent'],
    ['typed once', 'typedOnce'],
    ['lost', 'lost'],
    ['typed twice', 'doubled'],
    ['sessions out of order', 'disordered'],
    ['marked ✅ alone', 'marked'],
    ['notices with ⚠️', 'warned'],
    ['replies posted once', 'replied'],
    ['replies posted twice', 'repliesDoubled'],
    ['threads with replies out of order', 'repliesDisordered'],
  ].map(([title, key]) => [title, String(sum(key))]);
  const count = (isIt) => asked.filter(isIt).length;
  const checks = count((one) => one.startsWith('PUT') && one.includes('✅'));
  printTable(`${SESSIONS} sessions for ${SECONDS} s, the gateway cut ${cuts} times`, [
    ...rows,
    ['✅ set', String(checks)],
    ['⚠️ set at any time', String(count((one) => one.startsWith('PUT') && one.includes('⚠️')))],
    ['posts', String(count((one) => one.startsWith('POST') && one.endsWith('/messages')))],
    ['reads of messages', String(count((one) => /^GET .*\/messages/.test(one)))],
    ['requests answered', String(counts.requests)],
    ['of these with 429', String(counts.refused)],
  ]);
  for (const { wrong } of state) for (const line of wrong) console.log(`  ${line}`);
  const all = sum('sent');
  conclude(
    'everything is typed and answered once and in order, every mark is right, and no request was refused',
    ['typedOnce', 'marked', 'replied'].every((key) => sum(key) === all) &&
      ['doubled', 'disordered', 'warned', 'repliesDoubled', 'repliesDisordered'].every((key) => sum(key) === 0) &&
      checks === all &&
      counts.refused === 0,
  );
}

async function stateOf({ name, folder, thread, sent }, call, { botId }) {
  const typed = readFileSync(join(folder, 'record'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).text);
  const messages = [];
  for (let before = ''; ; ) {
    const page = await call('GET', `/channels/${thread}/messages?limit=100${before}`);
    messages.push(...page);
    if (page.length < 100) break;
    before = `&before=${page.at(-1).id}`;
  }
  const times = (list, text) => list.filter((one) => one === text).length;
  const said = messages.filter(({ author }) => author.id === botId).map(({ content }) => content);
  const echoes = said.map((content) => /^Echo: (.*)/m.exec(content)?.[1]);
  const marksOf = ({ reactions = [] }) => reactions.map(({ emoji }) => emoji.name).join('');
  const ours = messages.filter(({ author }) => author.id !== botId);
  const unmarked = ours.filter((message) => marksOf(message) !== '✅');
  const warnings = said.filter((content) => content.startsWith('⚠️'));
  const count = (isIt) => sent.filter(isIt).length;
  const counted = {
    sent: sent.length,
    typedOnce: count((text) => times(typed, text) === 1),
    lost: count((text) => times(typed, text) === 0),
    doubled: count((text) => times(typed, text) > 1),
    disordered: inOrder([...new Set(typed)], sent) ? 0 : 1,
    marked: ours.length - unmarked.length,
    warned: warnings.length,
    replied: count((text) => times(echoes, text) === 1),
    repliesDoubled: count((text) => times(echoes, text) > 1),
    repliesDisordered: inOrder(echoes.filter(Boolean).toReversed(), sent) ? 0 : 1,
  };
  return {
    ...counted,
    settled: counted.marked === sent.length && counted.replied === sent.length,
    wrong: [
      ...unmarked.map((message) => `${name}: ${message.content} has [${marksOf(message)}]`),
      ...warnings.map((content) => `${name}: ${content.slice(0, 150)}`),
    ],
  };
}

/** Whether what is there has the order in which it was sent. */
function inOrder(texts, sent) {
  return texts.join('\n') === sent.filter((text) => texts.includes(text)).join('\n');
}
