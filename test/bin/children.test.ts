// What the programs that threadmux starts get of its environment and of its open files.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { tryTo } from '../../home/checked-file.ts';
import { openHome } from '../../home/home.ts';
import { holderOf } from '../../home/lock.ts';
import { loadThreadRecords } from '../../threads/registry.ts';
import { ended } from '../support/start-up.ts';
import { startTestWorkspace } from '../support/workspace.ts';
import { PROGRAM, startCli, WAIT } from './cli.ts';

/** Notes its environment and its open files under its last argument; a headless agent has its prompt elsewhere. */
const NOTE = (dir: string) => `#!/bin/sh
for name; do :; done
case " $* " in *" -p "*) name=headless ;; esac
ls -l /proc/$$/fd > '${dir}/'"$name.files"
env > '${dir}/'"$name.tmp"; mv '${dir}/'"$name.tmp" '${dir}/'"$name.variables"
case $name in headless | sh) ;; *) exec sleep 60 ;; esac
`;

it('programs get no secret, no address of ours and no open file', async () => {
  const workspace = await startTestWorkspace();
  const cli = startCli();
  const [shop, notes, note] = ['shop', 'notes', 'note'].map((name) => join(cli.dir, name)) as [string, string, string];
  for (const folder of [shop, notes]) mkdirSync(folder);
  writeFileSync(note, NOTE(notes), { mode: 0o755 });
  const config = {
    allowShell: true,
    agents: { claude: { command: [note] } },
    roots: [cli.dir],
    sessions: [{ name: 'own', directory: shop, start: 'auto', args: ['declared'] }],
  };
  writeFileSync(join(cli.root, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const secrets = {
    DISCORD_BOT_TOKEN: workspace.token,
    DISCORD_CHANNEL_ID: workspace.channelId,
    DISCORD_ALLOWED_USERS: workspace.userId,
    DISCORD_API_BASE: workspace.api,
    SOME_SECRET: 'of another program',
  };
  const up = spawn(process.execPath, [PROGRAM, 'up'], {
    env: { ...cli.env, ...secrets },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => ended(up));
  let said = '';
  up.stdout.on('data', (data) => {
    said += data;
  });
  await vi.waitFor(() => expect(said).toContain('threadmux is running, connected'), WAIT);
  const { person, channelId } = workspace;
  await person.say(channelId, `!new a ${shop} -- ${note} new`);
  await person.say(channelId, `!terminal shop ${note} terminal`);
  await person.say(channelId, '!agent shop hello');
  expect((await cli.run(['start', 'b', '--', note, 'start'], { cwd: shop, env: secrets })).status).toBe(0);
  const home = openHome(cli.root);
  const thread = () => loadThreadRecords(home).find(({ sessionName }) => sessionName === 'a')?.thread ?? '';
  await vi.waitFor(() => expect(thread()).not.toBe(''), WAIT);
  await person.say(thread(), `!sh ${note} sh`);

  const names = ['declared', 'new', 'terminal', 'headless', 'start', 'sh'];
  for (const name of names)
    await vi.waitFor(() => expect(existsSync(join(notes, `${name}.variables`)), name).toBe(true), WAIT);
  const bridge = holderOf(join(cli.root, 'state', 'bridge.lock'));
  // Not before all have started: until then, it also has their ends of the pipes.
  const ours = openIn(`/proc/${bridge}/fd`).filter((file) => !openIn('/proc/self/fd').includes(file));
  expect(ours.filter((file) => file.startsWith('socket:')).length).toBeGreaterThan(0);
  for (const name of names) {
    const variables = readFileSync(join(notes, `${name}.variables`), 'utf8');
    expect(variables, name).toContain(`HOME=${cli.dir}\n`);
    for (const [secret, value] of Object.entries(secrets)) {
      expect(variables, name).not.toContain(`${secret}=`);
      expect(variables, name).not.toContain(value);
    }
    const files = readFileSync(join(notes, `${name}.files`), 'utf8');
    const open = [...files.matchAll(/ -> (.*)$/gm)].map(([, file]) => file as string);
    expect(open, name).toContain(note);
    expect(
      open.filter((file) => ours.includes(file) || file.startsWith(cli.root)),
      name,
    ).toEqual([]);
  }
});

/** What the files of a process lead to, without what everybody may open. */
function openIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .flatMap((fd) => tryTo(() => readlinkSync(join(folder, fd))) ?? [])
    .filter((file) => !file.startsWith('/dev/') && !file.startsWith('anon_inode:'));
}
