// The same journey to another machine, over the real ssh: its cost.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { untilPrompts } from './bridge-setup.ts';
import { startFar } from './remote-host.ts';

describe('a session on another host', () => {
  it('gets a message that is confirmed by its screen, over one connection', async () => {
    const far = await startFar({ sshServer: { banner: 'Authorised use only!\n' } });
    const claude = await far.farClaude('web');
    const texts = ['hello', `it's "quoted" $(id) \`x\` \\`, 'two\nlines', '-x;', 'ünï 👍'];
    for (const text of texts) await far.untilMarked(await far.say(claude, text), '✅');
    await untilPrompts(claude, texts);
    const before = far.ssh.counts.execs;
    for (const text of ['a', 'b', 'c']) await far.untilMarked(await far.say(claude, text), '✅');
    // One look, one exec that types, three looks that find the text gone from the box, and two for its state, because no hook
    // reports it; a slow host may need some more looks.
    expect(far.ssh.counts.execs - before).toBeLessThanOrEqual(3 * 10);
    expect(far.ssh.counts.connections).toBe(1);
    await claude.tell('draft', 'half a thought');
    await far.untilMarked(await far.say(claude, 'over a draft'), '✅');
    expect((await claude.tell('close')).box).toBe('half a thought');
    const threads = await far.workspace.bot('GET', `/guilds/${far.workspace.guildId}/threads/active`);
    expect(threads.body.threads.map(({ name }: { name: string }) => name)).toEqual(['[agent] web@far']);
  });

  it('gets a message over a slow connection', async () => {
    const far = await startFar();
    const claude = await far.farClaude('web');
    far.ssh.faults.latencyMs = 150;
    await far.untilMarked(await far.say(claude, 'slowly\nbut surely'), '✅');
    expect(claude.prompts()).toEqual(['slowly\nbut surely']);
  });

  it('shares one connection with nine others', async () => {
    const far = await startFar();
    const claudes = await Promise.all(
      Array.from({ length: 10 }, (_, n) => far.farClaude(`web-${n}`, { replies: false })),
    );
    for (const text of ['first', 'second'])
      await Promise.all(claudes.map((claude) => far.say(claude, `${text} for ${claude.session}`)));
    for (const claude of claudes)
      await untilPrompts(claude, [`first for ${claude.session}`, `second for ${claude.session}`]);
    expect(far.ssh.counts.connections).toBe(1);
    expect(far.ssh.counts.sessionsAtOnce).toBeLessThanOrEqual(10);
  });

  it('gets the files of a message on its own disk, also those written while it was down', async () => {
    const far = await startFar();
    const claude = await far.farClaude('web');
    const say = (text: string, data: string) =>
      far.workspace.person.say(claude.thread, text, { files: [{ name: '../a b.txt', data }] });
    const first = await say('look', 'one');
    await far.untilMarked(first, '✅');
    const path = (id: string) => far.place.home.path('for', 'laptop', 'files', id, 'a_b.txt');
    expect(claude.prompts()).toEqual([`look\n\n${path(first.id)}`]);
    expect(readFileSync(path(first.id), 'utf8')).toBe('one');
    await far.ssh.stop();
    const second = await say('and this', 'two');
    await far.answer(claude, /^📨 Your message waits/);
    await far.ssh.start();
    await far.untilMarked(second, '✅');
    expect(claude.prompts().at(-1)).toBe(`and this\n\n${path(second.id)}`);
    expect(readFileSync(path(second.id), 'utf8')).toBe('two');
  });

  it('gets a message in its new pane after Claude was restarted, without Retry', async () => {
    const far = await startFar();
    const claude = await far.farClaude('web');
    await far.untilMarked(await far.say(claude, 'before'), '✅');
    far.place.tmux.call('new-session', '-d', '-s', 'other', 'cat');
    far.place.tmux.call('kill-session', '-t', '=web');
    const again = await far.farClaude('web');
    expect(again.thread).toBe(claude.thread);
    await far.untilMarked(await far.say(claude, 'after'), '✅');
    expect(again.prompts().at(-1)).toBe('after');
  });
});

describe('commands over ssh', () => {
  it('start, kill and list sessions on the host', async () => {
    const far = await startFar({ file: { allowShell: true } });
    const { channelId } = far.workspace;
    await far.say(channelId, '!new ops far -- sh');
    const up = await far.answer(channelId, /^▶️ `ops` is up/);
    const thread = /<#(\d+)>/.exec(up.content)?.[1] ?? '';
    await far.say(thread, 'echo "$SSH_CLIENT$HOME"; echo $((6*7))');
    await far.answer(thread, /\n42\n/);
    await far.untilMarked(await far.say(thread, 'cd /usr'), '✅');
    await far.say(thread, '!sh pwd');
    await far.answer(thread, /^-# In `\/usr` on `far`:\n```\n\/usr\n```$/);
    far.machine.tmux.call('new-session', '-d', '-s', 'ops', 'cat');
    await far.say(channelId, '!sessions');
    const list = await far.answer(channelId, /`ops@far`/);
    expect(list.content).toMatch(/🐚 `ops@far` <#\d+> shell/);
    await far.say(channelId, '!kill ops@far');
    await far.answer(channelId, /^⏹️ `ops` on `far` was ended/);
    expect(far.machine.tmux.call('list-sessions', '-F', '#S')).toBe('ops');
  });
});
