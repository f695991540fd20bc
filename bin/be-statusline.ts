// The status line command: keeps what Claude Code tells it, for the footer under replies, and shows what the
// user's own command shows, byte for byte. It runs all the time, so it loads as little as it can.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { homeRoot, openHome } from '../home/home.ts';
import { saveStatus } from '../home/status-file.ts';

const LATE_MS = 300;

/** One word is a command line for the shell; several are a program and its arguments. Gives the exit code. */
export async function beStatusline(words: readonly string[]): Promise<number> {
  const [file = '', ...args] = words.length === 1 ? ['/bin/sh', '-c', ...words] : words;
  if (words.length > 0) return show(file, args);
  const input = await buffer(process.stdin);
  keep(input);
  const line = await ownLine(input.toString());
  if (line !== '') process.stdout.write(`${line}\n`);
  return 0;
}

/** The command starts at once and gets its input as it comes; ours is done while it works. */
async function show(file: string, args: readonly string[]): Promise<number> {
  process.once('SIGTERM', () => void child.kill('SIGTERM')); // before the command could outlive us
  const child = spawn(file, args, { stdio: ['pipe', 'inherit', 'inherit'] });
  const stdin: Writable | undefined = child.stdin; // none without a free file descriptor: then an error follows
  stdin?.on('error', () => {}); // it need not read what it is told
  const chunks: Buffer[] = [];
  process.stdin.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    stdin?.write(chunk);
  });
  const told = once(process.stdin, 'end').then(
    () => {
      stdin?.end();
      keep(Buffer.concat(chunks));
    },
    () => void stdin?.end(),
  );
  const [code, signal] = await once(child, 'exit').catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    return [127, null];
  });
  // A command that does not read may end before we have been told all.
  await Promise.race([told, sleep(LATE_MS, undefined, { ref: false })]);
  process.stdin.destroy();
  return code ?? 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}

/**
 * A status that cannot be kept costs a footer; the line must not show it. A home that is gone stays gone: Claude Code may
 * still run us after an uninstall.
 */
function keep(input: Buffer): void {
  const root = homeRoot(process.env);
  if (!existsSync(root)) return;
  try {
    const text = input.toString();
    const { session_id: session } = JSON.parse(text) as { session_id?: unknown };
    if (typeof session === 'string') saveStatus(openHome(root), session, text);
  } catch {
    // Not JSON, or no room: there is nobody to tell here.
  }
}

async function ownLine(input: string): Promise<string> {
  const { footer, parseStatus } = await import('../claude/status.ts');
  try {
    const status = parseStatus(JSON.parse(input));
    return status === undefined ? '' : footer(status);
  } catch {
    return ''; // not JSON: nothing to show
  }
}
