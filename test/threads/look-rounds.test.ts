import { expect, it, onTestFinished, vi } from 'vitest';
import { silentLog } from '../../core/log.ts';
import type { Host } from '../../hosts/host.ts';
import { createLooks } from '../../threads/look-rounds.ts';
import { toSessionPane } from '../../threads/panes.ts';
import { type ThreadRecord, threadRecordSchema } from '../../threads/registry.ts';
import type { HostList } from '../../tmux/host-list.ts';
import { listSessions } from '../../tmux/sessions.ts';
import { startTmux } from '../support/tmux-server.ts';

const WAIT = { timeout: 10_000, interval: 20 };

/** A pane on "another host", which is this machine and counts its calls. */
async function start(readMs = 0) {
  const server = startTmux();
  server.call('new-session', '-d', '-s', 'web', 'cat');
  const [session] = await listSessions(server.tmux);
  if (session === undefined) throw new Error('there is no session');
  const record: ThreadRecord = threadRecordSchema.parse({
    ...toSessionPane('far', server.socket, session),
    thread: '1',
    cwd: '/',
    claudeSession: 'x',
    transcript: '',
    state: 'idle',
    at: 0,
  });
  const counts = { calls: 0 };
  const far: Host = {
    ...server.host,
    sh(...call) {
      counts.calls++;
      return server.host.sh(...call);
    },
  };
  const hosts = { get: () => far, names: () => ['far'], isLocal: () => false } as unknown as HostList;
  const state = { isActive: false, changedAt: 0, looks: 0 };
  const looks = createLooks({
    hosts,
    log: silentLog,
    isAway: () => false,
    again: () => {},
    unchanged: () => {},
    isActive: () => state.isActive,
    isUnsure: () => false,
    changedAt: () => state.changedAt,
    took() {
      state.looks++;
      for (const until = performance.now() + readMs; performance.now() < until; );
    },
  });
  onTestFinished(() => looks.close());
  looks.roundThere([record]);
  await vi.waitFor(() => expect(state.looks).toBe(1), WAIT);
  return { looks, record, state, counts };
}

it('a session on another host that has just become active is looked at a moment later, not at once', async () => {
  const { looks, record, state, counts } = await start();
  await new Promise((resolve) => setTimeout(resolve, 1_600)); // the last look is old
  const before = counts.calls;
  // A message for it arrives: the delivery itself looks at the pane.
  Object.assign(state, { isActive: true, changedAt: Date.now() });
  looks.roundThere([record]);
  expect(counts.calls).toBe(before);
  await vi.waitFor(() => {
    looks.roundThere([record]);
    expect(state.looks).toBe(2);
  }, WAIT);
});

it('an idle session on another host is looked at when something moved there, and not otherwise', async () => {
  const { looks, record, state, counts } = await start();
  await new Promise((resolve) => setTimeout(resolve, 1_600));
  const before = counts.calls;
  looks.roundThere([record]);
  expect(counts.calls).toBe(before);
  looks.news('far', 'moved', ['1']);
  looks.roundThere([record]);
  await vi.waitFor(() => expect(state.looks).toBe(2), WAIT);
});

it('a host whose screens take long to read is left alone four times as long', async () => {
  const { looks, record, state } = await start(300);
  const readAt = performance.now();
  looks.news('far', 'reachable', ['1']); // it is due at once
  await vi.waitFor(() => {
    looks.roundThere([record]);
    expect(state.looks).toBe(2);
  }, WAIT);
  expect(performance.now() - readAt).toBeGreaterThan(1_000);
});
