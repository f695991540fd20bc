// A project on this machine or on another host behind the real sshd, through Discord's stand-in or the local workspace. Its agent is a
// fake Claude Code that notes each start, with one folder per session.

import { spawnSync } from 'node:child_process';
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { PanelView } from '../../bridge/panel/panel-rows.ts';
import { panelDraft } from '../../bridge/panel/panel-text.ts';
import { DROP, paneEnv } from '../support/hook-process.ts';
import { buttonOf } from '../support/prompt-pane.ts';
import { tempFolder } from '../support/temp-home.ts';
import type { TmuxServer } from '../support/tmux-server.ts';
import type { WireMessage } from '../support/workspace.ts';
import { makeRepo } from '../support/worktree-repo.ts';
import { type Setting, startSetting, WAIT } from './bridge-setup.ts';
import { declaredAgent, watchStarts } from './declared/declared-setup.ts';
import { projectEntry } from './project-setup.ts';
import { type FarHost, startFarHost } from './remote-host.ts';

export const SLOW = { ...WAIT, timeout: 60_000 } as const;

export interface ProjectPlace {
  readonly host: 'laptop' | 'mini';
  readonly server: 'discord' | 'local';
}

/** Each machine and each server once. */
export const PROJECT_PLACES: readonly [string, ProjectPlace][] = [
  ['on this machine, through Discord', { host: 'laptop', server: 'discord' }],
  ['on another host, through the local workspace', { host: 'mini', server: 'local' }],
];

/** The folder of the project is `shop`, in the home of its machine. */
export async function startProjectAt({ host, server }: ProjectPlace, keys: object) {
  const mini = host === 'mini' ? await startFarHost('mini', { sshd: true }) : undefined;
  const home = realpathSync(mini?.ssh.home ?? tempFolder());
  const repo = makeRepo(join(home, 'shop'));
  const folder = tempFolder();
  // Of this machine, it is not known yet when the first session starts.
  const ours = join(folder, 'ours');
  const program = declaredAgent(
    folder,
    () => `$(while [ ! -s ${ours} ]; do sleep 0.05; done; cat ${ours})`,
    () => (mini === undefined ? DROP : `${mini.ours}/bin/drop`),
  );
  const hosts = mini && { mini: { ssh: 'mini', socket: mini.place.tmux.socket } };
  const shop = { path: repo.path, host, ...keys };
  const setting = await startSetting({
    file: { agents: { claude: { command: [program] } }, ...(hosts && { hosts }), projects: [shop] },
    live: true,
    ...(mini && { sshConfig: mini.ssh.configFile }),
    startAgainMs: [200, 200, 200, 200],
    servers: (own, { api }) => {
      const entry = { projects: [projectEntry({ ...shop, channel: own.channel })], onlyProjects: true };
      return [server === 'local' ? { ...own, ...entry } : { ...own, ...entry, api, name: 'discord' }];
    },
  });
  writeFileSync(ours, mini?.ours ?? setting.machine.home.root);
  const { channelId } = setting.workspace;
  const worktrees = mini === undefined ? realpathSync(setting.machine.home.root) : join(home, '.threadmux');
  return {
    setting,
    channelId,
    repo,
    mini,
    ...watchStarts(folder),
    tmux: mini?.place.tmux ?? setting.machine.tmux,
    worktree: (session: string) => join(worktrees, 'worktrees/shop', session),
    labelOf: (session: string) => (host === 'mini' ? `${session}@mini` : session),
    /** Where the scripts of that machine report. */
    oursThere: mini?.ours ?? setting.machine.home.root,
    panel: server === 'local' ? watchView(setting) : watchMessage(setting),
    threadOf: (session: string) =>
      vi.waitFor(() => {
        const found = setting.shared.threads.registry.all().find((one) => one.sessionName === session && !one.closed);
        if (found === undefined) throw new Error(`${session} has no thread`);
        return found.thread;
      }, SLOW),
  };
}

interface ProjectPanel {
  until(what: RegExp): Promise<unknown>;
  press(button: 'Start' | 'Stop', label: string): Promise<unknown>;
}

function watchMessage(setting: Setting): ProjectPanel {
  const { channelId, person } = setting.workspace;
  const until = (what: RegExp): Promise<WireMessage> =>
    vi.waitFor(async () => {
      const all = (await setting.answers(channelId)).filter(({ content }) => content.startsWith('**Sessions**'));
      expect(all).toHaveLength(1);
      expect(all[0]?.content).toMatch(what);
      return all[0] as WireMessage;
    }, SLOW);
  return {
    until,
    async press(button, label) {
      const shown = await until(/./);
      return person.tap(channelId, shown.id, buttonOf(shown, `${button} ${label}`));
    },
  };
}

/** The page has no message: it gets the same rows, and its buttons are commands. */
function watchView(setting: Setting): ProjectPanel {
  const { channelId, person } = setting.workspace;
  let view: PanelView = { rows: [], worktrees: [] };
  setting.bridge.onView((now) => {
    view = now;
  });
  return {
    until: (what) => vi.waitFor(() => expect(panelDraft(view, () => '').content).toMatch(what), SLOW),
    press: (button, value) => {
      const name = button === 'Start' ? 'start' : 'kill';
      return vi.waitFor(() => person.slash(channelId, name, [{ name: 'name', value }]), WAIT);
    },
  };
}

/** What the hook of Claude Code does there. */
export function reportThere(
  { tmux, oursThere, mini }: { tmux: TmuxServer; oursThere: string; mini: FarHost | undefined },
  setting: Setting,
  session: string,
  input: object,
): void {
  if (mini === undefined) return setting.machine.write(setting.machine.paneEnv(`=${session}:`), input);
  const env = { ...mini.place.env, ...paneEnv(tmux, `=${session}:`), THREADMUX_HOME: oursThere };
  spawnSync(join(oursThere, 'bin/drop'), { input: JSON.stringify(input), env });
}
