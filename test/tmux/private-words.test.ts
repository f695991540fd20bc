// Every user of a machine can read the command lines of all processes. What a dialog shows may be a secret.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claude } from '../../agents/claude/driver.ts';
import { dialogPatterns } from '../../agents/screen-fingerprint.ts';
import { localHost } from '../../hosts/host.ts';
import { pressInDialog } from '../../tmux/keys.ts';
import { lookAtPane } from '../../tmux/look.ts';
import type { PaneGuard } from '../../tmux/pane.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import { pasteInDialog } from '../../tmux/type-message.ts';
import { notedTmux, startRawPane, startTmux, type TmuxServer } from '../support/tmux-server.ts';

const SECRET = 'hunter2hunter2';
const DIALOG = [
  ...[
    '─'.repeat(120),
    ' Bash command',
    '',
    `   login --password ${SECRET}`,
    '   Log in',
    '',
    ' Do you want to proceed?',
  ],
  ...[' ❯ 1. Yes', '   2. No, and tell Claude what to do differently (esc)', '', ' Esc to cancel · Tab to amend'],
].join('\r\n');

it('what a dialog shows is in no command line while it is answered', async () => {
  const server = startTmux();
  const { guard, received } = await startRawPane(server, 'web', { shows: DIALOG });
  const shows = await patternsOf(server, guard);
  const { tmux, commandLines } = notedTmux(server);
  expect(await pasteInDialog(tmux, { ...guard, shows }, '1', `my ${SECRET}`)).toEqual({ kind: 'pressed' });
  expect(await pressInDialog(tmux, { ...guard, shows }, '2', ['Enter'])).toEqual({ kind: 'pressed' });
  expect(received().toString()).toContain(SECRET);
  expect(commandLines()).toContain('source-file');
  expect(commandLines()).not.toContain(SECRET);
});

it.each([1, 6, 7, 12, 40, 100_000])(
  'no key is pressed if a startup file has read %i bytes of what it is for',
  async (bytes) => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server, 'web', { shows: DIALOG });
    const shows = await patternsOf(server, guard);
    writeFileSync(join(server.dir, 'sh'), `#!/bin/sh\ndd bs=1 count=${bytes} > /dev/null 2>&1\nexec /bin/sh "$@"\n`, {
      mode: 0o755,
    });
    const env = { PATH: `${server.dir}:${process.env.PATH}`, HOME: server.dir, LANG: 'C.UTF-8' };
    const tmux = tmuxOn(localHost({ name: 'here', env }), server.socket);
    expect(await pressInDialog(tmux, { ...guard, shows }, '1', ['Enter'])).toMatchObject({ kind: 'refused' });
    await pasteInDialog(tmux, { ...guard, shows }, '2', 'x').catch(() => {}); // it may also notice that the text is missing
    expect(received().toString()).toBe('');
  },
);

async function patternsOf(server: TmuxServer, { pane }: PaneGuard): Promise<readonly string[]> {
  const seen = await lookAtPane(server.tmux, pane);
  if (seen.kind !== 'pane') throw new Error('no pane');
  const patterns = dialogPatterns(seen, claude.screen);
  expect(patterns.join()).toContain(SECRET);
  return patterns;
}
