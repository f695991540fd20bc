// Words of a host or a program in our own errors are shown as code: a link with a label in them would look like ours.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { parseSessionName } from '../../core/session-name.ts';
import { threadTitle } from '../../core/thread-title.ts';
import { download } from '../../discord/http-pool.ts';
import { START_OPTION } from '../../tmux/tmux.ts';
import { activeIn } from '../support/discord-markdown.ts';
import { tempFolder } from '../support/temp-home.ts';
import { reconcile, startSetting, tellOfSession, WAIT } from './bridge-setup.ts';
import { startFar } from './remote-host.ts';
import { openWhispers, tap } from './tap-message.ts';

const LINK = '[Sign in](https://evil.example)';

it('the name of a program on a host is shown as code in the notice about a message', async () => {
  const folder = tempFolder();
  const tmux = join(folder, 'tmux');
  const script = `if [ -e ${folder}/evil ]; then tmux "$@" | sed "s|\\bnode\\b|${LINK}|"; else exec tmux "$@"; fi`;
  writeFileSync(tmux, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const far = await startFar({ tmux, file: { allowShell: true } });
  const claude = await far.farClaude('web', { replies: false });
  writeFileSync(join(folder, 'evil'), '');
  await far.say(claude, 'hello');
  const said = await far.answer(claude, /evil\.example/);
  expect(said.content).toContain(`\`${LINK}\``);
});

it('a directory that a program has noted for its session is shown as code when it cannot be used', async () => {
  const setting = await startSetting({ file: { allowShell: true } });
  const { tmux } = setting.machine;
  const { threads } = setting.shared;
  const started = { directory: LINK, command: ['sh'] };
  tmux.call('new-session', '-d', '-s', 'web', 'sh');
  tmux.call('new-session', '-d', '-s', 'other', 'sh');
  tmux.call('set-option', '-t', '=web:', START_OPTION, JSON.stringify(started));
  tellOfSession(setting.machine, 'web');
  const record = await vi.waitFor(() => {
    const found = threads.registry.all().find(({ sessionName }) => sessionName === 'web');
    if (found === undefined) throw new Error('no thread');
    return found;
  }, WAIT);
  tmux.call('kill-session', '-t', 'web');
  await reconcile(setting);
  const ended = await setting.answer(record.thread, /^⏹️/);
  const whispers = await openWhispers(setting);
  await tap(setting, ended, 'Start again');
  await vi.waitFor(() => expect(whispers().length).toBeGreaterThan(0), WAIT);
  expect(whispers().join('\n')).toContain(`\`${LINK}\``);
});

it('a session and its folder cannot leave their code in the first message and in `!status`', async () => {
  const setting = await startSetting();
  const { tmux } = setting.machine;
  const folder = join(tempFolder(), '<@99> ||a||');
  mkdirSync(folder);
  tmux.call('new-session', '-d', '-s', '**<@99>', '-c', folder, 'cat');
  tellOfSession(setting.machine, '**<@99>');
  const { channelId } = setting.workspace;
  const first = await setting.answer(channelId, /is typed into the session/);
  expect(activeIn(first.content)).toEqual([]);
  await vi.waitFor(() => expect(setting.shared.threads.registry.get(first.id)).toBeDefined(), WAIT);
  await setting.say(first.id, '!status');
  const status = await setting.answer(first.id, /, on `laptop`/);
  expect(activeIn(status.content)).toEqual([]);
});

it('what a server says when it refuses a request, and the name of a host that is not there, are shown as code', async () => {
  const body = { code: 50013, message: `${LINK}\n# a`, errors: { [LINK]: LINK } };
  const onRequest = ({ method, path }: { readonly method: string; readonly path: string }) =>
    method === 'POST' && path.endsWith('/threads') ? ({ kind: 'answer', status: 403, body } as const) : undefined;
  const setting = await startSetting({ faults: { onRequest } });
  const { channelId } = setting.workspace;
  await setting.say(channelId, '!new web -- cat');
  const refused = await setting.answer(channelId, /^⚠️ POST .*403/);
  await setting.say(channelId, `!new web "${LINK}"`);
  const noHost = await setting.answer(channelId, /^⚠️ there is no host/);
  expect([...activeIn(refused.content), ...activeIn(noHost.content)]).toEqual([]);
});

it('the name of a file that cannot be fetched is shown as code', async () => {
  const rules = { api: 'http://127.0.0.1:9', maxBytes: 1, timeoutMs: 1_000 };
  for (const url of [`https://elsewhere.example/${LINK.replace(/.*\//, '**a**')}`, 'http://127.0.0.1:9/__a__.txt'])
    await expect(download(url, rules)).rejects.toThrow(/^fetching `[^`]+`: /);
});

it('the name of a file that cannot be stored, and why, are shown as code', async () => {
  const far = await startFar();
  const claude = await far.farClaude('web', { replies: false });
  await far.untilMarked(await far.say(claude, 'hello'), '✅');
  const { home } = far.machine;
  const file = { name: 'a__evil__.txt', data: 'x' };
  const send = (to: string) => far.workspace.person.say(to, 'look', { files: [file] });
  rmSync(join(far.ours, 'files'), { recursive: true });
  writeFileSync(join(far.ours, 'files'), '');
  await send(claude.thread);
  const there = await far.answer(claude, /^📎 .*evil/);
  const here = await far.claude('here', { replies: false });
  rmSync(home.path('files'), { recursive: true, force: true });
  writeFileSync(home.path('files'), '');
  await send(here.thread);
  const mine = await far.answer(here, /^📎 /);
  expect([...activeIn(there.content), ...activeIn(mine.content)]).toEqual([]);
});

it('a name that cannot have a thread or name a session is shown as code', () => {
  expect(() => threadTitle({ session: `${LINK}${'x'.repeat(100)}` })).toThrow(`session \`${LINK}`);
  expect(() => parseSessionName(LINK)).toThrow(`\`${LINK}\` cannot name a session`);
});
