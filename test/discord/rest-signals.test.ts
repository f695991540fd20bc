import { getEventListeners } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { restOf } from '../support/client.ts';
import { startTestWorkspace } from '../support/workspace.ts';

it('leaves nothing behind on a signal that lives long, however often it waits', async () => {
  const any = vi.spyOn(AbortSignal, 'any');
  onTestFinished(() => any.mockRestore());
  let requests = 0;
  const workspace = await startTestWorkspace({
    faults: {
      onRequest: () =>
        ++requests % 2 === 0 ? { kind: 'limited', retryAfterMs: 5, scope: 'user' } : undefined,
    },
  });
  const rest = restOf(workspace);
  const { signal } = new AbortController();
  for (let n = 0; n < 3; n++) await rest.call('GET', '/users/@me', { signal });
  expect(requests).toBeGreaterThan(4);
  await vi.waitFor(() => expect(getEventListeners(signal, 'abort')).toEqual([]));
  // What it makes is held by its signals until they are gone, though nobody listens.
  expect(any).not.toHaveBeenCalled();
});

it('stops waiting at once when it is told to', async () => {
  const workspace = await startTestWorkspace({
    faults: { onRequest: () => ({ kind: 'limited', retryAfterMs: 60_000, scope: 'user' }) },
  });
  const stop = new AbortController();
  const call = restOf(workspace).call('GET', '/users/@me', { signal: stop.signal });
  await vi.waitFor(() => expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1));
  stop.abort();
  await expect(call).rejects.toMatchObject({ code: 'discord_unreachable' });
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});
