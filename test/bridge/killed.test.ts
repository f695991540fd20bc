// The whole program as a process, killed with SIGKILL at every step of a message and restarted: nothing is lost, repeated or
// out of order, and the marks are right at the end. A wrapper around the real tmux does the killing, exactly at the step.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { holderOf } from '../../home/lock.ts';
import { loadThreadRecords } from '../../threads/registry.ts';
import type { Faults } from '../support/as-discord.mjs';
import { startFakeClaude } from '../support/fake-claude.ts';
import { type Machine, startMachine } from '../support/hook-process.ts';
import { startTestWorkspace, type TestWorkspace, type UploadedFile, type WireMessage } from '../support/workspace.ts';
import { WAIT } from './bridge-setup.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/bin/threadmux.js', import.meta.url));

/** Waits for the step in the file `trap`, and kills the process whose number is there; `both` also kills its script. */
const TMUX = (trap: string) => `#!/bin/sh
case "$*" in
  *run-shell*capture-pane*) step=seen ;;
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
  readonly ended: Promise<unknown>;
  /** Kills it at a step. */
  killAt(step: string, when: 'before' | 'after', whom: 'program' | 'both'): Promise<void>;
  kill(): void;
}

function startUp(machine: Machine, env: Record<string, string>, command: string): () => Promise<Running> {
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

/** Calls `act` at the first change in a folder for which `isIt` holds. */
function atChange(folder: string, act: () => void, isIt: () => boolean = () => true): void {
  const watcher = watch(folder, () => {
    if (!isIt()) return;
    watcher.close();
    act();
  });
}

/** `local`: the bridge uses the workspace as a local one and not as Discord, so it downloads its files. */
async function start({ local = false } = {}) {
  let onMark: { method: string; part: string; when: 'before' | 'after'; act: () => void } | undefined;
  const onRequest: Faults['onRequest'] = ({ method, path }) => {
    const trap = onMark;
    if (trap === undefined || method !== trap.method) return undefined;
    if (!path.includes(encodeURIComponent(trap.part)) && !path.includes(trap.part)) return undefined;
    onMark = undefined;
    trap.act();
    return { kind: trap.when === 'before' ? 'reset' : 'apply-then-reset' };
  };
  const workspace = await startTestWorkspace({ faults: { onRequest } });
  const machine = startMachine(workspace);
  const env: Record<string, string> = {
    ...machine.env,
    ...(local
      ? {}
      : {
          DISCORD_API_BASE: workspace.api,
          DISCORD_BOT_TOKEN: workspace.token,
          DISCORD_CHANNEL_ID: workspace.channelId,
          DISCORD_ALLOWED_USERS: workspace.userId,
        }),
  };
  const startAgain = startUp(machine, env, local ? 'bridge' : 'up');
  let up = await startAgain();
  const claude = await startFakeClaude({ ...machine, env }, 'web', { replies: false });
  const wanted: string[] = [];
  const say = (text: string, files: readonly UploadedFile[] = []) => {
    wanted.push(text);
    return workspace.person.say(claude.thread, text, { files });
  };
  const words = () => claude.prompts().map((prompt) => prompt.split('\n')[0]);
  return {
    ...{ workspace, machine, claude, wanted, say },
    up: () => up,
    async again() {
      up = await startAgain();
    },
    /** Kills it before or after a request with this part in its path is carried out. */
    killAtRequest: (method: string, part: string, when: 'before' | 'after', act: () => void) => {
      onMark = { method, part, when, act };
    },
    /** Writes one more message while it is down; then everything is typed once, in order, and marked. */
    async recover(message: WireMessage) {
      const behind = await say(`written while it was away (${message.content})`);
      up = await startAgain();
      await settled(workspace, machine, message);
      await settled(workspace, machine, behind);
      expect(words()).toEqual(wanted);
    },
  };
}

describe('threadmux up, killed', () => {
  it.each([
    ['load', 'before', 'both'],
    ['text', 'after', 'program'],
    ['text', 'after', 'both'],
    ['seen', 'after', 'both'],
    ['enter', 'before', 'both'],
    ['enter', 'after', 'program'],
    ['enter', 'after', 'both'],
  ] as const)(
    'at the step %s of typing (%s, %s), loses and repeats nothing',
    {
      timeout: 90_000,
    },
    async (at, when, whom) => {
      const { up, say, recover, claude } = await start();
      const killed = up().killAt(at, when, whom);
      const message = await say('killed');
      await killed;
      await recover(message);
      expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
    },
  );

  it.each([
    ['as soon as it was written', 'accepted'],
    ['when it is on disk', 'on disk'],
    ['when its files were fetched', 'files'],
    ['when its receipt was written', 'letter'],
    ['when its receipt was noted', 'noted'],
    ['before its first reaction was set', '/reactions/ before'],
    ['after its first reaction was set', '/reactions/ after'],
    ['before ✅ was set', '✅ before'],
    ['after ✅ was set', '✅ after'],
  ] as const)('%s, loses and repeats nothing', { timeout: 90_000 }, async (_, step) => {
    const local = step === 'files';
    const { up, say, recover, claude, machine, killAtRequest } = await start({ local });
    const kill = () => up().kill();
    const { home } = machine;
    const [mark = '', when] = step.split(' ');
    const { serverPid, paneId, thread } = claude.record();
    if (step === 'on disk') atChange(home.folder('inbox'), kill);
    if (step === 'files') atChange(home.folder('files'), kill);
    if (step === 'letter') atChange(home.path('outbox', `${serverPid}.${paneId.replace('%', '')}`), kill);
    if (step === 'noted')
      atChange(home.folder('threads'), kill, () =>
        Boolean(
          loadThreadRecords(home)
            .find((one) => one.thread === thread)
            ?.deliveries.some((one) => one.state === 'submitted'),
        ),
      );
    if (when === 'before' || when === 'after') killAtRequest('PUT', mark, when, kill);
    const files = local ? [{ name: 'a.txt', data: 'text' }] : [];
    const message = await say('killed', files);
    if (step === 'accepted') kill();
    await up().ended;
    await recover(message);
    expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
  });

  it.each([
    ['before its notice was posted', 'POST', '/messages', 'before'],
    ['after its notice was posted', 'POST', '/messages', 'after'],
    ['before its notice was deleted', 'DELETE', '/messages/', 'before'],
    ['after its notice was deleted', 'DELETE', '/messages/', 'after'],
  ] as const)('%s, leaves no second notice and none at the end', { timeout: 90_000 }, async (_, method, part, when) => {
    const { up, say, recover, claude, workspace, killAtRequest } = await start();
    const notices = async () => {
      const all = await workspace.person.messages(claude.thread);
      return all.filter(({ content }) => content.startsWith('📨 Your message waits'));
    };
    await claude.tell('dialog', 'make');
    const message = await say('killed');
    const isDeleted = method === 'DELETE';
    if (isDeleted) await vi.waitFor(async () => expect(await notices()).toHaveLength(1), WAIT);
    killAtRequest(method, part, when, () => up().kill());
    if (isDeleted) await claude.tell('close');
    await up().ended;
    // The reason is another one after the restart, so that the nonce of the first notice does not help.
    const choice = { title: 'Select model', options: ['Default', 'Opus'], at: 0, numbered: true };
    if (!isDeleted) await claude.tell('close');
    if (!isDeleted) await claude.tell('choice', choice);
    const recovered = recover(message);
    if (!isDeleted) {
      await vi.waitFor(
        async () =>
          expect((await notices()).map(({ content }) => content)).toEqual([expect.not.stringContaining('permission')]),
        WAIT,
      );
      await claude.tell('choice', undefined);
    }
    await recovered;
    expect(await notices()).toEqual([]);
  });

  it.each([
    ['before it was posted', 'POST before'],
    ['after it was posted', 'POST after'],
    ['when it is in the inbox', 'inbox'],
  ] as const)('%s, sends a scheduled message once', { timeout: 90_000 }, async (_, step) => {
    const { up, again, claude, workspace, machine, killAtRequest } = await start();
    const { home } = machine;
    const kill = () => up().kill();
    const posts = async (text: RegExp) =>
      (await workspace.person.messages(claude.thread)).filter(({ content }) => text.test(content));
    await workspace.person.say(claude.thread, '!at +4s killed');
    await vi.waitFor(async () => expect(await posts(/^⏰ Scheduled/)).toHaveLength(1), WAIT);
    const [method = '', when] = step.split(' ');
    if (when === 'before' || when === 'after') killAtRequest(method, '/messages', when, kill);
    if (step === 'inbox') atChange(home.folder('inbox'), kill);
    await up().ended;
    await again();
    const [message] = await vi.waitFor(async () => {
      const found = await posts(/^killed\n-# ⏰/);
      expect(found).toHaveLength(1);
      return found;
    }, WAIT);
    if (message !== undefined) await settled(workspace, machine, message);
    expect(claude.prompts()).toEqual(['killed']);
  });
});
