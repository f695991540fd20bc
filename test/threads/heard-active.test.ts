import { expect, it } from 'vitest';
import { threadRecordSchema } from '../../threads/registry.ts';
import { startSetting } from '../bridge/bridge-setup.ts';

it('thousands of threads that were archived meanwhile are not written all at once, and what is heard later wins', async () => {
  const { threads } = (await startSetting()).shared;
  const { registry } = threads;
  const record = {
    host: 'far',
    socket: '/s',
    serverPid: 1,
    panePid: 1,
    sessionName: 'x',
    command: 'claude',
    channel: '77',
    cwd: '/',
    claudeSession: '',
    transcript: '',
    state: 'idle',
    at: 1,
  };
  const all = Array.from({ length: 100 }, (_, at) => `${1_000 + at}`);
  for (const thread of all)
    registry.put(threadRecordSchema.parse({ ...record, thread, sessionId: `$${thread}`, paneId: `%${thread}` }));
  const archived = () => all.filter((thread) => registry.get(thread)?.archived === 'person');
  const done = threads.heardActive(['77'], new Set(['1005']));
  expect(archived().length).toBeLessThan(50);
  threads.heard('1099', false);
  await done;
  expect(archived()).toEqual(all.filter((thread) => !['1005', '1099'].includes(thread)));
});
