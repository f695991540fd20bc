import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { isThreadmuxError } from '../../core/errors.ts';
import type { Host } from '../../hosts/host.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import { typeMessage } from '../../tmux/type-message.ts';
import { loginShells, startSshServer } from '../support/ssh-server.ts';
import { pasted, type RawPane, startRawPane, startTmux } from '../support/tmux-server.ts';

describe('typing a message over ssh', () => {
  it('needs one exec to look and one to type, on one connection', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const far = await startSshServer();
    const tmux = tmuxOn(far.host(), server.socket);
    for (const [i, text] of ['one', 'two', 'three'].entries()) {
      expect(await lookAtPane(tmux, guard.pane)).toMatchObject({ kind: 'pane', command: 'node' });
      await typeMessage(tmux, guard, { id: `${i}`, text }, { settleMs: 0 });
    }
    await vi.waitFor(() => expect(received()).toEqual(pasted('one', 'two', 'three')));
    expect(far.counts).toMatchObject({ connections: 1, execs: 6 });
  });

  it.each(loginShells())('types nothing when a start-up file of %s reads a part of the message', async (shell) => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const far = await startSshServer({ shell });
    // A script cannot notice that some of its stdin was read before it starts.
    writeFileSync(join(far.home, '.bashrc'), 'read -r line\n');
    writeFileSync(join(far.home, '.zshenv'), 'read -r line\n');
    const tmux = tmuxOn(far.host(), server.socket);
    const text = 'first line\nsecond line';
    const done = await typeMessage(tmux, guard, { id: '1', text }, { settleMs: 0 }).catch((e: unknown) => e);
    if (/bash|zsh/.test(shell)) {
      expect(done).toMatchObject({ code: 'tmux_failed', hint: expect.stringContaining('.bashrc') });
      expect(received()).toHaveLength(0);
      expect(server.call('list-buffers')).toBe('');
    } else expect(done).toEqual({ kind: 'delivered' });
  });

  it('delivers in order what waited while the host was unreachable', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const far = await startSshServer();
    const tmux = tmuxOn(far.host(), server.socket);
    const send = (id: number) => typeMessage(tmux, guard, { id: `${id}`, text: `m${id}` }, { settleMs: 0 });
    await send(1);
    await far.stop();
    await expect(send(2)).rejects.toMatchObject({ code: 'host_unreachable' });
    await far.start();
    await send(2);
    await send(3);
    await vi.waitFor(() => expect(received()).toEqual(pasted('m1', 'm2', 'm3')));
  });

  it('delivers to ten panes at once over one connection', async () => {
    const server = startTmux();
    const panes = await Promise.all(Array.from({ length: 10 }, (_, i) => startRawPane(server, `s${i}`)));
    const far = await startSshServer();
    const tmux = tmuxOn(far.host(), server.socket);
    await Promise.all(
      panes.map(async ({ guard }, i) => {
        for (const id of ['1', '2', '3'])
          await typeMessage(tmux, guard, { id, text: `to ${i}: ${id}` }, { settleMs: 20 });
      }),
    );
    for (const [i, pane] of panes.entries())
      await vi.waitFor(() => expect(pane.received()).toEqual(pasted(`to ${i}: 1`, `to ${i}: 2`, `to ${i}: 3`)));
    expect(far.counts).toMatchObject({ connections: 1, execs: 30 });
  });
});

describe('typing a message, cut off at any moment and tried again,', () => {
  it('loses nothing, repeats nothing and keeps the order on this machine', async () => {
    const server = startTmux();
    await fuzz(server.host, server.socket, await startRawPane(server), 40, 11);
  });

  it.each(loginShells())('loses nothing, repeats nothing and keeps the order over ssh to %s', async (shell) => {
    const server = startTmux();
    const far = await startSshServer({ shell });
    await fuzz(far.host(), server.socket, await startRawPane(server), 25, shell.length);
  });
});

/** Random texts; more than half of the attempts are killed in their first 140 ms. */
async function fuzz(host: Host, socket: string, pane: RawPane, count: number, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const tmux = tmuxOn(host, socket);
  const texts = Array.from({ length: count }, (_, i) => `${i}:${hostileText(random)}`);
  let kills = 0;
  for (const [i, text] of texts.entries()) {
    for (let done = false; !done; ) {
      const killer = new AbortController();
      const timer = random() < 0.6 ? setTimeout(() => killer.abort(), 1 + random() * 140) : undefined;
      try {
        const options = { settleMs: 30, signal: killer.signal };
        const { kind } = await typeMessage(tmux, pane.guard, { id: `${i + 1}`, text }, options);
        expect(['delivered', 'already']).toContain(kind);
        done = true;
      } catch (error) {
        if (!isThreadmuxError(error)) throw error;
        kills++;
      } finally {
        clearTimeout(timer);
      }
    }
  }
  expect(kills).toBeGreaterThan(0);
  await vi.waitFor(() => expect(pane.received().toString()).toBe(pasted(...texts).toString()));
  const stale = await typeMessage(tmux, pane.guard, { id: '1', text: 'late' }, { settleMs: 0 });
  expect(stale).toEqual({ kind: 'already' });
}

const PIECES = ['a', ' ', '\n', ';', "'", '"', '\\', '$(x)', '`', '#{pid}', '👍', 'é', '-', '!', '%', '{', '}', '~'];

function hostileText(random: () => number): string {
  const length = random() < 0.2 ? 20_000 * random() : 40 * random();
  const piece = () => PIECES[Math.floor(random() * PIECES.length)] ?? '';
  return `${Array.from({ length }, piece).join('')}${random() < 0.3 ? ';' : ''}`;
}

/** A small random generator with a seed, so that a failure can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
