// The lab with a second host that is only configured: Claude Code can start there over ssh, and there is no Node.js.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { type ClaudeLab, type LabSession, startClaudeLab } from './claude-lab.ts';
import { type SshServer, startSshServer } from './ssh-server.ts';
import { tempFolder } from './temp-home.ts';

export interface LabWithHost {
  readonly lab: ClaudeLab;
  /** A Claude on this machine. */
  readonly demo: LabSession;
  readonly ssh: SshServer;
  /** The socket of the tmux server on the host. */
  readonly socket: string;
  /** A directory on the host in which Claude starts without questions. */
  readonly project: string;
}

/** `sshd`: behind the real one. */
export async function startLabWithHost({ sshd = false } = {}): Promise<LabWithHost> {
  const bin = tempFolder();
  const nodeWasRun = join(bin, 'was-run');
  writeFileSync(join(bin, 'node'), `#!/bin/sh\n: > ${nodeWasRun}; exit 127\n`, { mode: 0o755 });
  const ssh = await startSshServer({ path: `${bin}:/usr/bin:/bin`, name: 'far', sshd });
  const socket = join(bin, 'tmux');
  const project = join(ssh.home, 'project');
  mkdirSync(project);
  const lab = await startClaudeLab({ far: { configFile: ssh.configFile, socket } });
  onTestFinished(() => lab.stop());
  onTestFinished(() => void spawnSync('tmux', ['-S', socket, 'kill-server']));
  onTestFinished(() => expect(existsSync(nodeWasRun), 'Node.js was started there').toBe(false));
  const demo = await lab.start('demo'); // starts the model
  // The first-run questions of Claude Code are answered on the host too.
  const answers = readFileSync(join(lab.dir, 'home/.claude.json'), 'utf8');
  const { projects: _, ...known } = JSON.parse(answers);
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  writeFileSync(
    join(ssh.home, '.claude.json'),
    // With everything that the Claude on this machine was asked, such as whether to make auto mode the default.
    JSON.stringify({ ...known, projects: { [project]: trusted } }),
  );
  // Newer versions start in auto mode, which rarely asks.
  mkdirSync(join(ssh.home, '.claude'));
  const manual = { permissions: { defaultMode: 'default' } };
  writeFileSync(join(ssh.home, '.claude/settings.json'), JSON.stringify(manual));
  return { lab, demo, ssh, socket, project };
}

/** Newer versions offer auto mode a moment after the box of their first session has appeared. Declines it, if it comes before `isOver`. */
export async function declineAutoMode(
  { socket }: Pick<LabWithHost, 'socket'>,
  name: string,
  isOver?: () => boolean,
): Promise<void> {
  const within = isOver === undefined ? 6_000 : 60_000;
  const tmux = (...args: string[]) => spawnSync('tmux', ['-u', '-S', socket, ...args], { encoding: 'utf8' }).stdout;
  for (let until = Date.now() + within; Date.now() < until && !isOver?.(); await sleep(400)) {
    const screen = tmux('capture-pane', '-p', '-t', `=${name}:`);
    if (screen.includes('❯ No, keep manual mode')) return void tmux('send-keys', '-t', `=${name}:`, 'Enter');
    if (!screen.includes('Make auto mode your default')) continue;
    tmux('send-keys', '-t', `=${name}:`, 'Down');
    until = Date.now() + 6_000;
  }
}
