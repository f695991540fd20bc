// The program is killed at each step of starting a session for a message: in a thread that a user created from it, and in a
// channel that talks to a session. After the restart there is one session, one conversation, and the message was typed once.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { loadThreadRecords } from '../../threads/registry.ts';
import { FAKE_CLAUDE, standInAt } from '../support/fake-claude.ts';
import { DROP, threadNames } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import type { WireMessage } from '../support/workspace.ts';
import { WAIT } from './bridge-setup.ts';
import { startKillable } from './killed-program.ts';

async function start(keys: object) {
  const base = tempFolder();
  const agents = join(base, 'agents');
  mkdirSync(agents);
  const program = join(base, 'claude');
  const config = { agents: { claude: { command: [program] } }, ...keys };
  const killable = await startKillable({ local: true, config });
  const { workspace, machine } = killable;
  const run = `exec '${process.execPath}' '${FAKE_CLAUDE}' "$d" '${DROP}'`;
  const home = `export THREADMUX_HOME=${machine.home.root}`;
  writeFileSync(program, `#!/bin/sh\nd=$(mktemp -d ${agents}/XXXXXX)\n${home}\n${run}\n`, { mode: 0o755 });
  return {
    ...killable,
    prompts: () => readdirSync(agents).map((name) => standInAt(join(agents, name)).prompts().join('|')),
    untilTyped: (...messages: readonly WireMessage[]) =>
      vi.waitFor(async () => {
        for (const { channel_id, id, content } of messages) {
          const { body } = await workspace.person.call('GET', `/channels/${channel_id}/messages/${id}`);
          expect((body as WireMessage).reactions?.map(({ emoji }) => emoji.name) ?? [], content).toContain('✅');
        }
      }, WAIT),
    sessions: () => machine.tmux.call('list-sessions', '-F', '#{session_name}').split('\n').toSorted(),
  };
}

it('killed at each step, a thread created by hand gets one session and its first message once', async () => {
  const { workspace, machine, again, prompts, untilTyped, sessions, ...hold } = await start({ threadsStart: true });
  const { person, channelId } = workspace;
  const { holdRequest, holdTmux } = hold;
  const steps: Readonly<Record<string, (thread: string) => Promise<void>>> = {
    'first-message': (id) => holdRequest('GET', new RegExp(`/messages/${id}$`), 'before'),
    'first-message-read': (id) => holdRequest('GET', new RegExp(`/messages/${id}$`), 'after'),
    renamed: (id) => holdRequest('PATCH', new RegExp(`/channels/${id}$`), 'before'),
    'new-session': () => holdTmux(undefined, 'new', 'before', 'program'),
    'new-session-started': () => holdTmux(undefined, 'new', 'after', 'program'),
    joined: (id) => holdRequest('PUT', new RegExp(`/channels/${id}/thread-members/@me$`), 'after'),
  };
  // One thread waits at each step, and the program is killed once for several of them; the last one is killed at once.
  const rounds = [
    ['first-message', 'first-message-read', 'renamed', 'new-session'],
    ['new-session-started', 'joined'],
  ];
  for (const round of rounds) {
    const said: WireMessage[] = [];
    const threads: string[] = [];
    for (const name of round) {
      const message = await person.say(channelId, `do ${name}`);
      const reached = steps[name]?.(message.id);
      threads.push((await person.startThread(channelId, message.id, name)).id);
      said.push(message);
      await reached;
    }
    await hold.killHeld();
    for (const [n, id] of threads.entries()) said.push(await person.say(id, `more ${round[n]}`));
    await again();
    await untilTyped(...said);
    for (const name of round)
      expect(prompts().filter((one) => one.split('|').includes(`do ${name}`))).toEqual([`do ${name}|more ${name}`]);
  }
  const names = rounds.flat().toSorted();
  expect(sessions()).toEqual(names);
  const recorded = loadThreadRecords(machine.home).map(({ sessionName }) => sessionName);
  expect(recorded.toSorted()).toEqual(names);
  await vi.waitFor(
    async () => expect(await threadNames(workspace)).toEqual(names.map((name) => `[agent] ${name}`)),
    WAIT,
  );
}, 300_000);

it('killed before or after its session starts, a channel that talks to one starts it once', async () => {
  const { workspace, machine, up, again, prompts, untilTyped, sessions } = await start({ talk: 'main' });
  const { person, channelId } = workspace;
  for (const when of ['before', 'after'] as const) {
    const killed = up().killAt('new', when, 'program');
    const message = await person.say(channelId, `do ${when}`);
    await killed;
    const behind = await person.say(channelId, `more ${when}`);
    await again();
    await untilTyped(message, behind);
    expect(prompts().filter((one) => one.includes(when))).toEqual([`do ${when}|more ${when}`]);
    expect([sessions(), loadThreadRecords(machine.home).length]).toEqual([['main'], 1]);
    machine.tmux.call('kill-session', '-t', '=main');
  }
  expect(await threadNames(workspace)).toEqual([]);
}, 120_000);
