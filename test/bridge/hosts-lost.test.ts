// The connection to a host is cut repeatedly while three sessions there reply, also while a letter is on our disk and not
// acknowledged yet: each reply is posted once, and those of a session in order.

import { readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WAIT } from './bridge-setup.ts';
import { farWithHooks, startFar } from './remote-host.ts';

const SESSIONS = ['api', 'shop', 'web'] as const;
const REPLIES = 10;
const CUT_AT = [4, 9, 17, 26, 38, 45];

it('posts 30 replies of 3 sessions once and in order, through six lost connections', async () => {
  const far = await startFar();
  const claudes = await Promise.all(SESSIONS.map((name) => farWithHooks(far, far, name)));
  const seen = new Set<string>();
  let cuts = 0;
  const outbox = far.machine.home.path('outbox', '@far');
  const watcher = watch(outbox, { recursive: true }, (_, name) => {
    if (name === null || !/\/\d+\.\d+$/.test(name) || seen.has(name)) return;
    if (!CUT_AT.includes(seen.add(name).size)) return;
    far.ssh.drop();
    cuts++;
  });
  onTestFinished(() => watcher.close());
  const texts = Array.from({ length: REPLIES }, (_, n) => `reply ${n}`);
  for (const text of texts)
    for (const name of SESSIONS) far.place.tmux.call('send-keys', '-t', `=${name}:`, text, 'Enter');
  for (const claude of claudes) {
    await vi.waitFor(() => expect(claude.prompts()).toEqual(texts), WAIT);
    await vi.waitFor(async () => {
      const all = (await far.answers(claude)).map(({ content }) => content).join('\n');
      expect(all.match(/(?<=Echo: ).*/g)).toEqual(texts);
    }, WAIT);
  }
  expect(cuts).toBe(CUT_AT.length);
  // A letter that was sent again without an acknowledgement was stored once: at most a start and two numbers per reply.
  const last = claudes.map((claude) => {
    const { serverPid, paneId } = claude.record();
    return readFileSync(join(outbox, `${serverPid}.${paneId.slice(1)}`, '.last'), 'utf8');
  });
  const number = 100_000_001 + 2 * texts.length;
  expect(last).toEqual(SESSIONS.map(() => expect.stringContaining(`"number":${number},`)));
});
