// A correct set-up in its own home: each test breaks one thing.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type DoctorSubject, examine } from '../../../bin/doctor/doctor.ts';
import type { Finding } from '../../../bin/doctor/finding.ts';
import { openHome } from '../../../home/home.ts';
import { install } from '../../../install/install.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { startTestWorkspace, type TestWorkspace, type TestWorkspaceOptions } from '../../support/workspace.ts';

export interface DoctorSetup {
  readonly env: Record<string, string>;
  readonly root: string;
  readonly settings: string;
  readonly workspace: TestWorkspace;
  readonly config: string;
  /** Changes the configuration; a key that is undefined is removed. */
  configure(change: (config: Config) => unknown): void;
  install(dist?: string, project?: string): Promise<void>;
  tmux(...args: string[]): void;
  examine(more?: Partial<DoctorSubject>): Promise<readonly Finding[]>;
}

interface Config {
  servers: Record<string, unknown>[];
  hosts?: unknown;
  [key: string]: unknown;
}

export async function correctSetup(options: TestWorkspaceOptions = {}): Promise<DoctorSetup> {
  const folder = tempFolder();
  const workspace = await startTestWorkspace(options);
  const path = (...parts: string[]) => join(folder, ...parts);
  for (const name of ['home', 'sockets', 'bin']) mkdirSync(path(name));
  writeFileSync(path('bin', 'claude'), '#!/bin/sh\n', { mode: 0o755 });
  const env = {
    HOME: path('home'),
    PATH: `${path('bin')}:${process.env.PATH}`,
    TMUX_TMPDIR: path('sockets'),
    LANG: 'C.UTF-8',
    SHELL: '/bin/sh',
  };
  const root = openHome(path('home', '.threadmux')).root;
  const config = join(root, 'config.json');
  const { api, token, channelId: channel, userId } = workspace;
  writeFileSync(config, JSON.stringify({ servers: [{ api, token, channel, allow: [userId] }] }), { mode: 0o600 });
  onTestFinished(() => {
    const real = { ...env, PATH: process.env.PATH }; // a test may have put another tmux first in PATH
    spawnSync('tmux', ['kill-server'], { env: real, stdio: 'ignore' });
  });
  return {
    env,
    root,
    workspace,
    config,
    settings: path('home', '.claude', 'settings.json'),
    configure(change) {
      const before = JSON.parse(readFileSync(config, 'utf8')) as Config;
      change(before);
      writeFileSync(config, JSON.stringify(before));
      chmodSync(config, 0o600);
    },
    async install(dist = packageAt(path('package', 'dist')), project = undefined) {
      const paths = { node: process.execPath, dist };
      await install({ root, env, tmux: undefined, project, paths });
    },
    tmux(...args) {
      const done = spawnSync('tmux', args, { env, encoding: 'utf8' });
      if (done.status !== 0) throw new Error(`tmux ${args.join(' ')}: ${done.stderr}`);
    },
    examine: (more = {}) => examine({ env, nodeVersion: process.version, ...more }),
  };
}

/** The files of an installed package that the settings name. */
export function packageAt(dist: string): string {
  for (const folder of ['hooks', 'bin']) mkdirSync(join(dist, folder), { recursive: true });
  for (const file of ['hooks/drop', 'hooks/ask', 'hooks/statusline']) writeFileSync(join(dist, file), '');
  return dist;
}

export function troubles(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ level }) => level !== 'ok');
}

/** A finding that doctor must report, besides others. */
export function fault(part: string, says: string | RegExp, remedy: string | RegExp, level = 'fail') {
  return expect.objectContaining({
    part,
    level,
    says: expect.stringMatching(says),
    remedy: expect.stringMatching(remedy),
  });
}
