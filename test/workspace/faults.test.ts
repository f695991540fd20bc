import { describe, expect, it } from 'vitest';
import type { Fault } from '../support/as-discord.mjs';
import { startTestWorkspace } from '../support/workspace.ts';

/** One fault for the bot's first message, none after it. */
async function withFault(fault: Fault) {
  let left = 1;
  const workspace = await startTestWorkspace({
    faults: {
      onRequest: ({ method, path }) =>
        method === 'POST' && path.endsWith('/messages') && left-- > 0 ? fault : undefined,
    },
  });
  const post = () => workspace.bot('POST', `/channels/${workspace.channelId}/messages`, { content: 'x' });
  const kept = async () => (await workspace.person.messages(workspace.channelId)).length;
  return { workspace, post, kept };
}

describe('an injected fault', () => {
  it.each<[string, Fault, number, number]>([
    ['answers before applying', { kind: 'answer', status: 502 }, 502, 0],
    ['answers 500 after applying', { kind: 'apply-then-answer', status: 500 }, 500, 1],
    ['delays', { kind: 'delay', ms: 20 }, 200, 1],
    ['limits one class', { kind: 'limited', retryAfterMs: 1500, scope: 'shared' }, 429, 0],
    ['limits everything', { kind: 'limited', retryAfterMs: 1500, scope: 'global' }, 429, 0],
    ['bans with a page', { kind: 'banned', as: 'html' }, 429, 0],
    ['bans with JSON', { kind: 'banned', as: 'json' }, 429, 0],
  ])('%s', async (_, fault, status, count) => {
    const { post, kept } = await withFault(fault);
    const answer = await post();
    expect(answer.status).toBe(status);
    expect(await kept()).toBe(count);
    if (fault.kind === 'limited') {
      expect(answer.body).toMatchObject({ retry_after: 1.5, global: fault.scope === 'global' });
      expect(answer.headers.get('x-ratelimit-scope')).toBe(fault.scope);
    }
    if (fault.kind === 'banned') expect(answer.headers.get('retry-after')).toBeNull();
    expect((await post()).status).toBe(200);
  });

  it.each<[string, Fault, number]>([
    ['resets the connection before applying', { kind: 'reset' }, 0],
    ['resets the connection after applying', { kind: 'apply-then-reset' }, 1],
  ])('%s', async (_, fault, count) => {
    const { post, kept } = await withFault(fault);
    await expect(post()).rejects.toThrow('fetch failed');
    expect(await kept()).toBe(count);
  });

  it.each<[string, Fault, number]>([
    ['never answers', { kind: 'silence' }, 0],
    ['applies and never answers', { kind: 'apply-then-silence' }, 1],
  ])('%s', async (_, fault, count) => {
    const { workspace, kept } = await withFault(fault);
    const asked = fetch(`${workspace.api}/channels/${workspace.channelId}/messages`, {
      method: 'POST',
      headers: {
        authorization: `Bot ${workspace.token}`,
        'user-agent': 'DiscordBot (x, 1)',
        'content-type': 'application/json',
      },
      body: '{"content":"x"}',
      signal: AbortSignal.timeout(300),
    });
    await expect(asked).rejects.toThrow(/timeout/);
    expect(await kept()).toBe(count);
  });
});
