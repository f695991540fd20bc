// The whole program as a process, killed with SIGKILL at every step of a message and started anew: nothing is lost, and
// nothing is typed twice. A tmux in front of the real one does the killing, in the very moment of the step.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startFakeClaude } from '../support/fake-claude.ts';
import { type Machine, startMachine } from '../support/hook-process.ts';
import { startTestWorkspace, type TestWorkspace, type WireMessage } from '../support/workspace.ts';
import { untilPrompts, WAIT } from './setting.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/bin/threadmux.js', import.meta.url));

/** Waits for the step that `trap` names, and ends the process whose number stands there; `both`: its script, too. */
const TMUX = (trap: string) => `#!/bin/sh
case "$*" in
  *capture-pane*) step=look ;;
  *load-buffer*) step=load ;;
  *paste-buffer*) step=text ;;
  *send-keys*Enter*) step=enter ;;
  *) step=other ;;
esac
PATH=\${PATH#*:}
read -r wanted when whom pid < '${trap}' 2>/dev/null
[ "$wanted" = "$step" ] || exec tmux "$@"
rm -f '${trap}'
[ "$when" = before ] || tmux "$@"
kill -9 "$pid"
[ "$whom" = both ] && { kill -9 $PPID; exit 1; }
[ "$when" = after ] || exec tmux "$@"
`;

interface Running {
  readonly child: ChildProcess;
  /** Ends it in the moment of a step. */
  killAt(step: string, when: 'before' | 'after', whom: 'program' | 'both'): Promise<void>;
  kill(): Promise<void>;
}

function startUp(machine: Machine, env: Record<string, string>): () => Promise<Running> {
  const bin = join(machine.tmux.dir, 'bin');
  const trap = join(machine.tmux.dir, 'trap');
  mkdirSync(bin);
  writeFileSync(join(bin, 'tmux'), TMUX(trap), { mode: 0o755 });
  return async () => {
    const child = spawn(process.execPath, [PROGRAM, 'up'], {
      env: { ...env, PATH: `${bin}:${env.PATH}`, THREADMUX_TMUX_SOCKET: machine.tmux.socket },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    const ended = once(child, 'exit');
    return {
      child,
      async killAt(step, when, whom) {
        writeFileSync(trap, `${step} ${when} ${whom} ${child.pid}\n`);
        await ended;
      },
      async kill() {
        child.kill('SIGKILL');
        await ended;
      },
    };
  };
}

async function settled(workspace: TestWorkspace, machine: Machine, message: WireMessage) {
  await vi.waitFor(async () => {
    const path = `/channels/${message.channel_id}/messages/${message.id}`;
    const { body } = await workspace.person.call('GET', path);
    const marks = (body as WireMessage).reactions?.map(({ emoji }) => emoji.name) ?? [];
    expect(marks).toEqual(['✅']);
    const left = readdirSync(machine.home.folder('inbox'));
    expect(left.filter((name) => !name.startsWith('.'))).toEqual([]);
  }, WAIT);
}

describe('threadmux up', () => {
  it('loses and repeats nothing, at whatever step it is killed', { timeout: 150_000 }, async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const env: Record<string, string> = {
      ...machine.env,
      DISCORD_API_BASE: workspace.api,
      DISCORD_BOT_TOKEN: workspace.token,
      DISCORD_CHANNEL_ID: workspace.channelId,
      DISCORD_ALLOWED_USERS: workspace.userId,
    };
    const start = startUp(machine, env);
    let up = await start();
    const claude = await startFakeClaude({ ...machine, env }, 'web', { replies: false });
    const wanted: string[] = [];
    const say = (text: string) => {
      wanted.push(text);
      return workspace.person.say(claude.thread, text);
    };

    const steps = [
      ['load', 'before', 'both'],
      ['text', 'after', 'program'],
      ['text', 'after', 'both'],
      ['enter', 'before', 'both'],
      ['enter', 'after', 'program'],
      ['enter', 'after', 'both'],
    ] as const;
    for (const step of steps) {
      const [at, when, whom] = step;
      const killed = up.killAt(at, when, whom);
      const message = await say(`killed ${step.join(' ')}`);
      await killed;
      const behind = await say(`written while it was away (${step.join(' ')})`);
      up = await start();
      await settled(workspace, machine, message);
      await settled(workspace, machine, behind);
      expect(claude.prompts()).toEqual(wanted);
    }

    // Right after it was received, while it goes into the inbox, and after its receipt.
    for (const ms of [0, 8]) {
      const message = await say(`killed ${ms} ms after it was written`);
      await sleep(ms);
      await up.kill();
      up = await start();
      await settled(workspace, machine, message);
    }
    const taken = new Promise<void>((resolve) => {
      const watcher = watch(machine.home.folder('inbox'), () => {
        up.child.kill('SIGKILL');
        watcher.close();
        resolve();
      });
    });
    const message = await say('killed in the moment it was taken');
    await taken;
    up = await start();
    await settled(workspace, machine, message);
    await untilPrompts(claude, wanted);
    expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
  });
});
