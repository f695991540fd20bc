import { getEventListeners } from 'node:events';
import { expect, it, onTestFinished, vi } from 'vitest';
import { restOf } from '../support/client.ts';
import { startTestWorkspace } from '../support/workspace.ts';

it('the client leaves no listener on a long-lived signal, however often it waits', async () => {
  const any = vi.spyOn(AbortSignal, 'any');
  onTestFinished(() => any.mockRestore());
  let requests = 0;
  const workspace = await startTestWorkspace({
    faults: {
      onRequest: () => (++requests % 2 === 0 ? { kind: 'limited', retryAfterMs: 5, scope: 'user' } : undefined),
    },
  });
  const rest = restOf(workspace);
  const { signal } = new AbortController();
  for (let n = 0; n < 3; n++) await rest.call('GET', '/users/@me', { signal });
  expect(requests).toBeGreaterThan(4);
  await vi.waitFor(() => expect(getEventListeners(signal, 'abort')).toEqual([]));
  // A derived signal is kept in memory by its sources until they are gone, even without a listener.
  expect(any).not.toHaveBeenCalled();
});

it('the client stops waiting at once when its signal is aborted', async () => {
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

it('closing the client stops its waiting requests, and it sends no others', async () => {
  const workspace = await startTestWorkspace({
    faults: { onRequest: () => ({ kind: 'limited', retryAfterMs: 500, scope: 'user' }) },
  });
  const rest = restOf(workspace);
  const waiting = rest.call('GET', '/users/@me').catch((error: unknown) => error);
  await rest.close();
  await rest.close(); // closing it again does nothing
  expect(await waiting).toMatchObject({ code: 'discord_unreachable' });
  await expect(rest.call('GET', '/gateway')).rejects.toMatchObject({ code: 'discord_unreachable' });
});
