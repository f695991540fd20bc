// The real program, compiled, with its own home, tmux server and free port. It can be killed and
// restarted with the same home and port.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { type Machine, startMachine } from '../support/hook-process.ts';
import { enter, type Person } from '../support/workspace.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/bin/threadmux.js', import.meta.url));
const STARTS_WITHIN_MS = 20_000;

export interface Program {
  readonly machine: Machine;
  /** A new link each time. */
  readonly link: string;
  readonly url: string;
  /** The same user as in the browser, over HTTP. */
  readonly person: Person;
  /** Kills it like a power failure. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** `file`: the content of config.json. */
export async function startProgram({ file }: { readonly file?: object } = {}): Promise<Program> {
  const machine = startMachine();
  machine.startServer();
  if (file !== undefined) writeFileSync(machine.home.path('config.json'), JSON.stringify(file), { mode: 0o600 });
  const port = await freePort();
  let child: ChildProcess | undefined;
  let link = '';
  const start = async () => {
    child = spawn(process.execPath, [PROGRAM, 'up', '--port', String(port)], {
      env: { ...machine.env, SHELL: '/bin/sh', THREADMUX_TMUX_SOCKET: machine.tmux.socket },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    link = await printedLink(child);
  };
  const kill = async () => {
    const ended = new Promise((resolve) => child?.once('exit', resolve));
    if (child?.exitCode !== null || !child.kill('SIGKILL')) return;
    await ended;
  };
  await start();
  onTestFinished(kill);
  const url = new URL(link).origin;
  return {
    machine,
    get link() {
      return newLink(machine);
    },
    url,
    person: await enter(link),
    kill,
    start,
  };
}

function newLink({ env }: Machine): string {
  return execFileSync(process.execPath, [PROGRAM, 'link'], { env, encoding: 'utf8' }).trim();
}

function printedLink(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const late = setTimeout(() => reject(new Error(`the program has not started: ${printed}`)), STARTS_WITHIN_MS);
    const hear = (chunk: Buffer) => {
      printed += chunk;
      const link = /http:\/\/\S+\/enter\/\S+/.exec(printed)?.[0];
      if (link === undefined) return;
      clearTimeout(late);
      resolve(link);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${printed}`)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
