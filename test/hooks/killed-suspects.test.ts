// Letters that kill the courier are set aside; those of other panes, which were only handled beside them, are posted.

import { readdirSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { type Courier, type Machine, saidIn, soon, startMachine, stopInput } from '../support/hook-process.ts';
import { startTestWorkspace } from '../support/workspace.ts';

type Answer = { readonly kind: 'limited'; readonly retryAfterMs: number; readonly scope: 'user' };
const LIMITED: Answer = { kind: 'limited', retryAfterMs: 3_000, scope: 'user' };

/** A server that kills the courier when it is sent a text with "deadly", and answers "harmless" as told. */
async function startDeadlyServer(toHarmless: () => Answer | { kind: 'delay'; ms: number } | undefined) {
  const kills: string[] = [];
  let courier: Courier | undefined;
  const workspace = await startTestWorkspace({
    faults: {
      onRequest({ method, body }) {
        if (method === 'GET' || courier === undefined) return undefined;
        const text = JSON.stringify(body ?? '');
        if (text.includes('harmless')) return toHarmless();
        const [deadly] = text.match(/deadly \d/) ?? [];
        if (deadly === undefined) return undefined;
        kills.push(deadly);
        courier.child.kill('SIGKILL');
        return { kind: 'reset' };
      },
    },
  });
  const machine = startMachine(workspace);
  const isDone = () => machine.letters().length === 0;
  return {
    workspace,
    machine,
    kills,
    /** Starts sessions whose threads exist already, and returns what writes a reply of one. */
    async sessions(...names: readonly string[]) {
      const panes = new Map(names.map((name) => [name, machine.session(name)]));
      for (const pane of panes.values()) machine.write(pane, stopInput('hello'));
      const first = machine.courier();
      await vi.waitFor(() => expect(isDone()).toBe(true), 20_000);
      await first.kill();
      return (name: string, text: string) => machine.write(panes.get(name) ?? machine.paneEnv(name), stopInput(text));
    },
    /** Starts the next courier whenever one was killed, until every letter is posted or set aside. */
    async run() {
      for (let starts = 0; !isDone() && starts < 10; starts++) {
        const running = machine.courier();
        courier = running;
        await vi.waitFor(() => expect(isDone() || running.child.signalCode !== null).toBe(true), 60_000);
      }
      await soon(() => expect(readdirSync(machine.home.path('outbox', 'begun'))).toEqual([]));
      expect(machine.letters()).toEqual([]);
    },
  };
}

const setAside = (machine: Machine) => readdirSync(machine.home.path('outbox', 'aside')).length;
const times = (said: readonly string[], what: string) => said.filter((text) => text.includes(what)).length;

it('posts a reply that waited for the server while two deadly letters of another pane killed the courier', async () => {
  let answers = 0;
  const server = await startDeadlyServer(() => (answers++ < 4 ? LIMITED : undefined));
  const reply = await server.sessions('a', 'b', 'c', 'd');
  for (const name of ['b', 'c', 'd']) reply(name, 'harmless');
  for (const n of [1, 2]) reply('a', `deadly ${n}`);
  await server.run();
  for (const name of ['b', 'c', 'd'])
    expect(await saidIn(server.workspace, `[agent] ${name}`)).toEqual(['hello', 'harmless']);
  const said = await saidIn(server.workspace, '[agent] a');
  expect(said).toHaveLength(3);
  expect(times(said, 'was set aside')).toBe(2);
  expect(setAside(server.machine)).toBe(2);
  expect(server.kills.toSorted()).toEqual(['deadly 1', 'deadly 1', 'deadly 2', 'deadly 2']);
});

it('sets aside two deadly letters of different panes after two crashes each at most', async () => {
  const server = await startDeadlyServer(() => undefined);
  const reply = await server.sessions('a', 'b', 'c');
  reply('a', 'deadly 1');
  reply('b', 'deadly 2');
  reply('c', 'harmless');
  await server.run();
  for (const name of ['a', 'b'])
    expect(times(await saidIn(server.workspace, `[agent] ${name}`), 'was set aside')).toBe(1);
  expect(await saidIn(server.workspace, '[agent] c')).toEqual(['hello', 'harmless']);
  expect(setAside(server.machine)).toBe(2);
  for (const deadly of ['deadly 1', 'deadly 2']) expect(times(server.kills, deadly)).toBeLessThanOrEqual(2);
});

it('sets aside a deadly letter beside a flood of others after two crashes, and posts the others once', async () => {
  const server = await startDeadlyServer(() => ({ kind: 'delay', ms: 100 }));
  const reply = await server.sessions('a', 'b', 'c', 'd');
  reply('a', 'deadly 1');
  const texts = Array.from({ length: 8 }, (_, n) => `harmless ${n}`);
  for (const text of texts) for (const name of ['b', 'c', 'd']) reply(name, text);
  reply('a', 'harmless, behind it');
  await server.run();
  for (const name of ['b', 'c', 'd'])
    expect(await saidIn(server.workspace, `[agent] ${name}`)).toEqual(['hello', ...texts]);
  const said = await saidIn(server.workspace, '[agent] a');
  expect(times(said, 'was set aside')).toBe(1);
  expect(said.at(-1)).toBe('harmless, behind it');
  expect(setAside(server.machine)).toBe(1);
  expect(server.kills).toEqual(['deadly 1', 'deadly 1']);
});
