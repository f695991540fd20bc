// What tmux itself checks at the moment of a key: another dialog may have opened after the look.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { claude } from '../../../agents/claude/driver.ts';
import { dialogPatterns } from '../../../agents/screen-fingerprint.ts';
import { chooseOption, seeDialog } from '../../../bridge/dialogs/choose-option.ts';
import type { ThreadRecord } from '../../../threads/registry.ts';
import { pressInDialog } from '../../../tmux/keys.ts';
import { lookAtPane } from '../../../tmux/look.ts';
import { screensOf } from '../../support/recorded-screens.ts';
import { startRawPane, startTmux } from '../../support/tmux-server.ts';

const asking = (command: string) =>
  [
    ...['─'.repeat(120), ' Bash command', '', `   ${command}`, '   Clean up', '', ' Do you want to proceed?'],
    ...[' ❯ 1. Yes', '   2. No, and tell Claude what to do differently (esc)', '', ' Esc to cancel · Tab to amend'],
  ].join('\r\n');

const LONG = 'cd /srv/shop/packages/frontend/components && rm -rf node_modules';

it.each([
  ['goes on where the first one ends', 'rm -rf build', 'rm -rf build ~/photos'],
  ['is another one at the end of a long line', `${LONG}/.cache`, `${LONG}/react`],
  ['has more in the place of a sign', 'cat notes.txt', 'cat notes; rm -rf ~; echo txt'],
])('a key for one command is not pressed for another one that %s', async (_, command, other) => {
  const server = startTmux();
  const { guard } = await startRawPane(server, 'first', { shows: asking(command) });
  const next = await startRawPane(server, 'next', { shows: asking(other) });
  const seen = await lookAtPane(server.tmux, guard.pane);
  if (seen.kind !== 'pane') throw new Error('no pane');
  const shows = dialogPatterns(seen, claude.screen);
  expect(shows.length).toBeGreaterThan(5);
  expect(await pressInDialog(server.tmux, { ...next.guard, shows }, '1', ['Enter'])).toMatchObject({ kind: 'refused' });
  expect(await pressInDialog(server.tmux, { ...guard, shows }, '2', ['Enter'])).toEqual({ kind: 'pressed' });
});

it('a command with very many signs does not stop the tmux server', async () => {
  const [width, height] = [400, 150];
  const line = (end: string) => `   ${'a漢'.repeat(width / 3 - 3)}${end}`;
  const above = Array.from({ length: height - 20 }, () => line('b'));
  const server = startTmux();
  const file = join(server.dir, 'shows');
  writeFileSync(file, [...above, asking(Array.from({ length: 6 }, () => line('c')).join('\r\n'))].join('\r\n'));
  const words = [
    'new-session',
    '-d',
    '-x',
    String(width),
    '-y',
    String(height),
    '-P',
    '-F',
    '#{pane_id} #{pane_pid} #{pid}',
  ];
  const [paneId = '', panePid, serverPid] = server.call(...words, `cat ${file}; exec cat`).split(' ');
  const pane = { paneId, panePid: Number(panePid), serverPid: Number(serverPid) };
  const seen = await vi.waitFor(async () => {
    const now = await lookAtPane(server.tmux, pane);
    if (now.kind !== 'pane' || !now.text.includes('Tab to amend')) throw new Error('not drawn yet');
    return now;
  });
  const shows = dialogPatterns(seen, claude.screen);
  expect(shows.filter((pattern) => pattern.length > 200).length).toBeGreaterThan(3);
  const before = cpuSeconds(pane.serverPid);
  expect(await pressInDialog(server.tmux, { pane, command: 'cat', shows }, '1', ['Enter'])).toEqual({
    kind: 'pressed',
  });
  expect(cpuSeconds(pane.serverPid) - before).toBeLessThan(2); // it was at least three
});

it.each([
  ['codex', 'dialog-permission-tool', 'Allow'],
  ['codex', 'dialog-model', 'GPT-6.1-Sol (current)'],
] as const)('the highlighted option is taken: %s, %s', async (agent, name, label) => {
  const { ansi } = screensOf(agent).find(name);
  const server = startTmux();
  const file = join(server.dir, 'shows');
  writeFileSync(file, ansi.trimEnd().replaceAll('\n', '\r\n'));
  const words = ['new-session', '-d', '-x', '120', '-y', '40', '-P', '-F', '#{pane_id} #{pane_pid} #{pid}'];
  const [paneId = '', panePid, serverPid] = server.call(...words, `stty raw -echo; cat ${file}; exec cat`).split(' ');
  const pane = { paneId, panePid: Number(panePid), serverPid: Number(serverPid) };
  const record = { ...pane, thread: '1', agent, command: 'cat', claudeSession: 'any', shell: 'no' } as ThreadRecord;
  const seen = await vi.waitFor(async () => {
    const now = await seeDialog({ tmux: server.tmux, record });
    if (now === undefined) throw new Error('not drawn yet');
    return now;
  });
  const { dialog, print } = seen;
  const option = dialog.options.findIndex(({ selected }) => selected);
  const chosen = await chooseOption({ tmux: server.tmux, record }, print, { do: 'choose', option });
  expect(chosen).toMatchObject({ kind: 'chosen', label });
});

function cpuSeconds(pid: number): number {
  const time = execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' });
  return time.split(':').reduce((sum, part) => 60 * sum + Number(part), 0);
}
