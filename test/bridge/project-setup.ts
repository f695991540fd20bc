// A bridge with one project on the test's workspace. Its sessions run a fake Claude Code that notes how it was started.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerConfig } from '../../core/config.ts';
import { type ProjectEntry, projectSchema } from '../../core/project.ts';
import { FAKE_CLAUDE, standInAt } from '../support/fake-claude.ts';
import { DROP } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import { type Setting, type SettingOptions, startSetting } from './bridge-setup.ts';

export const projectEntry = (keys: object): ProjectEntry => projectSchema.parse(keys);

/** The fake Claude Code as `folder`/claude. Each start first runs `note`, a line for the shell. */
export function writeAgent({ machine }: Pick<Setting, 'machine'>, folder: string, note: string, variable = ''): void {
  const exec = `exec env THREADMUX_HOME=${machine.home.root} ${variable} '${process.execPath}' '${FAKE_CLAUDE}' '${folder}' '${DROP}'`;
  writeFileSync(join(folder, 'claude'), `#!/bin/sh\nrm -f ${folder}/control; ${note}\n${exec}\n`, { mode: 0o755 });
}

/** A bridge with one project, whose sessions run a fake Claude Code. */
export async function startProject(keys: object, options: SettingOptions = {}) {
  const folder = tempFolder();
  const path = join(tempFolder(), 'shop');
  mkdirSync(path);
  const program = join(folder, 'claude');
  let server: ServerConfig | undefined;
  const setting = await startSetting({
    ...options,
    file: { agents: { claude: { command: [program] } }, ...options.file },
    servers(own) {
      server ??= { ...own, projects: [projectEntry({ path, channel: own.channel, ...keys })] };
      return [server];
    },
  });
  const note = `echo x >> ${folder}/starts; pwd > ${folder}/pwd.new; mv ${folder}/pwd.new ${folder}/pwd; printf '%s\\n' "$@" > ${folder}/args`;
  writeAgent(setting, folder, note);
  return {
    setting,
    folder,
    path,
    channelId: setting.workspace.channelId,
    claude: standInAt(folder),
    starts: () => readFileSync(join(folder, 'starts'), 'utf8').split('\n').filter(Boolean).length,
    read: (name: string) => readFileSync(join(folder, name), 'utf8').trim(),
    /** Does what a change of config.json does. */
    change(to: object) {
      Object.assign(server ?? {}, { projects: [projectEntry({ path, channel: server?.channel, ...to })] });
      setting.shared.sessionsChanged.tell();
    },
  };
}
