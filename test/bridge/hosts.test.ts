// A host that was only named: nothing is installed there, no Node.js is in its PATH, and everything works as it does here.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Far, farWithHooks, startFar } from './far.ts';
import { untilPrompts } from './setting.ts';

const texts = async (far: Far, thread: string) =>
  (await far.answers(thread)).map(({ content }) => content);

describe('a host that was only named', () => {
  it('reports, is typed into and answers, once each and in order', {
    timeout: 60_000,
  }, async () => {
    const far = await startFar();
    const claude = await farWithHooks(far, far, 'web');
    for (const text of ['one', 'two', 'three'])
      await far.untilMarked(await far.say(claude, text), '✅');
    await untilPrompts(claude, ['one', 'two', 'three']);
    for (const text of ['one', 'two', 'three']) await far.answer(claude, new RegExp(`${text}`));
    const replies = (await texts(far, claude.thread)).filter((text) =>
      /(one|two|three)/.test(text),
    );
    expect(replies).toHaveLength(3);
    expect(claude.record()).toMatchObject({ host: 'far', shell: 'no' });
    expect(far.ssh.counts.connections).toBe(1);
  });

  it('keeps its letters while it is away, and everything goes on when it is back', {
    timeout: 90_000,
  }, async () => {
    const far = await startFar();
    const claude = await farWithHooks(far, far, 'web');
    await far.untilMarked(await far.say(claude, 'before'), '✅');
    const { port } = far.ssh;
    await far.ssh.stop();
    const waiting = await far.say(claude, 'while it is away');
    await far.untilMarked(waiting, '📨');
    await claude.tell('idle');
    expect((await texts(far, claude.thread)).join()).not.toContain('while it is away');
    await far.ssh.start(port);
    await far.untilMarked(waiting, '✅');
    await untilPrompts(claude, ['before', 'while it is away']);
  });

  it('has nothing of a token and no program of ours but three scripts', async () => {
    const far = await startFar();
    await farWithHooks(far, far, 'web');
    const root = join(far.ssh.home, '.threadmux');
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => /(^|\/)bin\//.test(name)).sort()).toEqual(
      ['drop', 'ask', 'statusline'].map((name) => `for/laptop/bin/${name}`).sort(),
    );
    for (const name of files) {
      const path = join(root, name);
      if (!name.endsWith('bell') && existsSync(path) && !readdirSafe(path))
        expect(readFileSync(path, 'utf8')).not.toContain(far.workspace.token);
    }
  });

  it('sends a file of its project, and none from outside', { timeout: 60_000 }, async () => {
    const far = await startFar();
    const claude = await farWithHooks(far, far, 'web');
    const project = far.place.tmux.dir;
    writeFileSync(join(project, 'chart.txt'), 'ä chart\n');
    await far.untilMarked(
      await far.say(claude, 'see\n[ATTACH: chart.txt]\n[ATTACH: /etc/passwd]'),
      '✅',
    );
    const reply = await far.answer(claude, /outside the project/);
    expect(reply.content).not.toContain('chart.txt');
    expect(reply.attachments?.map(({ filename }) => filename)).toEqual(['chart.txt']);
  });
});

function readdirSafe(path: string): boolean {
  try {
    readdirSync(path);
    return true;
  } catch {
    return false;
  }
}
