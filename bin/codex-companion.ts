#!/usr/bin/env node
// The companion of one pane's Codex, started by `agents/codex/codex-pane`. It reports from the server and ends with Codex.
// Arguments: the folder of the scripts, our home, the server's socket, and the process id of Codex.

import { startCompanion } from '../agents/codex/companion/companion.ts';
import { connectToServer } from '../agents/codex/companion/connection.ts';
import { openReporter } from '../agents/reporter.ts';

const LOOK_MS = 1_000;

async function main([scripts = '', home = '', socket = '', pid = '']: readonly string[]): Promise<void> {
  const startedAt = Date.now();
  const over = new AbortController();
  for (const signal of ['SIGHUP', 'SIGTERM'] as const) process.on(signal, () => over.abort());
  process.on('SIGINT', () => {}); // meant for Codex
  const look = setInterval(() => {
    if (!isAlive(Number(pid))) over.abort();
  }, LOOK_MS);
  process.env.THREADMUX_HOME = home; // for the scripts
  const server = await connectToServer(socket, over.signal);
  const companion = startCompanion(server, openReporter('codex', scripts), startedAt);
  const isCodexOver = new Promise<true>((resolve) => over.signal.addEventListener('abort', () => resolve(true)));
  const isEnd = over.signal.aborted || (await Promise.race([isCodexOver, server.closed.then(() => false)]));
  clearInterval(look);
  // After a crash of the server, the next companion follows the next server.
  if (isEnd || !isAlive(Number(pid))) await companion.end();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  () => process.exit(1), // nobody reads our output; the pane's keeper starts another
);
