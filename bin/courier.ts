#!/usr/bin/env node
// The courier as a process of its own, started by `hooks/drop`. It detaches first, because Claude
// Code ends what its hooks leave behind, and has no one to talk to but the log.

import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** Whatever has to be loaded for the work is loaded after the way out has been taken. */
async function main(args: readonly string[]): Promise<void> {
  const passed = args.filter((one) => one === '--unsaved' || one === '--token');
  const given = passed.length > 0 ? await text(process.stdin) : '';
  if (!args.includes('--stay')) return detach(passed, given);
  const [token = ''] = args.includes('--token') ? given.split('\n', 1) : [];
  const letter = args.includes('--token') ? given.slice(token.length + 1) : given;
  const { runCourierProcess: stay } = await import('./run-courier.ts');
  await stay(letter.replace(/\n$/, ''), token);
}

/** A token in the environment is passed on by a pipe: the environment of a process that stays can be read by others. */
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
    process.exitCode = 1; // no process or no file descriptor left: what is in the outbox waits for the next one
  });
  const stdin: Writable | undefined = child.stdin; // none in that case
  stdin?.on('error', () => {}).end(token ? `${token}\n${letter}` : letter);
  child.unref();
}

main(process.argv.slice(2)).catch(() => {
  process.exitCode = 1; // nobody listens; the letter lies in the outbox for the next one
});
