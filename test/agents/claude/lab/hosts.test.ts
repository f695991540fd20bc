// The real Claude Code on a host that is only configured: started with `!new` over ssh, prompted, and answered.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { declineAutoMode, startLabWithHost } from '../../../support/far-lab.ts';
import { PATIENCE } from '../../../support/lab-session.ts';
import { buttonOf, messageNow, promptIn, verdictOf } from '../../../support/prompt-pane.ts';

it('!new on a host starts a chat that replies, gets its mark, is allowed a tool and answers a dialog by taps', async () => {
  const setting = await startLabWithHost();
  const { lab, ssh, socket, project } = setting;
  await lab.person.say(lab.channelId, `!new web far ${project}`);
  const web = await lab.find('web');
  expect(web.record()).toMatchObject({ host: 'far', cwd: project });
  await declineAutoMode(setting, 'web');
  await web.idle();
  await web.submit('hello from far away');
  await vi.waitFor(async () => {
    const replies = (await web.news()).map(({ content }) => content).filter((text) => text.includes('Echo'));
    expect(replies).toEqual([expect.stringMatching(/^-# far · .*\nEcho: hello from far away$/s)]);
  }, PATIENCE);

  await web.submit('bash touch made-there');
  const prompt = await promptIn(lab, web.thread);
  expect(prompt.content).toContain('touch made-there');
  expect(existsSync(join(project, 'made-there'))).toBe(false);
  await lab.person.tap(web.thread, prompt.id, buttonOf(prompt, 'Allow'));
  expect(await verdictOf(lab, prompt, 40_000)).toBe('✅ **Allowed** — you');
  await web.idle();
  expect(existsSync(join(project, 'made-there'))).toBe(true);
  expect(web.prompts()).toEqual(['hello from far away', 'bash touch made-there']);

  // A dialog there is a card here, and a tap presses its keys there.
  await web.submit('/model');
  const card = await vi.waitFor(async () => {
    const shown = (await lab.person.messages(web.thread)).find(({ content }) => /^🔔 \*\*Select model/.test(content));
    if (shown === undefined) throw new Error('there is no card');
    return shown;
  }, PATIENCE);
  await lab.person.tap(web.thread, card.id, buttonOf(card, 'Opus'));
  await vi.waitFor(async () => {
    expect((await messageNow(lab, card)).content).toMatch(/^✅ \*\*Select model\*\* Opus/);
  }, PATIENCE);
  await web.idle();
  const pane = execFileSync('tmux', ['-S', socket, 'capture-pane', '-p', '-t', '=web:'], { encoding: 'utf8' });
  expect(pane).toMatch(/Set model to .*Opus/);

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
