// How long `threadmux mcp` takes until it answers the first request, compared with an empty Node.js program, and how much memory it holds:
// after the tools were listed, after one of them was called, and after many calls.

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { conclude, measure, median, PROGRAM, printTable } from './support.mjs';

const ROUNDS = 10;
const TIMES = 3;
const MOST_MB = 60;
const CALLS = 30;
const MB = 1024 * 1024;
const ms = (time) => `${time.toFixed(0)} ms`;

const initialize = {
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};

await measure(async ({ folder }) => {
  const env = { PATH: process.env.PATH, HOME: folder, THREADMUX_TMUX_SOCKET: `${folder}/tmux` };
  const times = { empty: [], mcp: [] };
  const memory = { listed: [], called: [], often: [] };
  const tmux = (...args) => spawnSync('tmux', ['-S', env.THREADMUX_TMUX_SOCKET, '-f', '/dev/null', ...args], { env });
  tmux('new-session', '-d', '-s', 'shop', 'cat');
  tmux('set-option', '-g', 'exit-empty', 'off');
  for (let round = 0; round < ROUNDS; round++) {
    times.empty.push(await timeOfEmpty(env));
    const server = startServer(env);
    const began = performance.now();
    await server.ask(initialize);
    times.mcp.push(performance.now() - began);
    await server.ask({ method: 'tools/list' });
    memory.listed.push(residentBytes(server.pid));
    const call = (name, input = {}) => server.ask({ method: 'tools/call', params: { name, arguments: input } });
    await call('list_sessions');
    memory.called.push(residentBytes(server.pid));
    for (let at = 0; at < CALLS; at++) {
      await call('list_sessions');
      await call('read_screen', { session: 'shop' });
    }
    await call('read_reply', { session: 'shop' });
    await call('send_message', { session: 'shop', text: 'hello' });
    await call('wait', { session: 'shop', timeout_seconds: 1 });
    memory.often.push(residentBytes(server.pid));
    await server.stop();
  }
  tmux('kill-server');
  const [empty, mcp] = [median(times.empty), median(times.mcp)];
  const [listed, called, often] = [memory.listed, memory.called, memory.often].map((all) => median(all) / MB);
  printTable('threadmux mcp', [
    ['', 'median'],
    ['node -e 0', ms(empty)],
    ['until it answers', ms(mcp)],
    ['memory, tools listed', `${listed.toFixed(1)} MB`],
    ['memory, a tool called', `${called.toFixed(1)} MB`],
    [`memory, ${2 * CALLS + 4} calls`, `${often.toFixed(1)} MB`],
  ]);
  const ratio = mcp / empty;
  conclude(
    `it answers after ${ratio.toFixed(1)} times an empty program (limit ${TIMES}), and holds ${often.toFixed(0)} MB (limit ${MOST_MB})`,
    ratio <= TIMES && Math.max(listed, called, often) < MOST_MB,
  );
});

function timeOfEmpty(env) {
  const began = performance.now();
  return new Promise((resolve) => {
    spawn(process.execPath, ['-e', '0'], { env, stdio: 'ignore' }).once('exit', () =>
      resolve(performance.now() - began),
    );
  });
}

function startServer(env) {
  const child = spawn(process.execPath, [fileURLToPath(PROGRAM), 'mcp'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  return {
    pid: child.pid,
    async ask(request) {
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, ...request })}\n`);
      const { value } = await lines.next();
      const answer = JSON.parse(value ?? '{}');
      if (answer.result === undefined) throw new Error(`${request.method}: ${value}`);
      return answer.result;
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

/** On Linux from /proc; elsewhere it is not measured. */
function residentBytes(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  } catch {
    return 0;
  }
}
