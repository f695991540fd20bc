// The real Claude Code on a host that is only configured: started with `!new` over ssh, prompted, and answered.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startClaudeLab } from '../../../support/claude-lab.ts';
import { buttonOf, promptIn, verdictOf } from '../../../support/prompt-pane.ts';
import { startSshServer } from '../../../support/ssh-server.ts';
import { tempFolder } from '../../../support/temp-home.ts';

it('!new on a host starts a chat that replies, gets its mark, and is allowed a tool by a tap', async () => {
  const bin = tempFolder();
  const nodeWasRun = join(bin, 'was-run');
  writeFileSync(join(bin, 'node'), `#!/bin/sh\n: > ${nodeWasRun}; exit 127\n`, { mode: 0o755 });
  const ssh = await startSshServer({ path: `${bin}:/usr/bin:/bin` });
  const socket = join(bin, 'tmux');
  const project = join(ssh.home, 'project');
  mkdirSync(project);
  const lab = await startClaudeLab({ far: { configFile: ssh.configFile, socket } });
  onTestFinished(() => lab.stop());
  onTestFinished(() => void spawnSync('tmux', ['-S', socket, 'kill-server']));
  await lab.start('demo'); // starts the model
  // The first-run questions of Claude Code are answered on the host too.
  const answers = readFileSync(join(lab.dir, 'home/.claude.json'), 'utf8');
  const { projects: _, ...known } = JSON.parse(answers);
  const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  writeFileSync(
    join(ssh.home, '.claude.json'),
    JSON.stringify({
      ...{ hasCompletedOnboarding: true, theme: 'dark', projects: { [project]: trusted } },
      customApiKeyResponses: known.customApiKeyResponses,
    }),
  );
  // Newer versions start in auto mode, which rarely asks.
  mkdirSync(join(ssh.home, '.claude'));
  const manual = { permissions: { defaultMode: 'default' } };
  writeFileSync(join(ssh.home, '.claude/settings.json'), JSON.stringify(manual));

  await lab.person.say(lab.channelId, `!new web far ${project}`);
  const web = await lab.find('web');
  expect(web.record()).toMatchObject({ host: 'far', cwd: project });
  await web.idle();
  await web.submit('hello from far away');
  await web.next(/Claude started/, /^-# far · .*\nEcho: hello from far away$/s);

  await web.submit('bash touch made-there');
  const prompt = await promptIn(lab, web.thread);
  expect(prompt.content).toContain('touch made-there');
  expect(existsSync(join(project, 'made-there'))).toBe(false);
  await lab.person.tap(web.thread, prompt.id, buttonOf(prompt, 'Allow'));
  expect(await verdictOf(lab, prompt, 40_000)).toBe('✅ **Allowed** — you');
  await web.idle();
  expect(existsSync(join(project, 'made-there'))).toBe(true);
  expect(web.prompts()).toEqual(['hello from far away', 'bash touch made-there']);

  const found = spawnSync('grep', ['-rlF', tokenOf(lab.dir), join(ssh.home, '.threadmux')], {
    encoding: 'utf8',
  });
  expect(found.stdout).toBe('');
  expect(existsSync(nodeWasRun), 'Node.js was started there').toBe(false);
  execFileSync('tmux', ['-S', socket, 'has-session', '-t', '=web']);
});

function tokenOf(dir: string): string {
  const path = join(dir, 'home/.threadmux/state/workspace.json');
  return JSON.parse(readFileSync(path, 'utf8')).token;
}
