// The courier is killed at every step of a delivery, and the next one continues: whatever reached the
// server, every reply is in the thread once, whole and in order.

import { cpSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { fitMessage } from '../../hooks/post-parts.ts';
import { loadThreadRecords } from '../../threads/registry.ts';
import { startWorkspace } from '../../workspace/server.ts';
import { deliverAll } from '../support/courier-setup.ts';
import {
  type Courier,
  type Machine,
  saidIn,
  soon,
  startMachine,
  stopInput,
  threadsOf,
  untilSaid,
  withoutSmall,
} from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTmux } from '../support/tmux-server.ts';
import { startTestWorkspace } from '../support/workspace.ts';

const LONG = Array.from({ length: 3 }, (_, n) => `${n} ${'word '.repeat(300)}`).join('\n\n');
const PARTS = fitMessage({ text: LONG, header: 'laptop · shop · web' }).map((part) => withoutSmall(part.content));
const SAID = [...PARTS, 'Done.', 'Done.'];

/** So long ago that the server has forgotten the nonces of the first attempt. */
const LATE = { nonceWindowMs: 1 };

function writeLetters(machine: Machine, pane: ReturnType<Machine['session']>, isLate: boolean) {
  for (const text of [LONG, 'Done.', 'Done.']) machine.write(pane, stopInput(text));
  if (!isLate) return;
  const then = new Date(Date.now() - 300_000);
  for (const letter of machine.letters()) utimesSync(letter, then, then);
}

describe('a courier killed with SIGKILL', () => {
  it.each([
    ['while the thread is made', [0, 1, 2], false],
    ['while a reply is posted', [3, 4, 5], false],
    ['between two replies', [6, 7], false],
    ['while the thread is made, and followed only minutes later', [0, 1, 2], true],
    ['while a reply is posted, and followed only minutes later', [3, 4, 5], true],
    ['between two replies, and followed only minutes later', [6, 7], true],
  ])('%s, loses and repeats nothing', async (_, steps, isLate) => {
    const tmux = startTmux();
    // Each write is a step: welcome message, thread, our membership, three parts, two more replies.
    const walk = async (step: number) => {
      let victim: Courier | undefined;
      let writes = 0;
      const workspace = await startTestWorkspace({
        ...(isLate ? LATE : {}),
        faults: {
          onRequest({ method }) {
            if (method === 'GET' || victim === undefined || writes++ !== step) return undefined;
            victim.child.kill('SIGKILL');
            // After one step is the same as before the next: only what was applied makes a difference.
            return { kind: 'apply-then-silence' };
          },
        },
      });
      const machine = startMachine(workspace, { tmux });
      const pane = machine.session(`step-${step}`);
      writeLetters(machine, pane, isLate);
      victim = machine.courier();
      await victim.ended;
      expect(victim.child.signalCode, victim.errors() + machine.log()).toBe('SIGKILL');
      victim = undefined;
      await deliverAll(machine);
      expect(machine.letters()).toEqual([]);
      expect(await saidIn(workspace, `[agent] step-${step}`)).toEqual(SAID);
      expect(await threadsOf(workspace)).toHaveLength(1);
    };
    await Promise.all(steps.map(walk));
  });

  it.each([
    ['before it saved what was posted', ['threads', 'state/shown.json']],
    ['before it saved what was shown', ['state/shown.json']],
    ['before it removed the letter', []],
  ])('%s, repeats nothing even minutes later', async (_, lost) => {
    const workspace = await startTestWorkspace(LATE);
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    const copies = tempFolder();
    const copyOf = (name: string) => join(copies, name.replace('/', '-'));
    machine.write(pane, stopInput('earlier'));
    await deliverAll(machine);
    expect(await saidIn(workspace, '[agent] web')).toEqual(['earlier']);

    writeLetters(machine, pane, true);
    for (const name of lost)
      if (existsSync(machine.home.path(name))) cpSync(machine.home.path(name), copyOf(name), { recursive: true });
    const [letter = ''] = machine.letters();
    const copy = join(machine.home.root, 'copy');
    linkSync(letter, copy);
    for (const other of machine.letters().slice(1)) rmSync(other);
    await deliverAll(machine);
    expect(machine.letters()).toEqual([]);

    // Restore the files and the letter as they were a moment before.
    for (const name of lost) {
      rmSync(machine.home.path(name), { recursive: true, force: true });
      if (existsSync(copyOf(name))) cpSync(copyOf(name), machine.home.path(name), { recursive: true });
    }
    mkdirSync(dirname(letter), { recursive: true });
    renameSync(copy, letter);
    await deliverAll(machine);
    expect(machine.letters()).toEqual([]);
    expect(await saidIn(workspace, '[agent] web')).toEqual(['earlier', ...PARTS]);
  });
});

describe('a server', () => {
  it.each([
    ['answers 500', { kind: 'answer', status: 500 }],
    ['breaks the connection', { kind: 'reset' }],
    ['breaks the connection after posting', { kind: 'apply-then-reset' }],
    ['answers 502 after posting', { kind: 'apply-then-answer', status: 502 }],
    ['rate-limits us', { kind: 'limited', retryAfterMs: 200, scope: 'user' }],
  ] as const)('that %s repeatedly gets every reply once', async (_, fault) => {
    let requests = 0;
    const workspace = await startTestWorkspace({
      faults: { onRequest: ({ method }) => (method !== 'GET' && requests++ % 2 === 0 ? fault : undefined) },
    });
    const machine = startMachine(workspace);
    writeLetters(machine, machine.session('web'), false);
    await deliverAll(machine);
    expect(await saidIn(workspace, '[agent] web')).toEqual(SAID);
    expect(machine.letters()).toEqual([]);
  });

  it('that is unreachable for a while gets everything in order when it is back', async () => {
    const dir = tempFolder();
    const before = await startWorkspace({ dir });
    const port = Number(new URL(before.url).port);
    const machine = startMachine(before);
    const pane = machine.session('web');
    machine.drop(pane, stopInput('before'));
    await vi.waitFor(() => expect(loadThreadRecords(machine.home)).toHaveLength(1), 20_000);
    await soon(() => expect(machine.letters()).toEqual([]));
    await before.close();
    machine.drop(pane, stopInput('one'));
    machine.drop(pane, stopInput('two'));
    await vi.waitFor(() => expect(machine.log()).toContain('trying again'), 20_000);
    const after = await startTestWorkspace({ dir, port });
    machine.drop(pane, stopInput('three'));
    await untilSaid(after, '[agent] web', ['before', 'one', 'two', 'three'], 25_000);
  });
});
