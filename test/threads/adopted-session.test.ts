// A session that is started again with the same name keeps its thread, and what its agent reports while the sessions are listed.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { aWhile, reconcile, WAIT } from '../bridge/bridge-setup.ts';
import { farWithHooks, startFar } from '../bridge/remote-host.ts';
import { tempFolder } from '../support/temp-home.ts';

it('a report that comes while tmux lists the sessions is kept', async () => {
  const folder = tempFolder();
  const tmux = join(folder, 'tmux');
  // Each list that has the new session is held back until the test says so.
  const script = `case "$*" in
  *list-sessions*) list=$(tmux "$@"); code=$?
    case $list in *web*) while [ -e ${folder}/hold ]; do : > ${folder}/held; sleep 0.05; done ;; esac
    printf '%s\\n' "$list"; exit $code ;;
  *) exec tmux "$@" ;;
esac`;
  writeFileSync(tmux, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const far = await startFar({ tmux });
  const first = await farWithHooks(far, far, 'web');
  const { registry } = far.shared.threads;
  far.place.tmux.call('set-option', '-s', 'exit-empty', 'off');
  far.place.tmux.call('rename-session', '-t', '=web', 'w'); // no list of now is held
  far.place.tmux.call('new-session', '-d', '-s', 'web', 'cat');
  writeFileSync(join(folder, 'hold'), '');
  far.place.tmux.call('kill-session', '-t', '=w');
  await reconcile(far);
  await vi.waitFor(() => expect(existsSync(join(folder, 'held'))).toBe(true), WAIT);
  // The report of the agent in the new session.
  const ids = far.place.tmux.call('display-message', '-p', '-t', '=web:', '#{pane_id} #{pane_pid} #{session_id}');
  const [paneId = '', panePid, sessionId = ''] = ids.split(' ');
  registry.change(first.thread, { paneId, panePid: Number(panePid), sessionId, claudeSession: 'the new one' });
  rmSync(join(folder, 'hold'));
  await reconcile(far);
  await aWhile();
  expect(registry.get(first.thread)).toMatchObject({ sessionId, claudeSession: 'the new one', closed: false });
});
