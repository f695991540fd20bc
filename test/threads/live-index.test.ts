import { expect, it } from 'vitest';
import { createLiveIndex } from '../../threads/live-index.ts';
import { openRegistry, sessionKey, type ThreadRecord, threadRecordSchema } from '../../threads/registry.ts';
import { tempHome } from '../support/temp-home.ts';

const recordOf = (thread: string, more: Partial<ThreadRecord>): ThreadRecord =>
  threadRecordSchema.parse({
    thread,
    host: 'here',
    socket: '/s',
    serverPid: 1,
    paneId: '%1',
    panePid: 1,
    sessionId: '$1',
    sessionName: 'web',
    command: 'claude',
    cwd: '/',
    claudeSession: '',
    transcript: '',
    state: 'idle',
    at: 0,
    ...more,
  });

/** The same every time. */
function openDice(): (most: number) => number {
  let seed = 7;
  return (most) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * most);
  };
}

it('finds the same threads as a search through all records, whatever happened to them', () => {
  const registry = openRegistry(tempHome());
  const dice = openDice();
  const some = (): Partial<ThreadRecord> => ({
    host: ['here', 'mini'][dice(2)] ?? '',
    serverPid: 1 + dice(2),
    sessionId: `$${dice(4)}`,
    paneId: `%${dice(4)}`,
    closed: dice(4) === 0,
    shell: dice(6) === 0 ? 'terminal' : 'no',
    group: dice(5) === 0 ? 'g' : undefined,
  });
  const search = (isIt: (one: ThreadRecord) => boolean) =>
    registry
      .all()
      .filter((one) => !one.closed && one.shell !== 'terminal' && isIt(one))
      .toSorted((a, b) => b.at - a.at)[0];
  for (let at = 1; at < 600; at++) {
    const thread = String(dice(30));
    if (dice(8) === 0) registry.forget(thread);
    else if (registry.change(thread, { ...some(), at }) === undefined)
      registry.put(recordOf(thread, { ...some(), at }));
    const { host = '', serverPid = 0, paneId = '', sessionId = '', group } = some();
    const session = { serverPid, sessionId, group };
    expect(registry.ofPane(host, serverPid, paneId)).toBe(
      search((one) => one.host === host && one.serverPid === serverPid && one.paneId === paneId),
    );
    expect(registry.ofSession(host, session)).toBe(
      search((one) => one.host === host && sessionKey(one) === sessionKey(session)),
    );
  }
});

it('knows the records that were on disk', () => {
  const home = tempHome();
  openRegistry(home).put(recordOf('1', { paneId: '%7' }));
  expect(openRegistry(home).ofPane('here', 1, '%7')?.thread).toBe('1');
});

it('looks at no other record to find one of 3,000', () => {
  let looks = 0;
  const records = Array.from({ length: 3_000 }, (_, at) => {
    const record = recordOf(String(at), { sessionId: `$${at}`, paneId: `%${at}` });
    return new Proxy(record, {
      get(target, key) {
        looks++;
        return Reflect.get(target, key);
      },
    });
  });
  const index = createLiveIndex(records, sessionKey);
  looks = 0;
  const found = [index.ofSession('here', { serverPid: 1, sessionId: '$2000' }), index.ofPane('here', 1, '%1000')];
  expect(looks).toBeLessThan(10);
  expect(found.map((one) => one?.thread)).toEqual(['2000', '1000']);
});
