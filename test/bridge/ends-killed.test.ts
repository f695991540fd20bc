// The program is killed while it tells the end of a session: after its next start, the thread is archived and says it once.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { saveAutoThreads } from '../../home/installed.ts';
import { threadNames, threadsOf } from '../support/hook-process.ts';
import { WAIT } from './bridge-setup.ts';
import { startKillable } from './killed-program.ts';

/** The path after the thread. */
const STEPS = [
  ['POST', '/messages', 'before'],
  ['POST', '/messages', 'after'],
  ['PATCH', '', 'before'],
  ['PATCH', '', 'after'],
] as const;

it('threadmux up, killed while sessions end by hand and by !kill, archives each thread and says it once', {
  timeout: 600_000,
}, async () => {
  const { workspace, machine, again, holdRequest, killHeld } = await startKillable();
  const { person, channelId, botId } = workspace;
  const { tmux, home } = machine;
  saveAutoThreads(home, true);
  const hint = (name: string) => writeFileSync(join(home.path('state', 'tmux-events'), name), '');
  const threadOf = async (name: string) =>
    (await threadsOf(workspace)).find((one) => one.name === `[agent] ${name}`)?.id ??
    expect.fail(`${name} has no thread`);
  const titles: string[] = [];
  for (const [method, part, when] of STEPS) {
    // Both wait at this step, and the program is killed once for them.
    const [killed, closed] = ['killed', 'closed'].map((how) => `${how}-${method}-${when}`.toLowerCase()) as [
      string,
      string,
    ];
    for (const name of [killed, closed]) {
      tmux.call('new-session', '-d', '-s', name, 'cat');
      hint(name);
    }
    const threads = await vi.waitFor(() => Promise.all([killed, closed].map(threadOf)), WAIT);
    const [first, second] = threads.map((thread) =>
      holdRequest(method, new RegExp(`/channels/${thread}${part}$`), when),
    );
    await person.say(channelId, `!kill ${killed}`);
    await first;
    tmux.call('kill-session', '-t', `=${closed}`);
    hint(closed);
    await second;
    await killHeld();
    await again();
    titles.push(`([agent] ${killed})`, `([agent] ${closed})`);
    await vi.waitFor(async () => expect(await threadNames(workspace)).toEqual(titles.toSorted()), WAIT);
    for (const thread of threads) {
      const said = (await person.messages(thread)).filter(
        ({ author, content }) => author.id === botId && content.startsWith('⏹️'),
      );
      expect(said, `${method} ${when}`).toHaveLength(1);
    }
  }
});
