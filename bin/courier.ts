#!/usr/bin/env node
// The courier process, started by `hooks/drop`. It detaches first, because Claude Code kills the processes that its hooks leave
// behind. It reports errors only to the log.

import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** The modules for the work are loaded after detaching, so that the hook returns quickly. */
async function main(args: readonly string[]): Promise<void> {
  const passed = args.filter((one) => one === '--unsaved' || one === '--token');
  const given = passed.length > 0 ? await text(process.stdin) : '';
  if (!args.includes('--stay')) return detach(passed, given);
  const [token = ''] = args.includes('--token') ? given.split('\n', 1) : [];
  const letter = args.includes('--token') ? given.slice(token.length + 1) : given;
  const { runCourierProcess } = await import('./run-courier.ts');
  await runCourierProcess(letter.replace(/\n$/, ''), token);
}

/** Passes the token through a pipe: other programs can read the environment of a long-running process. */
function detach(passed: readonly string[], letter: string): void {
  const self = fileURLToPath(import.meta.url);
  const { DISCORD_BOT_TOKEN: token, ...env } = process.env;
  const args = token ? [...passed, '--token'] : passed;
  const child = spawn(process.execPath, [self, '--stay', ...args], {
    env,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {
    process.exitCode = 1; // no process or file descriptor left: the next courier delivers what is in the outbox
  });
  const stdin: Writable | undefined = child.stdin; // undefined if spawn failed
  stdin?.on('error', () => {}).end(token ? `${token}\n${letter}` : letter);
  child.unref();
}

main(process.argv.slice(2)).catch(() => {
  process.exitCode = 1; // no one reads our output; the next courier delivers the letter from the outbox
});
