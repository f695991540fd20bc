// What tmux itself checks at the moment of a key: another dialog may have opened after the look.

import { expect, it } from 'vitest';
import { claude } from '../../../agents/claude/driver.ts';
import { dialogPatterns } from '../../../agents/screen-fingerprint.ts';
import { pressInDialog } from '../../../tmux/keys.ts';
import { lookAtPane } from '../../../tmux/look.ts';
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
