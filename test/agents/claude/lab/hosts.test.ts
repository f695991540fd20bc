// The real Claude Code on a host that is only configured: started with `!new` over ssh, prompted, and answered.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startLabWithHost } from '../../../support/far-lab.ts';
import { buttonOf, promptIn, verdictOf } from '../../../support/prompt-pane.ts';

it('!new on a host starts a chat that replies, gets its mark, and is allowed a tool by a tap', async () => {
  const { lab, ssh, socket, project } = await startLabWithHost();
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
  execFileSync('tmux', ['-S', socket, 'has-session', '-t', '=web']);
});

function tokenOf(dir: string): string {
  const path = join(dir, 'home/.threadmux/state/workspace.json');
  return JSON.parse(readFileSync(path, 'utf8')).token;
}
