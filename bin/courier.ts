#!/usr/bin/env node
// The courier as a process of its own, started by `hooks/drop`. It detaches first, because Claude
// Code ends what its hooks leave behind, and has no one to talk to but the log.

import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** Whatever has to be loaded for the work is loaded after the way out has been taken. */
async function main(args: readonly string[]): Promise<void> {
  const unsaved = args.includes('--unsaved') ? ['--unsaved'] : [];
  const letter = unsaved.length > 0 ? await text(process.stdin) : '';
  if (!args.includes('--stay')) return detach(unsaved, letter);
  const { stay } = await import('./stay.ts');
  await stay(letter.replace(/\n$/, ''));
}

function detach(args: readonly string[], letter: string): void {
  const self = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [self, '--stay', ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {
    process.exitCode = 1; // no process or no file descriptor left: what is in the outbox waits for the next one
  });
  const stdin: Writable | undefined = child.stdin; // none in that case
  stdin?.on('error', () => {}).end(letter);
  child.unref();
}

main(process.argv.slice(2)).catch(() => {
  process.exitCode = 1; // nobody listens; the letter lies in the outbox for the next one
});
