// The program is killed at each step of adopting a thread that a user created from a message: after the restart there is
// one session for it, one thread, and the message was typed once.

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

it('killed at each step, a thread created by hand gets one session and its first message once', async () => {
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
  const { person, channelId } = workspace;
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
  const file = { agent: { command: [program] }, threadsStart: true };
  writeFileSync(machine.home.path('config.json'), JSON.stringify(file), { mode: 0o600 });
  const startAgain = startUp(machine, { ...machine.env }, 'bridge');
  let up = await startAgain();
  const prompts = () => readdirSync(base).map((name) => standInAt(join(base, name)).prompts().join('|'));

  for (const { name, request, when } of STEPS) {
    const message = await person.say(channelId, `do ${name}`);
    kill = up.kill;
    const killed = request === undefined ? up.killAt('new', when, 'program') : up.ended;
    if (request !== undefined) trap = { method: request[0], part: request[1].replace(':thread', message.id), when };
    const { id } = await person.startThread(channelId, message.id, name);
    await killed;
    const behind = await person.say(id, `more ${name}`);
    up = await startAgain();
    await vi.waitFor(async () => {
      for (const one of [message, behind]) {
        const { body } = await person.call('GET', `/channels/${one.channel_id}/messages/${one.id}`);
        expect((body as WireMessage).reactions?.map(({ emoji }) => emoji.name) ?? [], name).toContain('✅');
      }
    }, WAIT);
    expect(prompts().filter((one) => one.includes(name))).toEqual([`do ${name}|more ${name}`]);
  }
  const names = STEPS.map(({ name }) => name).toSorted();
  expect(machine.tmux.call('list-sessions', '-F', '#{session_name}').split('\n').toSorted()).toEqual(names);
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
}, 120_000);
