// The program as a process, with a host over ssh, and what a test can kill of both. On the host, `tmux` and `mv` can be stopped at
// a step, so that something is killed exactly there.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, vi } from 'vitest';
import { holderOf } from '../../home/lock.ts';
import type { Faults } from '../support/as-discord.mjs';
import { type Machine, processesWith, startMachine } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTestWorkspace, type TestWorkspace } from '../support/workspace.ts';
import { WAIT } from './bridge-setup.ts';
import { findTrap, TMUX_STEPS } from './killed-program.ts';
import { type FarHost, startFarHost } from './remote-host.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/bin/threadmux.js', import.meta.url));

export interface RemoteProgram {
  readonly workspace: TestWorkspace;
  readonly machine: Machine;
  readonly far: FarHost;
  /** Starts the program again after it was killed. */
  up(): Promise<void>;
  killProgram(): Promise<void>;
  hasEnded(): boolean;
  /** The clients on this machine, with the one that holds the connection. */
  sshClients(): readonly number[];
  /** The processes on the host that hold the bell: the collector with its helpers. */
  collectors(): readonly number[];
  /** Stops the host's tool at the step, for a pane or the first one of all. */
  stopAt(step: string, when: 'before' | 'after', pane?: string): Promise<Stopped>;
}

interface Stopped {
  /** The process id of the script that called the tool. */
  readonly script: number;
  /** Lets the tool continue or exit. */
  go(how: 'on' | 'exit'): void;
}

/** `config`: more of its configuration. `sshd`: behind the real one. */
export async function startRemoteProgram(
  faults: Faults = {},
  { config = {}, sshd = false }: { readonly config?: object; readonly sshd?: boolean } = {},
): Promise<RemoteProgram> {
  const workspace = await startTestWorkspace({ faults });
  const steps = tempFolder();
  const far = await startFarHost('far', { path: `${steppedTools(steps)}:/usr/bin:/bin`, sshd });
  mkdirSync(join(far.ssh.home, 'code', 'shop'), { recursive: true });
  const hosts = { far: { ssh: 'far', socket: far.place.tmux.socket, roots: ['~/code'] } };
  const { api, token, channelId, userId } = workspace;
  // With the token in its environment, the program would start a second process that does the work.
  const servers = [{ name: 'test', api, token, channel: channelId, allow: [userId] }];
  const machine = startMachine(workspace, { config: { hosts, servers, ...config } });
  const bin = join(machine.tmux.dir, 'bin');
  mkdirSync(bin);
  // The real ssh client finds its configuration through the password file, not through HOME.
  const client = `#!/bin/sh\nPATH=\${PATH#*:}; exec ssh -F '${far.ssh.configFile}' "$@"\n`;
  writeFileSync(join(bin, 'ssh'), client, { mode: 0o755 });
  const env = { ...machine.env, PATH: `${bin}:${machine.env.PATH}`, THREADMUX_TMUX_SOCKET: machine.tmux.socket };
  const up = async () => {
    const child = spawn(process.execPath, [PROGRAM, 'up'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    const pid = holderOf(machine.home.path('state', 'bridge.lock'));
    if (pid === undefined) throw new Error('nobody holds the lock of the bridge');
    const ended = once(child, 'exit');
    let hasEnded = false;
    void ended.then(() => {
      hasEnded = true;
    });
    return { ended, pid, hasEnded: () => hasEnded };
  };
  let running = await up();
  return {
    workspace,
    machine,
    far,
    async up() {
      running = await up();
    },
    async killProgram() {
      process.kill(running.pid, 'SIGKILL');
      await running.ended;
    },
    hasEnded: () => running.hasEnded(),
    sshClients: () =>
      processesWith(`HOME=${machine.env.HOME}`).filter(
        (pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'ssh',
      ),
    collectors: () => holders(join(far.ours, 'bell'), processesWith(`HOME=${far.ssh.home}`)),
    async stopAt(step, when, pane) {
      const trap = join(steps, pane === undefined ? 'any' : pane.replace('%', 'pane-'));
      const [reached, go] = [`${trap}.reached`, `${trap}.go`];
      rmSync(go, { force: true });
      writeFileSync(trap, `${step} ${when}\n`);
      const script = await vi.waitFor(() => {
        if (!existsSync(reached)) throw new Error(`${step} (${when}) was not reached`);
        return Number(readFileSync(reached, 'utf8'));
      }, WAIT);
      rmSync(reached);
      return { script, go: (how) => writeFileSync(go, `${how}\n`) };
    },
  };
}

const ANSWER_STEPS = `case "$*" in
  */answers/.*) step=give ;;
  *.taken) step=taken ;;
  *) step=other ;;
esac`;

/** A folder with a `tmux` and a `mv` that stop at the step in the file for their pane, or in `any`, and a `node` that must not be run. */
function steppedTools(folder: string): string {
  const tool = (name: string, steps: string) => `#!/bin/sh
${steps}
PATH=\${PATH#*:}
${findTrap(folder)}
[ -n "$wanted" ] || exec ${name} "$@"
rm -f "$trap"
[ "$when" = before ] || ${name} "$@"; status=$?
echo $PPID > "$trap.new"; mv "$trap.new" "$trap.reached"
n=0; while [ ! -s "$trap.go" ] && [ $n -lt 300 ]; do sleep 0.1; n=$((n + 1)); done
read -r how 2> /dev/null < "$trap.go"; [ "$how" = on ] || exit 1
[ "$when" = after ] || exec ${name} "$@"
exit $status
`;
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'tmux'), tool('tmux', TMUX_STEPS), { mode: 0o755 });
  writeFileSync(join(bin, 'mv'), tool('mv', ANSWER_STEPS), { mode: 0o755 });
  writeFileSync(join(bin, 'node'), `#!/bin/sh\n: > ${folder}/node-was-run; exit 127\n`, { mode: 0o755 });
  onTestFinished(() => expect(existsSync(join(folder, 'node-was-run')), 'Node.js was started there').toBe(false));
  return bin;
}

const holders = (path: string, pids: readonly number[]) =>
  pids.filter((pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === path);
    } catch {
      return false; // it has exited
    }
  });

export function killAll(pids: readonly number[]): number {
  for (const pid of pids)
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has exited
    }
  return pids.length;
}
