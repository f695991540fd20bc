// The real Claude Code on a host that is only configured: started with `!new` over ssh, prompted, and answered.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { declineAutoMode, startLabWithHost } from '../../../support/far-lab.ts';
import { processesWith } from '../../../support/hook-process.ts';
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

  const found = spawnSync('grep', ['-rlF', tokenOf(lab.dir), join(ssh.home, '.threadmux')], { encoding: 'utf8' });
  expect(found.stdout).toBe('');
  execFileSync('tmux', ['-S', socket, 'has-session', '-t', '=web']);
});

it('!agent on a host runs a tool that is allowed there, continues the conversation, and leaves nothing after !stop', async () => {
  const { lab, ssh, project } = await startLabWithHost({ sshd: true });
  const { person, channelId } = lab;
  const said = (channel: string, pattern: RegExp) =>
    vi.waitFor(async () => {
      const found = (await person.messages(channel)).find(({ content }) => pattern.test(content));
      return found ?? expect.fail(`nothing fits ${pattern}`);
    }, PATIENCE);
  await person.say(channelId, '!agent far:project bash touch made-there');
  const up = await said(channelId, /^🤖 `project-agent` is at work/);
  const thread = /<#(\d+)>/.exec(up.content)?.[1] ?? '';
  const prompt = await promptIn(lab, thread, /touch made-there/);
  expect(existsSync(join(project, 'made-there'))).toBe(false);
  await person.tap(thread, prompt.id, buttonOf(prompt, 'Allow'));
  expect(await verdictOf(lab, prompt, 40_000)).toBe('✅ **Allowed** — you');
  await said(thread, /^Done\. The tool said/);
  await said(thread, /^✅ \d+ turns?/);
  expect(existsSync(join(project, 'made-there'))).toBe(true);
  await person.say(thread, 'who are you');
  await said(thread, /^Echo: who are you/);
  const request = readFileSync(join(lab.dir, 'model.log'), 'utf8').trim().split('\n').at(-1);
  expect(request).toContain('bash touch made-there');

  const turns = () => processesWith(`THREADMUX_THREAD=${thread}`);
  await vi.waitFor(() => expect(turns()).toEqual([]), PATIENCE);
  await person.say(thread, 'slow 60');
  await vi.waitFor(() => expect(turns().length).toBeGreaterThan(0), PATIENCE);
  await person.say(thread, '!stop');
  await said(thread, /^⏹️ Stopped after/);
  await vi.waitFor(() => expect(turns()).toEqual([]), PATIENCE);
  expect(readdirSync(join(ssh.home, '.threadmux/for/lab')).filter((name) => /^turn/.test(name))).toEqual([]);
});

function tokenOf(dir: string): string {
  const path = join(dir, 'home/.threadmux/state/workspace.json');
  return JSON.parse(readFileSync(path, 'utf8')).token;
}
