// The program is killed at each step of starting a session for a message: in a thread that a user created from it, and in a
// channel that talks to a session. After the restart there is one session, one conversation, and the message was typed once.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { loadThreadRecords } from '../../threads/registry.ts';
import type { Faults } from '../support/as-discord.mjs';
import { FAKE_CLAUDE, standInAt } from '../support/fake-claude.ts';
import { DROP, startMachine, threadNames } from '../support/hook-process.ts';
import { startTestWorkspace, type WireMessage } from '../support/workspace.ts';
import { WAIT } from './bridge-setup.ts';
import { startUp } from './killed-program.ts';

interface Step {
  readonly name: string;
  /** A request with this method, whose path has this part after `:thread` was replaced. */
  readonly request?: readonly [method: string, part: string];
  readonly when: 'before' | 'after';
}

const STEPS: readonly Step[] = [
  { name: 'first-message', request: ['GET', '/messages/:thread'], when: 'before' },
  { name: 'first-message-read', request: ['GET', '/messages/:thread'], when: 'after' },
  { name: 'joined', request: ['PUT', '/channels/:thread/thread-members/@me'], when: 'after' },
  { name: 'new-session', when: 'before' },
  { name: 'new-session-started', when: 'after' },
  { name: 'renamed', request: ['PATCH', '/channels/:thread'], when: 'before' },
];

async function start(keys: object) {
  let trap: { readonly method: string; readonly part: string; readonly when: Step['when'] } | undefined;
  let kill = () => {};
  const onRequest: Faults['onRequest'] = ({ method, path }) => {
    if (trap === undefined || method !== trap.method || !path.endsWith(trap.part)) return undefined;
    const { when } = trap;
    trap = undefined;
    kill();
    return { kind: when === 'before' ? 'reset' : 'apply-then-reset' };
  };
  const workspace = await startTestWorkspace({ faults: { onRequest } });
  const { person } = workspace;
  const machine = startMachine(workspace);
  const base = join(machine.tmux.dir, 'agents');
  mkdirSync(base);
  const program = join(machine.tmux.dir, 'claude');
  const run = `exec '${process.execPath}' '${FAKE_CLAUDE}' "$d" '${DROP}'`;
  writeFileSync(
    program,
    `#!/bin/sh\nd=$(mktemp -d ${base}/XXXXXX)\nexport THREADMUX_HOME=${machine.home.root}\n${run}\n`,
    { mode: 0o755 },
  );
  const file = { agent: { command: [program] }, ...keys };
  writeFileSync(machine.home.path('config.json'), JSON.stringify(file), { mode: 0o600 });
  const startAgain = startUp(machine, { ...machine.env }, 'bridge');
  const prompts = () => readdirSync(base).map((name) => standInAt(join(base, name)).prompts().join('|'));
  const untilTyped = (...messages: readonly WireMessage[]) =>
    vi.waitFor(async () => {
      for (const { channel_id, id, content } of messages) {
        const { body } = await person.call('GET', `/channels/${channel_id}/messages/${id}`);
        expect((body as WireMessage).reactions?.map(({ emoji }) => emoji.name) ?? [], content).toContain('✅');
      }
    }, WAIT);
  return {
    ...{ workspace, machine, startAgain, prompts, untilTyped },
    sessions: () => machine.tmux.call('list-sessions', '-F', '#{session_name}').split('\n').toSorted(),
    killAtRequest(method: string, part: string, when: Step['when'], act: () => void) {
      trap = { method, part, when };
      kill = act;
    },
  };
}

it('killed at each step, a thread created by hand gets one session and its first message once', async () => {
  const { workspace, machine, startAgain, prompts, untilTyped, ...is } = await start({ threadsStart: true });
  const { person, channelId } = workspace;
  let up = await startAgain();
  for (const { name, request, when } of STEPS) {
    const message = await person.say(channelId, `do ${name}`);
    const killed = request === undefined ? up.killAt('new', when, 'program') : up.ended;
    if (request !== undefined) is.killAtRequest(request[0], request[1].replace(':thread', message.id), when, up.kill);
    const { id } = await person.startThread(channelId, message.id, name);
    await killed;
    const behind = await person.say(id, `more ${name}`);
    up = await startAgain();
    await untilTyped(message, behind);
    expect(prompts().filter((one) => one.includes(name))).toEqual([`do ${name}|more ${name}`]);
  }
  const names = STEPS.map(({ name }) => name).toSorted();
  expect(is.sessions()).toEqual(names);
  expect(
    loadThreadRecords(machine.home)
      .map(({ sessionName }) => sessionName)
      .toSorted(),
  ).toEqual(names);
  await vi.waitFor(
    async () => expect(await threadNames(workspace)).toEqual(names.map((name) => `[agent] ${name}`)),
    WAIT,
  );
  up.kill();
}, 300_000);

it('killed before or after its session starts, a channel that talks to one starts it once', async () => {
  const { workspace, machine, startAgain, prompts, untilTyped, sessions } = await start({ talk: 'main' });
  const { person, channelId } = workspace;
  let up = await startAgain();
  for (const when of ['before', 'after'] as const) {
    const killed = up.killAt('new', when, 'program');
    const message = await person.say(channelId, `do ${when}`);
    await killed;
    const behind = await person.say(channelId, `more ${when}`);
    up = await startAgain();
    await untilTyped(message, behind);
    expect(prompts().filter((one) => one.includes(when))).toEqual([`do ${when}|more ${when}`]);
    expect([sessions(), loadThreadRecords(machine.home).length]).toEqual([['main'], 1]);
    machine.tmux.call('kill-session', '-t', '=main');
  }
  expect(await threadNames(workspace)).toEqual([]);
  up.kill();
}, 120_000);
