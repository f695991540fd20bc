// The whole program on a server with Discord's rate limits, and sessions with the fake Claude Code, for measurements of both
// journeys. All requests of the bot are counted.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addressOf } from '../dist/discord/http-pool.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { asDiscord } from '../test/support/as-discord.mjs';
import { STAND_IN } from './pane-setup.mjs';
import { discordEnv, openTmux, PROGRAM, person, until } from './support.mjs';

const LIMITS = { perBucket: 5, windowMs: 5_000, globalPerSecond: 50 };
const DROP = fileURLToPath(new URL('../dist/hooks/drop', import.meta.url));

/** `asked` has the requests of the bot as "METHOD path", `counts` all answers and those with 429. */
export async function withProgram(folder, act) {
  const asked = [];
  const { inspection, gateway } = asDiscord({
    rateLimits: LIMITS,
    refuse: ({ actor, method, path }) => void (actor === 'bot' && asked.push(`${method} ${decodeURIComponent(path)}`)),
  });
  const workspace = await startWorkspace({ dir: join(folder, 'workspace'), inspection });
  const proxy = await countAnswers(workspace.api);
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LANG: 'C.UTF-8',
    SHELL: '/bin/sh',
    THREADMUX_HOME: join(folder, 'home'),
    THREADMUX_HOST: 'laptop',
    ...discordEnv({ ...workspace, api: proxy.api }),
    THREADMUX_TMUX_SOCKET: join(folder, 't'),
  };
  const tmux = openTmux(join(folder, 't'), folder, env);
  const program = spawn(process.execPath, [fileURLToPath(PROGRAM), 'up'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(program, 'exit');
  try {
    await once(program.stdout, 'data');
    const call = await person(workspace);
    const start = (count) => startSessions(count, tmux, folder, env.THREADMUX_HOME);
    await act({ workspace, gateway, call, start, asked, counts: proxy.counts });
  } finally {
    program.kill('SIGTERM');
    await ended;
    tmux('kill-server');
    proxy.close();
    await workspace.close();
  }
}

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

async function startSessions(count, tmux, folder, home) {
  const sessions = Array.from({ length: count }, (_, n) => ({ name: `web-${n}`, sent: [] }));
  for (const session of sessions) {
    session.folder = join(folder, session.name);
    mkdirSync(session.folder);
    const program = [process.execPath, STAND_IN, session.folder, DROP];
    tmux('new-session', '-d', '-s', session.name, '-x', '120', '-y', '40', ...program);
  }
  const threads = join(home, 'threads');
  await until(() => {
    const names = existsSync(threads) ? readdirSync(threads).filter((one) => /^\d+\.json$/.test(one)) : [];
    for (const name of names) {
      const record = JSON.parse(readFileSync(join(threads, name), 'utf8'));
      const session = sessions.find((one) => one.name === record.sessionName);
      if (session !== undefined && record.claudeSession !== '') session.thread = record.thread;
    }
    return sessions.every(({ thread }) => thread !== undefined);
  }, 120);
  return sessions;
}

/** What was typed into a session, and every message of its thread, newest first. */
export async function readSession({ folder, thread }, call) {
  const record = join(folder, 'record');
  const typed = (existsSync(record) ? readFileSync(record, 'utf8') : '')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).text);
  const messages = [];
  for (let before = ''; ; ) {
    const page = await call('GET', `/channels/${thread}/messages?limit=100${before}`);
    messages.push(...page);
    if (page.length < 100) return { typed, messages };
    before = `&before=${page.at(-1).id}`;
  }
}

export const marksOf = ({ reactions = [] }) => reactions.map(({ emoji }) => emoji.name).join('');
/** The message that the fake Claude Code answers. */
export const answeredIn = ({ content }) => /^Echo: (.*)/m.exec(content)?.[1];
