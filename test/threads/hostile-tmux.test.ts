// A hostile host answers for its tmux: what it lists is limited, and what is above the limit is an error, not a truth.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openHome } from '../../home/home.ts';
import { localHost } from '../../hosts/host.ts';
import { openRegistry, type ThreadRecord, threadRecordSchema } from '../../threads/registry.ts';
import { createSessionLookup } from '../../threads/session-lookup.ts';
import { shownStates } from '../../threads/stored-states.ts';
import type { HostList } from '../../tmux/host-list.ts';
import { lookAtPane, lookAtPanes, type PaneLook } from '../../tmux/look.ts';
import { listSessions, type Session } from '../../tmux/sessions.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTmux } from '../support/tmux-server.ts';

function hostileHost(script: string) {
  const tmux = join(tempFolder(), 'tmux');
  writeFileSync(tmux, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return localHost({ name: 'far', tmux, env: process.env });
}

describe('a hostile tmux', () => {
  it('cannot list more than 1,000 sessions', async () => {
    const rows = (count: number) => `yes "$(printf '$1\\t7\\tx%11s' '' | tr ' ' '\\t')" | head -n ${count}`;
    expect(await listSessions(tmuxOn(hostileHost(rows(1_000))))).toHaveLength(1_000);
    await expect(listSessions(tmuxOn(hostileHost(rows(1_001))))).rejects.toThrow(/lists more than 1000 sessions/);
  });

  it('cannot print megabytes as the answer to one command, or as a screen', async () => {
    const host = hostileHost('head -c 20000000 /dev/zero');
    await expect(listSessions(tmuxOn(host))).rejects.toThrow(/it printed too much/);
    const pane = { serverPid: 7, paneId: '%1', panePid: 8 };
    const tooMuch = {
      message: expect.stringContaining('it printed too much'),
      hint: expect.stringContaining('smaller'),
    };
    await expect(lookAtPane(tmuxOn(host), pane)).rejects.toMatchObject(tooMuch);
  });

  it('cannot show more than a screen has', async () => {
    const { call, socket } = startTmux();
    call('new-session', '-d', '-s', 'web', '-x', '80', '-y', '24', 'echo evil; exec cat');
    const [serverPid = '', paneId = '', panePid = ''] = call(
      ...['display-message', '-p', '-t', '=web:', '#{pid} #{pane_id} #{pane_pid}'],
    ).split(' ');
    const pane = { serverPid: Number(serverPid), paneId, panePid: Number(panePid) };
    const looks = async (more: string) => {
      const tmux = tmuxOn(hostileHost(`tmux "$@" | awk '/^evil/ && !n++ { ${more} } { print }'`), socket);
      return [await lookAtPane(tmux, pane), ...(await lookAtPanes(tmux, [pane]))];
    };
    await vi.waitFor(() => expect(call('capture-pane', '-p', '-t', '=web:')).toContain('evil'));
    for (const more of ['for (i = 0; i < 50000; i++) print "┃"', 'for (i = 0; i < 500000; i++) printf "x"'])
      for (const seen of await looks(more)) {
        const { text } = seen as PaneLook;
        expect(text.length).toBeLessThanOrEqual(256 * 1024);
        expect(text.split('\n').length).toBeLessThanOrEqual(1_001);
        expect(text).toContain('evil');
      }
  });

  it('lets others work between the screens of its sessions', async () => {
    // Answers at once: only the turns between the screens are counted.
    const tmux = { ...tmuxOn(hostileHost('exit 0')), script: async () => '' };
    const sessions = Array.from({ length: 50 }, (_, at) => ({
      session: { serverPid: 7, pane: { id: `%${at}` } } as Session,
      record: undefined,
    }));
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    const states = shownStates(tmux, sessions, () => undefined, 1_000);
    count();
    expect(await states).toHaveLength(50);
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(49);
  });

  it('cannot name a session or pane that tmux could not have, which no record could be made of', async () => {
    const row = (id: string, pid: string, pane: string, panePid: string) =>
      [id, pid, 'web', '', '1', '0', pane, panePid, '0', 'sh', '/', '/', '', '/s'].join('\\t').replaceAll('%', '%%');
    const rows = [
      ...[row('$1', 'NaN', '%1', '8'), row('$1', '1e308', '%1', '8'), row('$(x)', '7', '%1', '8')],
      ...[row('$1', '7', '-x;kill-server', '8'), row('$1', '7', '%1', ''), row('$2', '7', '%1', 'x')],
    ];
    const found = await listSessions(tmuxOn(hostileHost(`printf '${rows.join('\\n')}\\n'`)));
    expect(found.map(({ id, pane }) => [id, pane.id, pane.pid])).toEqual([['$1', '%1', 0]]);
  });

  it('cannot name more than 16 servers', async () => {
    const registry = openRegistry(openHome(tempFolder()));
    for (let at = 0; at < 16; at++) registry.put(recordOn(`/s${at}`, `${at + 1}`));
    const row = `printf '%%9\\t7\\t8\\t$1\\tweb\\t\\tsh\\t/\\t\\n'`;
    const hosts: HostList = {
      get: () => hostileHost(row),
      isLocal: () => false,
      names: () => ['far'],
      tmux: () => tmuxOn(hostileHost(row)),
      close: async () => {},
    };
    const lookup = createSessionLookup(hosts, registry);
    expect(await lookup('far', '/s3,7,0', '%9')).toMatchObject({ socket: '/s3' });
    expect(await lookup('far', '/other,7,0', '%9')).toBeUndefined();
    registry.change('4', { closed: true });
    expect(await lookup('far', '/other,7,0', '%9')).toMatchObject({ socket: '/other' });
  });
});

function recordOn(socket: string, thread: string): ThreadRecord {
  return threadRecordSchema.parse({
    thread,
    title: '[agent] x',
    host: 'far',
    socket,
    serverPid: 1,
    paneId: '%1',
    panePid: 1,
    sessionId: '$1',
    sessionName: 'x',
    command: 'claude',
    channel: 'c',
    cwd: '/',
    claudeSession: '',
    transcript: '',
    state: 'idle',
    at: 1,
  });
}
