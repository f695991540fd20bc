import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { pressEnter } from '../../tmux/keys.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { MAX_TEXT_BYTES, typeMessage } from '../../tmux/type-message.ts';
import { pasted, startRawPane, startTmux } from '../support/tmux-server.ts';

const FAST = { settleMs: 5 };

describe('typing a message', () => {
  it('pastes the text in brackets, then presses Enter on its own', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const done = await typeMessage(server.tmux, guard, { id: '1', text: 'one\ntwo;' }, FAST);
    expect(done).toEqual({ kind: 'delivered' });
    await vi.waitFor(() => expect(received()).toEqual(pasted('one\ntwo;')));
    expect(server.call('list-buffers')).toBe('');
  });

  it('types it once, however often it is called', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const message = { id: '7', text: 'only once' };
    await typeMessage(server.tmux, guard, message, FAST);
    expect(await typeMessage(server.tmux, guard, message, FAST)).toEqual({ kind: 'already' });
    await typeMessage(server.tmux, guard, { id: '10', text: 'next' }, FAST);
    expect(await typeMessage(server.tmux, guard, message, FAST)).toEqual({ kind: 'already' });
    await vi.waitFor(() => expect(received()).toEqual(pasted('only once', 'next')));
    expect(server.call('list-buffers')).toBe('');
  });

  it('types it once when two attempts run at the same time', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const attempts = Array.from({ length: 6 }, () =>
      typeMessage(server.tmux, guard, { id: '3', text: 'together' }, FAST),
    );
    const kinds = (await Promise.all(attempts)).map((done) => done.kind).sort();
    expect(kinds).toEqual(['already', 'already', 'already', 'already', 'already', 'delivered']);
    await vi.waitFor(() => expect(received()).toEqual(pasted('together')));
  });

  it('delivers a burst of 50 messages once each and in order', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const texts = Array.from({ length: 50 }, (_, i) => `message ${i} 'q' $(x) ;`);
    for (const [i, text] of texts.entries())
      await typeMessage(server.tmux, guard, { id: String(9_990 + i), text }, { settleMs: 0 });
    await vi.waitFor(() => expect(received()).toEqual(pasted(...texts)));
  });

  it('delivers a megabyte whole', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const text = 'é👍 line;\n'.repeat(75_000);
    expect(Buffer.byteLength(text)).toBeGreaterThan(1024 * 1024 - 100_000);
    expect(await typeMessage(server.tmux, guard, { id: '1', text }, FAST)).toEqual({ kind: 'delivered' });
    await vi.waitFor(() => expect(received().equals(pasted(text))).toBe(true), 20_000);
  });

  it('leaves copy mode first, so that the text arrives in brackets and the Enter arrives', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    server.call('copy-mode', '-t', guard.pane.paneId);
    await typeMessage(server.tmux, guard, { id: '1', text: 'qqq' }, FAST);
    await vi.waitFor(() => expect(received()).toEqual(pasted('qqq')));
  });

  it('leaves the copy mode of no other program', async () => {
    const server = startTmux();
    const { guard } = await startRawPane(server);
    server.call('copy-mode', '-t', guard.pane.paneId);
    const other = { ...guard, command: 'claude' };
    await typeMessage(server.tmux, other, { id: '1', text: 'hello' }, FAST);
    expect(server.call('display-message', '-p', '-t', guard.pane.paneId, '#{pane_in_mode}')).toBe('1');
  });

  it('types nothing into a pane whose program has died, and does not crash the server', async () => {
    const server = startTmux();
    server.call('new-session', '-d', '-s', 'other', 'cat');
    server.call('set-option', '-g', 'remain-on-exit', 'on');
    const { guard, received } = await startRawPane(server);
    process.kill(guard.pane.panePid);
    await vi.waitFor(() =>
      expect(server.call('display-message', '-p', '-t', guard.pane.paneId, '#{pane_dead}')).toBe('1'),
    );
    const done = await typeMessage(server.tmux, guard, { id: '1', text: 'hello' }, FAST);
    expect(done).toMatchObject({ kind: 'refused', because: 'dead' });
    expect(received()).toHaveLength(0);
    expect(server.call('list-sessions', '-F', '#{session_name}').split('\n')).toEqual(['other', 'web']);
    expect(server.call('list-buffers')).toBe('');
  });

  it('says that a pane is gone when its session has ended', async () => {
    const server = startTmux();
    server.call('new-session', '-d', '-s', 'other', 'cat');
    const { guard } = await startRawPane(server);
    server.call('kill-session', '-t', '=web');
    const message = { id: '1', text: 'hello' };
    expect(await typeMessage(server.tmux, guard, message, FAST)).toMatchObject({ kind: 'refused', because: 'gone' });
    server.call('kill-server');
    expect(await typeMessage(server.tmux, guard, message, FAST)).toEqual({
      kind: 'refused',
      because: 'gone',
      seen: undefined,
    });
  });

  it('never types into the pane that has the same id after a restart of the server', async () => {
    const server = startTmux();
    const before = await startRawPane(server);
    server.call('kill-server');
    const after = await vi.waitFor(() => startRawPane(server, 'two'), 20_000);
    expect(after.guard.pane.paneId).toBe(before.guard.pane.paneId);
    expect(await typeMessage(server.tmux, before.guard, { id: '1', text: 'hello' }, FAST)).toMatchObject({
      kind: 'refused',
      because: 'other-server',
    });
    // Even if the system reuses the old process id too.
    const mixed = { ...after.guard, pane: { ...after.guard.pane, serverPid: before.guard.pane.serverPid } };
    expect(await typeMessage(server.tmux, mixed, { id: '1', text: 'hello' }, FAST)).toMatchObject({
      because: 'other-server',
    });
    expect(after.received()).toHaveLength(0);
  });

  it('never types into a program that was restarted in the same pane', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    server.call('respawn-pane', '-k', '-t', guard.pane.paneId); // the same program
    await vi.waitFor(async () =>
      expect(await lookAtPane(server.tmux, guard.pane)).toMatchObject({
        command: 'node',
        text: expect.stringContaining('ready'),
      }),
    );
    expect(await typeMessage(server.tmux, guard, { id: '1', text: 'hello' }, FAST)).toMatchObject({
      kind: 'refused',
      because: 'other-process',
    });
    expect(received()).toHaveLength(0);
  });

  it('never types into the shell that remains when the program has ended', async () => {
    const server = startTmux();
    const [paneId = '', panePid, serverPid] = server
      .call('new-session', '-d', '-P', '-F', '#{pane_id} #{pane_pid} #{pid}', 'sh')
      .split(' ');
    const pane = { paneId, panePid: Number(panePid), serverPid: Number(serverPid) };
    const done = await typeMessage(
      server.tmux,
      { pane, command: 'claude' },
      { id: '1', text: `touch ${join(server.dir, 'pwned')}` },
      FAST,
    );
    expect(done).toMatchObject({ kind: 'refused', because: 'other-program', seen: { panePid: pane.panePid } });
    expect(existsSync(join(server.dir, 'pwned'))).toBe(false);
  });

  it.each([
    ['input-off', (pane: string) => ['select-pane', '-d', '-t', pane]],
    ['synchronized', (pane: string) => ['set-option', '-w', '-t', pane, 'synchronize-panes', 'on']],
  ])('refuses a pane that is %s', async (because, prepare) => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const neighbour = await startRawPane(server, 'web', { window: guard.pane.paneId });
    server.call(...prepare(guard.pane.paneId));
    expect(await typeMessage(server.tmux, guard, { id: '1', text: 'x' }, FAST)).toMatchObject({
      kind: 'refused',
      because,
    });
    expect(received()).toHaveLength(0);
    expect(neighbour.received()).toHaveLength(0);
  });

  it('types neither text nor Enter while a dialog is on the screen', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server, 'web', {
      shows: ' Do you want to run this?\r\n Esc to cancel · Tab to amend',
    });
    const guarded = { ...guard, dialog: '^ *(Esc to cancel|Enter to select)' };
    expect(await typeMessage(server.tmux, guarded, { id: '1', text: 'no' }, FAST)).toMatchObject({
      kind: 'refused',
      because: 'dialog',
    });
    expect(received()).toHaveLength(0);
  });

  it('holds the Enter back when a dialog appeared after the text, until it is requested', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server, 'web', { stashed: 'Esc to cancel' });
    const guarded = { ...guard, dialog: '^Esc to cancel' };
    const message = { id: '5', text: 'hello' };
    const first = typeMessage(server.tmux, guarded, message, { settleMs: 1_000 });
    await vi.waitFor(() => expect(received().length).toBeGreaterThan(0));
    server.call('send-keys', '-t', guard.pane.paneId, 'C-s'); // the program now shows the dialog
    expect(await first).toMatchObject({ kind: 'text-only', because: 'dialog' });

    server.call('send-keys', '-R', '-t', guard.pane.paneId); // and now it is gone
    expect(await typeMessage(server.tmux, guarded, message, FAST)).toMatchObject({ kind: 'text-only' });
    expect(received().includes('\r')).toBe(false);
    expect(await pressEnter(server.tmux, guarded, '5')).toEqual({ kind: 'pressed' });
    expect(await pressEnter(server.tmux, guarded, '5')).toEqual({ kind: 'already' });
    expect(await typeMessage(server.tmux, guarded, message, FAST)).toEqual({ kind: 'already' });
    await vi.waitFor(() => expect(received().toString().match(/\r/g)).toHaveLength(1));
  });

  it('stashes a draft first, once, and pastes when the screen confirms it', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server, 'web', { stashed: '› stashed' });
    const options = { ...FAST, stash: { key: 'C-s', confirmed: '› stashed' } };
    const message = { id: '1', text: 'hello' };
    expect(await typeMessage(server.tmux, guard, message, options)).toEqual({ kind: 'delivered' });
    expect(await typeMessage(server.tmux, guard, message, options)).toEqual({ kind: 'already' });
    await vi.waitFor(() => expect(received()).toEqual(Buffer.concat([Buffer.from('\x13'), pasted('hello')])));
  });

  it('types nothing over a draft that could not be stashed', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    const options = { ...FAST, stash: { key: 'C-s', confirmed: '› stashed' } };
    expect(await typeMessage(server.tmux, guard, { id: '1', text: 'x' }, options)).toMatchObject({
      kind: 'refused',
      because: 'not-stashed',
    });
    expect(received().toString()).toBe('\x13');
    expect(server.call('list-buffers')).toBe('');
  });

  it.each([
    ['nothing', ''],
    ['an escape byte', 'a\x1bb'],
    ['the end of a bracketed paste', 'hi\x1b[201~\rrm -rf /'],
    ['a carriage return', 'one\rtwo'],
    ['a NUL', 'a\0b'],
    ['a C1 control', 'a\u009bb'],
    ['more than the limit', 'x'.repeat(MAX_TEXT_BYTES + 1)],
  ])('refuses to type %s', async (_, text) => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    await expect(typeMessage(server.tmux, guard, { id: '1', text }, FAST)).rejects.toMatchObject({ code: 'bad_usage' });
    expect(received()).toHaveLength(0);
  });

  it.each(["x' ; kill-server ; '", '#{pid}', 'a,b', '}', '', 'a b', '$(x)'])(
    'refuses the program name %j as a guard',
    async (command) => {
      const server = startTmux();
      const { guard } = await startRawPane(server);
      await expect(typeMessage(server.tmux, { ...guard, command }, { id: '1', text: 'x' }, FAST)).rejects.toMatchObject(
        { code: 'bad_usage' },
      );
    },
  );
});
