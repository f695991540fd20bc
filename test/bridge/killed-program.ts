// The whole program as a process that a test kills with SIGKILL. A wrapper around the real tmux does it, exactly at a step.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { holderOf } from '../../home/lock.ts';
import type { Faults } from '../support/as-discord.mjs';
import { type Machine, startMachine } from '../support/hook-process.ts';
import { startTestWorkspace } from '../support/workspace.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/bin/threadmux.js', import.meta.url));

/** sh: names the step of typing that a call of tmux is. */
export const TMUX_STEPS = `case "$*" in
  *new-session*) step=new ;;
  *run-shell*capture-pane*) step=seen ;;
  *capture-pane*) step=look ;;
  *load-buffer*) step=load ;;
  *paste-buffer*) step=text ;;
  *send-keys*Enter*) step=enter ;;
  *) step=other ;;
esac`;

/** Waits for the step in the file `trap`, and kills the process whose number is there; `both` also kills its script. */
const TMUX = (trap: string) => `#!/bin/sh
${TMUX_STEPS}
PATH=\${PATH#*:}
read -r wanted when whom pid < '${trap}' 2>/dev/null
[ "$wanted" = "$step" ] || exec tmux "$@"
rm -f '${trap}'
[ "$when" = before ] || tmux "$@"
kill -9 "$pid"
[ "$whom" = both ] && { kill -9 $PPID; exit 1; }
[ "$when" = after ] || exec tmux "$@"
`;

interface RunningProgram {
  readonly ended: Promise<unknown>;
  /** Kills it at a step. */
  killAt(step: string, when: 'before' | 'after', whom: 'program' | 'both'): Promise<void>;
  kill(): void;
}

export function startUp(machine: Machine, env: Record<string, string>, command: string): () => Promise<RunningProgram> {
  const bin = join(machine.tmux.dir, 'bin');
  const trap = join(machine.tmux.dir, 'trap');
  mkdirSync(bin);
  writeFileSync(join(bin, 'tmux'), TMUX(trap), { mode: 0o755 });
  return async () => {
    const child = spawn(process.execPath, [PROGRAM, command], {
      env: { ...env, PATH: `${bin}:${env.PATH}`, THREADMUX_TMUX_SOCKET: machine.tmux.socket },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    const ended = once(child, 'exit');
    // Where Node.js cannot replace its process, a child of the started process does the work.
    const pid = holderOf(machine.home.path('state', 'bridge.lock'));
    if (pid === undefined) throw new Error('nobody holds the lock of the bridge');
    return {
      ended,
      async killAt(step, when, whom) {
        writeFileSync(trap, `${step} ${when} ${whom} ${pid}\n`);
        await ended;
      },
      kill: () => void process.kill(pid, 'SIGKILL'),
    };
  };
}

/**
 * A running program that can be killed at each request and change of a file, and started again. `local`: it uses the workspace as
 * a local one and not as Discord. `config`: more keys of config.json.
 */
export async function startKillable({ local = false, config = {} } = {}) {
  let trap: { method: string; part: string; when: 'before' | 'after' } | undefined;
  const onRequest: Faults['onRequest'] = ({ method, path, actor }) => {
    const set = trap;
    if (set === undefined || method !== set.method || actor === 'person') return undefined;
    if (!path.includes(encodeURIComponent(set.part)) && !path.includes(set.part)) return undefined;
    trap = undefined;
    up.kill();
    return { kind: set.when === 'before' ? 'reset' : 'apply-then-reset' };
  };
  const workspace = await startTestWorkspace({ faults: { onRequest } });
  const { api, token, channelId, userId } = workspace;
  // With the token in its environment, the program would start a second process that does the work.
  const servers = [{ name: 'test', api, token, channel: channelId, allow: [userId] }];
  const machine = startMachine(workspace, local ? {} : { config: { servers, ...config } });
  machine.startServer();
  const startAgain = startUp(machine, { ...machine.env }, local ? 'bridge' : 'up');
  let up = await startAgain();
  return {
    ...{ workspace, machine },
    up: () => up,
    async again() {
      up = await startAgain();
    },
    /** Kills it before or after a request with this part in its path is carried out. */
    killAtRequest(method: string, part: string, when: 'before' | 'after') {
      trap = { method, part, when };
    },
    /** Kills it at the first change in a folder for which `isIt` holds. */
    killAtChange(folder: string, isIt: () => boolean = () => true) {
      const watcher = watch(folder, () => {
        if (!isIt()) return;
        watcher.close();
        up.kill();
      });
    },
  };
}
