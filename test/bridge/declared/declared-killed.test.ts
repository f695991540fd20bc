// The whole program as a process, killed with SIGKILL in the middle of the start of a declared session, and `threadmux kill`: there is
// one session, and it gets its prompt once.

import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { loadThreadRecords } from '../../../threads/registry.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { aWhile, WAIT } from '../bridge-setup.ts';
import { startKillable } from '../killed-program.ts';
import { declaredAgent, sessionsOf, watchStarts } from './declared-setup.ts';

const PROGRAM = fileURLToPath(new URL('../../../dist/bin/threadmux.js', import.meta.url));
const SIDES = ['before', 'after'] as const;

it('a bridge that is killed at a step of the start of a declared session leaves one that gets its prompt once, until threadmux kill ends it for good', {
  timeout: 600_000,
}, async () => {
  const folder = tempFolder();
  const config = { agents: { claude: { command: [join(folder, 'claude')] } } };
  const { workspace, machine, up, again, killAtChange, ...hold } = await startKillable({ config });
  const { agent, starts } = watchStarts(folder);
  const { home, tmux } = machine;
  declaredAgent(folder, () => home.root);
  const file = home.path('config.json');
  const written = JSON.parse(readFileSync(file, 'utf8'));
  const names: string[] = [];
  /** Declares one more session, which starts at once. */
  const declare = (name: string) => {
    names.push(name);
    const sessions = names.map((one) => ({ name: one, prompt: `begin ${one}` }));
    writeFileSync(`${file}.new`, JSON.stringify({ ...written, sessions }), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  const checkAll = () => {
    for (const name of names) expect([agent(name).prompts(), starts(name)]).toEqual([[`begin ${name}`], 1]);
    expect(sessionsOf(tmux)).toEqual(names.toSorted());
  };

  for (const step of ['session', 'thread', 'message', 'inbox'] as const)
    for (const when of step === 'inbox' ? (['after'] as const) : SIDES) {
      const name = `${step}-${when}`;
      const known = [workspace.channelId, ...loadThreadRecords(home).map(({ thread }) => thread)].join('|');
      const path = step === 'thread' ? /\/threads$/ : new RegExp(`/channels/(?!${known})\\d+/messages$`);
      const killed = step === 'session' ? up().killAt('new', when, 'both') : up().ended;
      if (step === 'inbox') killAtChange(home.folder('inbox'));
      else if (step !== 'session') void hold.holdRequest('POST', path, when).then(hold.killHeld);
      declare(name);
      await killed;
      await again();
      await vi.waitFor(() => expect(agent(name).prompts()).toEqual([`begin ${name}`]), WAIT);
    }
  await aWhile(1_500);
  checkAll();

  const env = { ...machine.env, THREADMUX_TMUX_SOCKET: tmux.socket };
  const endForGood = (name: string) =>
    execFileSync(process.execPath, [PROGRAM, 'kill', name], { env, stdio: 'ignore' });
  endForGood('thread-before');
  await aWhile(3_000);
  up().kill();
  await up().ended;
  endForGood('thread-after');
  await again();
  await aWhile(4_000);
  for (const name of names) expect(starts(name)).toBe(1);
  expect(sessionsOf(tmux)).toEqual(names.filter((name) => !name.startsWith('thread-')).toSorted());
});
