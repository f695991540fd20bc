// Shared by the measurements: separate processes for what is measured, medians, and a table.
// A number is only ever compared with another one of the same run.

import { execFileSync, fork } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { signIn } from '../test/support/workspace-access.mjs';

export const PROCESSES = new URL('./processes/', import.meta.url);
/** The options of a process that reports its memory. */
export const PROBED = ['--expose-gc', '--import', new URL('probe.mjs', PROCESSES).href];
export const PROGRAM = new URL('../dist/bin/threadmux.js', import.meta.url);

/** Runs a measurement with its own temporary folder, and ends everything it started. */
export async function measure(act) {
  if (!existsSync(PROGRAM)) throw new Error('there is no dist/ to measure: run `npm run build`');
  const folder = mkdtempSync(join(tmpdir(), 'threadmux-bench-'));
  const started = [];
  const start = (file, options = {}) => {
    const child = startProcess(file, { cwd: folder, ...options });
    started.push(child);
    return child;
  };
  try {
    await act({ folder, start });
  } finally {
    await Promise.all(started.map((child) => child.stop()));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * A Node process that answers questions. It inherits only PATH: neither the options nor the
 * configuration of the user who runs the benchmark may change what is measured.
 */
function startProcess(file, { cwd, args = [], env = {}, nodeOptions = [] }) {
  const child = fork(fileURLToPath(file), args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    execArgv: nodeOptions,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let stopping = false;
  const next = () =>
    new Promise((resolve, reject) => {
      const onExit = (code) => reject(new Error(`${file.pathname} ended with code ${code}`));
      child.once('exit', onExit);
      child.once('message', (answer) => {
        child.off('exit', onExit);
        resolve(answer);
      });
    });
  return {
    /** The next unsolicited message of the process. */
    next,
    ask(question) {
      const answer = next();
      child.send(question);
      return answer;
    },
    tell: (what) => child.send(what),
    async stop() {
      if (!stopping && child.exitCode === null) child.kill('SIGTERM');
      stopping = true;
      const kill = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(kill);
    },
  };
}

/** The environment of a bot. */
export function discordEnv({ api, token, channelId, userId }) {
  return {
    DISCORD_API_BASE: api,
    DISCORD_BOT_TOKEN: token,
    DISCORD_CHANNEL_ID: channelId,
    DISCORD_ALLOWED_USERS: userId,
  };
}

/** The requests of the user, signed in like a browser. */
export async function person({ newLink }) {
  const { headers } = await signIn(newLink());
  return async (method, path, body) => {
    const response = await fetch(`${headers.origin}/api/v10${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`);
    return response.json();
  };
}

/** Commands for a tmux server of its own. */
export function openTmux(socket, home, more = {}) {
  const env = { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', SHELL: '/bin/sh', ...more };
  return (...args) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8', env }).trim();
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
}

export function spread(numbers) {
  return `${whole(Math.min(...numbers))} to ${whole(Math.max(...numbers))}`;
}

export function whole(number) {
  return Math.round(number).toLocaleString('en-US');
}

export function printTable(title, rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const line = (row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]))).join('  ');
  console.log(`\n${title}\n`);
  for (const row of rows) console.log(`  ${line(row)}`);
}

/** Prints the last line of a measurement, and fails the run if its limit is exceeded. */
export function conclude(sentence, holds = true) {
  console.log(`\n${holds ? 'ok' : 'NOT OK'}: ${sentence}`);
  if (!holds) process.exitCode = 1;
}

export async function until(holds, seconds = 20) {
  for (const end = Date.now() + seconds * 1_000; !(await holds()); await sleep(10))
    if (Date.now() > end) throw new Error(`it did not happen within ${seconds} seconds`);
}
