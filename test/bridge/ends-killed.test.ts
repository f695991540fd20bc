// The program is killed while it tells the end of a session: after its next start, the thread is archived and says it once.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { saveAutoThreads } from '../../home/installed.ts';
import { threadNames, threadsOf } from '../support/hook-process.ts';
import { WAIT } from './bridge-setup.ts';
import { startKillable } from './killed-program.ts';

const STEPS = [
  ['POST', '/messages', 'before'],
  ['POST', '/messages', 'after'],
  ['PATCH', '/channels/', 'before'],
  ['PATCH', '/channels/', 'after'],
] as const;

describe('threadmux up, killed while a session ends', { timeout: 120_000 }, () => {
  it.each(['by hand', 'by !kill'])('%s, archives its thread and says it once', async (how) => {
    const { workspace, machine, up, again, killAtRequest } = await startKillable();
    const { person, channelId, botId } = workspace;
    const { tmux, home } = machine;
    saveAutoThreads(home, true);
    const hint = (name: string) => writeFileSync(join(home.path('state', 'tmux-events'), name), '');
    const titles: string[] = [];
    for (const [method, part, when] of STEPS) {
      const name = `${method}-${when}`.toLowerCase();
      tmux.call('new-session', '-d', '-s', name, 'cat');
      hint(name);
      await vi.waitFor(async () => expect(await threadNames(workspace)).toContain(`[agent] ${name}`), WAIT);
      killAtRequest(method, part, when);
      if (how === 'by hand') {
        tmux.call('kill-session', '-t', `=${name}`);
        hint(name);
      } else await person.say(channelId, `!kill ${name}`);
      await up().ended;
      await again();
      titles.push(`([agent] ${name})`);
      await vi.waitFor(async () => expect(await threadNames(workspace)).toEqual(titles.toSorted()), WAIT);
      const thread = (await threadsOf(workspace)).find((one) => one.name === `[agent] ${name}`)?.id ?? '';
      const said = (await person.messages(thread)).filter(
        ({ author, content }) => author.id === botId && content.startsWith('⏹️'),
      );
      expect(said, name).toHaveLength(1);
    }
  });
});
