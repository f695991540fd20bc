// The whole program as a process, killed with SIGKILL in the middle of the start of a declared session, and `threadmux kill`: there is
// one session, and it gets its prompt once.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { holderOf } from '../../../home/lock.ts';
import type { Faults } from '../../support/as-discord.mjs';
import { startMachine } from '../../support/hook-process.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { startTestWorkspace } from '../../support/workspace.ts';
import { aWhile, WAIT } from '../bridge-setup.ts';
import { declaredAgent, sessionsOf, watchStarts } from './declared-setup.ts';

const PROGRAM = fileURLToPath(new URL('../../../dist/bin/threadmux.js', import.meta.url));

/** Kills the bridge, and the script that runs tmux, when a session is created. */
const TMUX = (trap: string, lock: string) => `#!/bin/sh
PATH=\${PATH#*:}
case "$*" in *new-session*) read -r when < '${trap}' 2>/dev/null ;; esac
[ -n "$when" ] || exec tmux "$@"
rm -f '${trap}'
[ "$when" = before ] || tmux "$@"
kill -9 "$(sed 's/[^0-9]*\\([0-9]*\\).*/\\1/' '${lock}')" $PPID
`;

async function start() {
  let trap: { readonly part: RegExp; readonly when: 'before' | 'after' } | undefined;
  const onRequest: Faults['onRequest'] = ({ method, path }) => {
    if (trap === undefined || method !== 'POST' || !trap.part.test(path)) return undefined;
    if (holderOf(lock) === undefined) return undefined; // a courier asks, while the bridge is down
    const { when } = trap;
    trap = undefined;
    kill();
    return { kind: when === 'before' ? 'reset' : 'apply-then-reset' };
  };
  const workspace = await startTestWorkspace({ faults: { onRequest } });
  const machine = startMachine(workspace);
  const folder = tempFolder();
  const bin = join(machine.tmux.dir, 'bin');
  const lock = machine.home.path('state', 'bridge.lock');
  mkdirSync(bin);
  writeFileSync(join(bin, 'tmux'), TMUX(join(bin, 'trap'), lock), { mode: 0o755 });
  const program = declaredAgent(folder, () => machine.home.root);
  const { api, token, channelId: channel, userId } = workspace;
  // With the token in its environment, the program would start a second process that does the work.
  const servers = [{ name: 'test', api, token, channel, allow: [userId] }];
  const file = { servers, agent: { command: [program] }, sessions: [{ name: 'shop', prompt: 'begin' }] };
  writeFileSync(machine.home.path('config.json'), JSON.stringify(file), { mode: 0o600 });
  const env = {
    ...{ ...machine.env, SHELL: '/bin/sh' },
    ...{ PATH: `${bin}:${machine.env.PATH}`, THREADMUX_TMUX_SOCKET: machine.tmux.socket },
  };
  const kill = () => {
    const pid = holderOf(lock);
    if (pid !== undefined) process.kill(pid, 'SIGKILL'); // 0 would be the test itself
  };
  const up = async () => {
    const child = spawn(process.execPath, [PROGRAM, 'up'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    return once(child, 'exit');
  };
  return {
    ...{ workspace, machine, env, kill, up, ...watchStarts(folder) },
    /** On a busy machine it takes a while. */
    untilUp: () => vi.waitFor(() => expect(holderOf(lock)).toBeDefined(), WAIT),
    atNewSession: (when: string) => writeFileSync(join(bin, 'trap'), `${when}\n`),
    atRequest: (part: RegExp, when: 'before' | 'after') => {
      trap = { part, when };
    },
  };
}

describe('a bridge that is killed while a declared session starts', () => {
  it.each([
    ['before tmux created it', 'new-session before'],
    ['after tmux created it', 'new-session after'],
    ['before its thread was created', '/threads$ before'],
    ['after its thread was created', '/threads$ after'],
    ['before the first message in its thread', 'message before'],
    ['after the first message in its thread', 'message after'],
    ['when its prompt was stored', 'inbox'],
  ])('%s, leaves one session that gets its prompt once', async (_, step) => {
    const { workspace, machine, kill, up, atNewSession, atRequest, agent, ...more } = await start();
    const [what = '', when] = step.split(' ') as [string, 'before' | 'after'];
    if (what === 'new-session') atNewSession(when);
    else if (what === 'inbox') {
      const watcher = watch(machine.home.folder('inbox'), () => {
        watcher.close();
        kill();
      });
    } else
      atRequest(
        what === 'message' ? new RegExp(`/channels/(?!${workspace.channelId})\\d+/messages$`) : /\/threads$/,
        when,
      );
    await up();
    const again = up();
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['begin']), WAIT);
    await aWhile(1_500);
    expect(agent('shop').prompts()).toEqual(['begin']);
    expect([sessionsOf(machine.tmux), more.starts('shop')]).toEqual([['shop'], 1]);
    kill();
    await again;
  });
});

describe('threadmux kill', () => {
  it.each(['while the bridge runs', 'while the bridge is down'])(
    '%s, ends a declared session for good',
    async (state) => {
      const { machine, env, kill, up, untilUp, untilStarts, starts } = await start();
      const first = up();
      await untilStarts('shop', 1);
      await aWhile(1_500);
      if (state.endsWith('down')) {
        kill();
        await first;
      }
      execFileSync(process.execPath, [PROGRAM, 'kill', 'shop'], { env, stdio: 'ignore' });
      await aWhile(3_000);
      if (!state.endsWith('down')) {
        kill();
        await first;
      }
      const second = up();
      await untilUp();
      await aWhile(4_000);
      expect(starts('shop')).toBe(1);
      expect(() => sessionsOf(machine.tmux)).toThrow();
      kill();
      await second;
    },
  );
});
