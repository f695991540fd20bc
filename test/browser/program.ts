// The real program, compiled, with its own home, tmux server and free port. It can be killed and
// restarted with the same home and port.

import { type ChildProcess, execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { PROGRAM } from '../bin/cli.ts';
import { atEnd } from '../support/at-end.ts';
import { freePort } from '../support/free-port.ts';
import { type Machine, startMachine } from '../support/hook-process.ts';
import { ended, startUp } from '../support/start-up.ts';
import { enter, type Person } from '../support/workspace.ts';

interface Program {
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
  const env = { ...machine.env, SHELL: '/bin/sh', THREADMUX_TMUX_SOCKET: machine.tmux.socket };
  const start = async () => {
    ({ process: child, link } = await startUp(env, PROGRAM, String(port)));
  };
  const kill = async () => {
    if (child !== undefined) await ended(child, 'SIGKILL');
  };
  await start();
  atEnd(kill);
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
