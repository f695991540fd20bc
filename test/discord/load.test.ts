// One client under load against a server that counts as strictly as Discord.

import { describe, expect, it } from 'vitest';
import { stableNonce } from '../../core/snowflake.ts';
import { createMessage, react } from '../../discord/messages.ts';
import { restOf } from '../support/client.ts';
import { startTestWorkspace, type TestWorkspace } from '../support/workspace.ts';

const AS_DISCORD = { perBucket: 5, windowMs: 1_000, globalPerSecond: 50 };

/** Threads with one message each, created by the user, who has no rate limit. */
async function makeThreads(workspace: TestWorkspace, count: number) {
  const threads: { id: string; message: string }[] = [];
  for (let n = 0; n < count; n++) {
    const start = await workspace.person.say(workspace.channelId, `start ${n}`);
    const { id } = await workspace.person.startThread(workspace.channelId, start.id, `t${n}`);
    threads.push({ id, message: (await workspace.person.say(id, 'hello')).id });
  }
  return threads;
}

describe('one client', () => {
  it('gets no 429 in 30 threads with bursts of posts, reactions and reads', async () => {
    const seen: string[] = [];
    let counting = false;
    const workspace = await startTestWorkspace({
      rateLimits: AS_DISCORD,
      faults: { onRequest: ({ method }) => void (counting && seen.push(method)) },
    });
    const threads = await makeThreads(workspace, 30);
    const told: string[] = [];
    const note = (line: string) => void told.push(line);
    const rest = restOf(workspace, { log: { info: note, warn: note, error: note } });
    counting = true;
    await Promise.all(
      threads.flatMap(({ id, message }) => [
        ...Array.from({ length: 3 }, (_, n) => createMessage(rest, id, stableNonce(id, n), { content: `post ${n}` })),
        ...['👀', '✅', '📨'].map((emoji) => react(rest, id, message, emoji)),
        ...Array.from({ length: 2 }, () => rest.call('GET', `/channels/${id}/messages?limit=1`)),
      ]),
    );
    expect(told).toEqual([]);
    expect(seen).toHaveLength(30 * 8); // nothing was sent twice
    const shown = await workspace.person.messages(threads[7]?.id ?? '');
    expect(shown.slice(0, 3).map(({ content }) => content)).toEqual(['post 2', 'post 1', 'post 0']);
  });

  it.each(['global', 'user'] as const)(
    'sends nothing before a 429 (%s) is over, including requests queued before it',
    async (scope) => {
      const at: number[] = [];
      const workspace = await startTestWorkspace({
        faults: {
          onRequest: () =>
            at.push(performance.now()) === 1 ? { kind: 'limited', retryAfterMs: 1_000, scope } : undefined,
        },
      });
      at.length = 0; // requests of the user are not counted
      const rest = restOf(workspace);
      await Promise.all(Array.from({ length: 6 }, () => rest.call('GET', '/users/@me')));
      const [refused = 0, ...later] = at;
      expect(later).toHaveLength(6);
      expect(later.filter((ms) => ms - refused < 1_000)).toEqual([]);
    },
  );
});
