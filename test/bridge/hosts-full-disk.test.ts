// The disk of a host is full: it is reported in a sentence, nothing is lost, and everything continues when there is space.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { smallDisk } from '../support/disk.ts';
import { buttonOf, decisionIn, promptIn, untilTextCounts, verdictOf } from '../support/prompt-pane.ts';
import { aWhile, untilPrompts, WAIT } from './bridge-setup.ts';
import { farAgent, farHook, farPromptPane, farWithHooks, startFar, startFarHost } from './remote-host.ts';

describe('a host whose disk is full', () => {
  it('keeps the letters of its hooks in order until there is space, and still takes messages', async () => {
    const disk = smallDisk(512);
    const far = await startFar({ sshServer: { home: disk.dir } });
    const claude = await farWithHooks(far, far, 'web');
    await far.untilMarked(await far.say(claude, 'before'), '✅');
    await far.answer(claude, /Echo: before/);
    disk.fill();
    const texts = ['one', 'two', 'three'];
    for (const text of texts) {
      // The hooks of this one have retried several times; it must still come first.
      if (text === 'two') await aWhile(3_300);
      await far.say(claude, text);
      await vi.waitFor(() => expect(claude.prompts()).toContain(text), WAIT);
    }
    disk.free();
    await vi.waitFor(async () => {
      const all = (await far.answers(claude)).map(({ content }) => content).join('\n');
      expect(all.match(/(?<=Echo: ).*/g)).toEqual(['before', ...texts]);
    }, WAIT);
    await untilPrompts(claude, ['before', ...texts]);
    const said = (await far.workspace.person.messages(claude.thread)).filter(
      ({ author }) => author.id === far.workspace.userId,
    );
    for (const message of said) await far.untilMarked(message, '✅');
  });

  it('gets no partial file, and the thread says why', async () => {
    const disk = smallDisk(512);
    const far = await startFar({ sshServer: { home: disk.dir } });
    const claude = await farWithHooks(far, far, 'web');
    disk.fill();
    const data = Uint8Array.from(Buffer.alloc(90_000, 1));
    const files = [{ name: 'photo.png', data }];
    const look = await far.workspace.person.say(claude.thread, 'look', { files });
    const told = await far.answer(claude, /photo\.png/);
    const why = 'threadmux could not copy `photo.png` on far: the disk there is full';
    expect(told.content).toBe(`📎 ${why}`);
    await untilPrompts(claude, ['look']);
    expect(readdirSync(join(far.ours, 'files'), { recursive: true })).toEqual([look.id]);
    disk.free();
    await far.untilMarked(look, '✅');
  });

  it('gets the answer to a prompt when there is space, and no partial answer before', async () => {
    const disk = smallDisk(512);
    const far = await startFar({ sshServer: { home: disk.dir } });
    const pane = await farPromptPane(far, far);
    await pane.show('dialog-permission-bash');
    const hook = farHook(far, pane, pane.input('Bash'));
    const asked = await promptIn(far.workspace, pane.thread);
    // A letter that is removed on the host would make room for the answer.
    const filesIn = (folder: string) => readdirSync(join(far.ours, folder), { recursive: true, encoding: 'utf8' });
    const letters = () => filesIn('outbox').filter((name) => /\/\d/.test(name));
    await vi.waitFor(() => expect(letters()).toEqual([]), WAIT);
    disk.fill();
    await far.workspace.person.tap(pane.thread, asked.id, buttonOf(asked, 'Allow'));
    await vi.waitFor(() => expect(far.log.join('\n')).toContain('an answer waits'), WAIT);
    expect(filesIn('answers').filter((name) => !name.endsWith('.bell'))).toEqual([]);
    expect(hook.hasEnded()).toBe(false);
    disk.free();
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
    await pane.show('busy-status-line');
    expect(await verdictOf(far.workspace, asked)).toBe('✅ **Allowed** — you');
  });

  it('is named as the reason why an answer waits, and not as a host that cannot be reached', async () => {
    const disk = smallDisk(512);
    const far = await startFar({ sshServer: { home: disk.dir } });
    const pane = await farPromptPane(far, far);
    await pane.show('dialog-permission-bash');
    const hook = farHook(far, pane, pane.input('Bash'));
    const message = await promptIn(far.workspace, pane.thread);
    const letters = () => readdirSync(join(far.ours, 'outbox'), { recursive: true, encoding: 'utf8' });
    await vi.waitFor(() => expect(letters().filter((name) => /\/\d/.test(name))).toEqual([]), WAIT);
    await untilTextCounts(message);
    disk.fill();
    await far.say(pane.thread, 'yes');
    const told = await far.answer(pane.thread, /^📨 Your message waits\./);
    expect(told.content).toContain('the disk there is full');
    expect(told.content).toContain('Make room on far');
    expect(told.content).not.toContain('cannot be reached');
    disk.free();
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
  });

  it('is not used until there is space for our scripts, which is reported; then it works', async () => {
    const disk = smallDisk(512);
    disk.fill();
    const mini = await startFarHost('mini', { home: disk.dir });
    const { program } = farAgent(mini);
    const far = await startFar({ others: [mini], file: { agents: { claude: { command: [program] } } } });
    const { channelId } = far.workspace;
    await far.say(channelId, '!new shop mini');
    const refused = await far.answer(channelId, /install its scripts/);
    expect(refused.content).toMatch(
      /could not install its scripts on mini: the disk there is full\n.*Make room on mini/s,
    );
    expect(existsSync(join(mini.ours, 'bin', 'drop'))).toBe(false);
    disk.free();
    await far.say(channelId, '!new shop mini');
    const up = await far.answer(channelId, /^▶️ `shop` is up/);
    const thread = /<#(\d+)>/.exec(up.content)?.[1] ?? '';
    await far.untilMarked(await far.say(thread, 'hello'), '✅');
    await far.answer(thread, /Echo: hello/);
  });
});
