// The clock of this machine may differ from Discord's by minutes: nothing is missed, nothing old is acted on, and no key is pressed twice.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { snowflakeTime } from '../../core/snowflake.ts';
import { startFakeClaude } from '../support/fake-claude.ts';
import { startMachine } from '../support/hook-process.ts';
import { buttonOf, messageNow } from '../support/prompt-pane.ts';
import { startTestWorkspace } from '../support/workspace.ts';
import { aWhile, WAIT } from './bridge-setup.ts';
import { startUp } from './killed-program.ts';

/** The real program, whose clock is ahead of the server's. */
async function startAhead(minutes: number) {
  const workspace = await startTestWorkspace();
  const { api, token, channelId, userId } = workspace;
  const servers = [{ name: 'test', api, token, channel: channelId, allow: [userId] }];
  const machine = startMachine(workspace, { config: { servers } });
  machine.startServer();
  const clock = join(machine.tmux.dir, 'clock.mjs');
  writeFileSync(clock, `const now = Date.now; Date.now = () => now() + ${minutes * 60_000};\n`);
  const env = { ...machine.env, NODE_OPTIONS: `--import=${pathToFileURL(clock)}` };
  const start = startUp(machine, env, 'up');
  const answers = async (after: string) =>
    (await workspace.person.messages(channelId, `after=${after}`)).filter(({ author }) => author.id !== userId);
  return { workspace, machine, channelId, start, answers };
}

describe('a machine whose clock differs from Discord’s', () => {
  it.each([10, -10])('by %i minutes answers what is written after the first start', async (minutes) => {
    const { workspace, channelId, start, answers } = await startAhead(minutes);
    await start();
    const said = await workspace.person.say(channelId, '!help');
    await vi.waitFor(async () => expect((await answers(said.id))[0]?.content).toContain('!new'), WAIT);
  });

  it.each([10, -10])('by %i minutes does not act on what was written before the first start', async (minutes) => {
    const { workspace, channelId, start, answers } = await startAhead(minutes);
    const before = await workspace.person.say(channelId, '!help');
    const saidAt = Date.now();
    // A server shows its clock in whole seconds.
    await vi.waitFor(() => expect(Date.now() - saidAt).toBeGreaterThan(2_500), WAIT);
    await start();
    await aWhile();
    const isHelp = async () => (await answers(before.id)).filter(({ content }) => content.includes('!new <name>'));
    expect(await isHelp()).toEqual([]);
  });

  it.each([10, -10])('by %i minutes presses no key under a screen that an earlier process showed', async (minutes) => {
    const { workspace, machine, channelId, start, answers } = await startAhead(minutes);
    const { person } = workspace;
    const up = await start();
    const claude = await startFakeClaude(machine, 'web', { replies: false });
    await claude.tell('dialog', 'make');
    const asked = await person.say(claude.thread, '!screen');
    const shown = await vi.waitFor(async () => {
      const [found] = (await person.messages(claude.thread, `after=${asked.id}`)).filter(({ components }) =>
        JSON.stringify(components).includes('key:Enter'),
      );
      if (found === undefined) throw new Error('no screen yet');
      return found;
    }, WAIT);
    up.kill();
    await up.ended;
    await vi.waitFor(() => expect(Date.now() - snowflakeTime(shown.id)).toBeGreaterThan(2_500), WAIT);
    await start();
    const said = await person.say(channelId, '!help'); // it listens when it answers
    await vi.waitFor(async () => expect(await answers(said.id)).not.toEqual([]), WAIT);
    await person.tap(claude.thread, shown.id, buttonOf(shown, 'Enter'));
    await vi.waitFor(async () => expect(await messageNow(workspace, shown)).not.toEqual(shown), WAIT);
    await aWhile();
    expect(claude.noted()).toEqual([]);
  });
});
