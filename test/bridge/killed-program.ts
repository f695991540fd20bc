// The whole program as a process that a test kills with SIGKILL. A wrapper around the real tmux does it, exactly at a step.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, rmSync, watch, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, vi } from 'vitest';
import { holderOf } from '../../home/lock.ts';
import type { Fault, Faults, FaultyRequest } from '../support/as-discord.mjs';
import { type Machine, startMachine } from '../support/hook-process.ts';
import { startTestWorkspace } from '../support/workspace.ts';
import { WAIT } from './bridge-setup.ts';

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

/** sh: the trap for this step in the folder, for the pane of the call or for `any`; `wanted` is empty if there is none. */
export const findTrap = (folder: string) => `all="$*"; pane=\${all#*-t %}; pane=\${pane%%[!0-9]*}
for trap in '${folder}/any' "${folder}/pane-$pane"; do
  read -r wanted when whom pid 2>/dev/null < "$trap" && [ "$wanted" = "$step" ] && break
  wanted=
done`;

/**
 * Waits for the step in the file for its pane, or in `any`. Then it kills the process whose number is there, or, if there is none, waits for
 * `go`: the test has killed it. `both` also kills its script.
 */
const TMUX = (traps: string) => `#!/bin/sh
${TMUX_STEPS}
PATH=\${PATH#*:}
${findTrap(traps)}
[ -n "$wanted" ] || exec tmux "$@"
rm -f "$trap"
[ "$when" = before ] || tmux "$@"
if [ -n "$pid" ]; then kill -9 "$pid"; else : > "$trap.reached"; read -r go < "$trap.go"; fi
[ "$whom" = both ] && { kill -9 $PPID; exit 1; }
[ "$when" = after ] || exec tmux "$@"
`;

type When = 'before' | 'after';
type Whom = 'program' | 'both';

interface RunningProgram {
  readonly ended: Promise<unknown>;
  /** Kills it at a step. */
  killAt(step: string, when: When, whom: Whom): Promise<void>;
  kill(): void;
}

export function startUp(machine: Machine, env: Record<string, string>, command: string): () => Promise<RunningProgram> {
  const bin = join(machine.tmux.dir, 'bin');
  const traps = trapsOf(machine);
  mkdirSync(bin);
  mkdirSync(traps);
  writeFileSync(join(bin, 'tmux'), TMUX(traps), { mode: 0o755 });
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
        writeFileSync(join(traps, 'any'), `${step} ${when} ${whom} ${pid}\n`);
        await ended;
      },
      kill: () => void process.kill(pid, 'SIGKILL'),
    };
  };
}

const trapsOf = ({ tmux }: Machine) => join(tmux.dir, 'traps');

/**
 * A running program that can be killed at each request and change of a file, and started again. `local`: it uses the workspace as
 * a local one and not as Discord. `config`: more keys of config.json.
 */
export async function startKillable({ local = false, config = {} } = {}) {
  let trap: { method: string; part: string; when: When } | undefined;
  const held = new Set<(request: FaultyRequest) => Fault | undefined>();
  const waiting: (() => void)[] = [];
  const onRequest: Faults['onRequest'] = (request) => {
    const { method, path, actor } = request;
    if (actor !== 'person')
      for (const hold of held) {
        const fault = hold(request);
        if (fault !== undefined) return fault;
      }
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
  const machine = startMachine(workspace, { config: local ? config : { servers, ...config } });
  machine.startServer();
  const startAgain = startUp(machine, { ...machine.env }, local ? 'bridge' : 'up');
  let up = await startAgain();
  return {
    workspace,
    machine,
    up: () => up,
    async again() {
      up = await startAgain();
    },
    /** Kills it before or after a request with this part in its path is carried out. */
    killAtRequest(method: string, part: string, when: When) {
      trap = { method, part, when };
    },
    /** A request gets no answer, before or after it is carried out; resolves when it has come. */
    holdRequest(method: string, path: RegExp, when: When, content = /(?:)/) {
      return new Promise<void>((resolve) => {
        const hold = (asked: FaultyRequest): Fault | undefined => {
          const said = (asked.body as { readonly content?: string } | undefined)?.content ?? '';
          if (asked.method !== method || !path.test(decodeURIComponent(asked.path)) || !content.test(said))
            return undefined;
          held.delete(hold);
          resolve();
          return { kind: when === 'before' ? 'silence' : 'apply-then-silence' };
        };
        held.add(hold);
      });
    },
    /** A call of tmux waits at a step: for a pane, or the first one of all. Resolves when it waits. */
    async holdTmux(pane: string | undefined, step: string, when: When, whom: Whom) {
      const file = join(trapsOf(machine), pane === undefined ? 'any' : pane.replace('%', 'pane-'));
      execFileSync('mkfifo', [`${file}.go`]);
      const go = openSync(`${file}.go`, 'r+'); // does not wait for the other side
      writeFileSync(file, `${step} ${when} ${whom}\n`);
      await vi.waitFor(() => expect(existsSync(`${file}.reached`), `${step} (${when})`).toBe(true), WAIT);
      waiting.push(() => {
        writeSync(go, 'on\n');
        for (const end of ['go', 'reached']) rmSync(`${file}.${end}`);
        onTestFinished(() => closeSync(go));
      });
    },
    /** Kills it while all this waits, and lets the calls of tmux continue. */
    async killHeld() {
      up.kill();
      await up.ended;
      for (const goOn of waiting.splice(0)) goOn();
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
