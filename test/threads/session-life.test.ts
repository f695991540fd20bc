// Where sessions have their threads, for each kind of configuration and each way to make a session: from its start to its end,
// through renames and restarts, a session has one thread in its place, or appears nowhere.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { ServerConfig } from '../../core/config.ts';
import { localServer } from '../../home/config-file.ts';
import { saveAutoThreads } from '../../home/installed.ts';
import { reconcile, startSetting, WAIT } from '../bridge/bridge-setup.ts';
import { FAKE_CLAUDE, startFakeClaude } from '../support/fake-claude.ts';
import { DROP, threadNames, threadsOf } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTwoGuilds } from '../support/two-guilds.ts';
import type { TestWorkspace } from '../support/workspace.ts';

type Where = 'home' | 'work' | 'nowhere';
/** The places of a session in the project, and of one outside of all projects. */
interface Arrangement {
  readonly project: Where;
  readonly outside: Where;
  servers(home: ServerConfig, work: ServerConfig, project: string): readonly ServerConfig[];
}

const ARRANGEMENTS: Readonly<Record<string, Arrangement>> = {
  'one server with a project in another channel': {
    project: 'work',
    outside: 'home',
    servers: (home, work, path) => [{ ...home, projects: [{ path, channel: work.channel }] }],
  },
  'one server for a project only': {
    project: 'home',
    outside: 'nowhere',
    servers: (home, _, path) => [{ ...home, projects: [{ path, channel: home.channel }], onlyProjects: true }],
  },
  'two servers, one of them for a project only': {
    project: 'work',
    outside: 'home',
    servers: (home, work, path) => [{ ...work, projects: [{ path, channel: work.channel }], onlyProjects: true }, home],
  },
  'two servers for projects only': {
    project: 'work',
    outside: 'nowhere',
    servers: (home, work, path) => [
      { ...home, projects: [{ path: '/elsewhere', channel: home.channel }], onlyProjects: true },
      { ...work, projects: [{ path, channel: work.channel }], onlyProjects: true },
    ],
  },
};

async function start({ servers }: Arrangement) {
  const guilds = await startTwoGuilds();
  const [project, outside, folder] = [tempFolder(), tempFolder(), tempFolder()];
  const at = ({ token, channelId: channel, userId: user }: TestWorkspace, name: string): ServerConfig => ({
    ...localServer({ api: guilds.api, token, channel, user }),
    name,
  });
  const agent = join(folder, 'agent');
  const setting = await startSetting({
    file: { agents: { claude: { command: [agent] } } },
    servers: () => servers(at(guilds.home, 'home'), at(guilds.work, 'work'), project),
  });
  const { env } = setting.machine;
  const variables = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const claude = `'${process.execPath}' '${FAKE_CLAUDE}' "$(mktemp -d '${folder}/XXXXXX')" '${DROP}'`;
  writeFileSync(agent, `#!/bin/sh\nexec env ${variables.join(' ')} ${claude}\n`, { mode: 0o755 });
  saveAutoThreads(setting.machine.home, true);
  setting.machine.startServer();
  return { ...guilds, setting, project, outside };
}

describe.each(Object.entries(ARRANGEMENTS))('with %s', (_, arrangement) => {
  it('a session has one thread in its place, however it was made, until it ends', async () => {
    const { home, work, setting, ...places } = await start(arrangement);
    const { machine } = setting;
    const { tmux, env } = machine;
    const guilds = { home, work };
    const made: { name: string; where: Where }[] = [];

    const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
    const byHand = (name: string, dir: string) =>
      tmux.call('new-session', '-d', '-s', name, '-c', dir, '-x', '120', '-y', '40', ...variables, 'sh');
    for (const place of ['project', 'outside'] as const) {
      const where = arrangement[place];
      const note = (name: string) => {
        made.push({ name, where });
        return name;
      };
      byHand(note(`${place}-hand`), places[place]);
      byHand(note(`${place}-claude`), places[place]);
      if (where === 'nowhere') {
        const { channelId, person } = home;
        await person.say(channelId, `!new ${place}-new ${places[place]} -- sh`);
        await vi.waitFor(async () => {
          const said = (await person.messages(channelId)).map(({ content }) => content);
          expect(said).toContainEqual(expect.stringMatching(/^⚠️ `outside-new` was not started/));
        }, WAIT);
        continue;
      }
      await startFakeClaude(machine, `${place}-claude`, { again: true });
      const { channelId, person } = guilds[where];
      await person.say(channelId, `!new ${note(`${place}-new`)} ${places[place]}`);
      await person.say(channelId, `!new ${note(`${place}-shell`)} ${places[place]} -- sh`);
    }

    const until = (titleOf: (name: string) => string) =>
      vi.waitFor(async () => {
        const wanted = (where: Where) => made.filter((one) => one.where === where).map(({ name }) => titleOf(name));
        expect([await threadNames(home), await threadNames(work)]).toEqual([
          wanted('home').toSorted(),
          wanted('work').toSorted(),
        ]);
      }, WAIT);
    const idsNow = async () => {
      const all = [...(await threadsOf(home)), ...(await threadsOf(work))];
      return all.map(({ id }) => id).toSorted();
    };

    await reconcile(setting);
    await until((name) => `[agent] ${name}`);
    const ids = await idsNow();

    for (const { name } of made) tmux.call('rename-session', '-t', `=${name}`, `${name}-two`);
    await reconcile(setting);
    await until((name) => `[agent] ${name}-two`);

    await setting.restart();
    await reconcile(setting);
    await until((name) => `[agent] ${name}-two`);

    // Some end while nobody looks.
    const [first, ...others] = made;
    for (const { name } of others) tmux.call('kill-session', '-t', `=${name}-two`);
    await reconcile(setting);
    await setting.stop();
    tmux.call('kill-session', '-t', `=${first?.name}-two`);
    await setting.restart();
    await reconcile(setting);
    await until((name) => `([agent] ${name}-two)`);
    expect(await idsNow()).toEqual(ids);

    for (const place of ['project', 'outside'] as const) byHand(`${place}-hand-two`, places[place]);
    await reconcile(setting);
    await until((name) => (name.endsWith('hand') ? `[agent] ${name}-two` : `([agent] ${name}-two)`));
    expect(await idsNow()).toEqual(ids);

    const unseen = made.filter(({ where }) => where === 'nowhere').map(({ name }) => name);
    for (const guild of [home, work]) {
      const channels = [guild.channelId, ...(await threadsOf(guild)).map(({ id }) => id)];
      const said = JSON.stringify(await Promise.all(channels.map((id) => guild.person.messages(id))));
      for (const name of unseen) expect(said).not.toContain(name);
    }
  });
});
