// An agent without our hooks is recognised by its screen, typed into, and confirmed by its screen.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { aWhile, madeLongAgo, screenOf, startSetting, tellOfSession, untilPrompts, WAIT } from './bridge-setup.ts';
import { startFar } from './remote-host.ts';

describe('an agent without our hooks', () => {
  it('is typed into, confirmed by its screen, and the thread says once what is missing', async () => {
    const setting = await startSetting({ waits: { heardWithinMs: 500 } });
    const claude = await setting.claude('web', { hooks: false });
    expect(claude.record()).toMatchObject({ shell: 'found', claudeSession: '' });
    const first = await setting.say(claude, 'hello');
    const second = await setting.say(claude, 'two\nlines');
    for (const message of [first, second]) await setting.untilMarked(message, '✅');
    await untilPrompts(claude, ['hello', 'two\nlines']);
    await setting.answer(claude, /^ℹ️ .*without our hooks.*`threadmux install`/);
    await setting.untilMarked(await setting.say(claude, 'once more'), '✅');
    await aWhile();
    const said = (await setting.answers(claude)).map(({ content }) => content);
    expect(said.filter((text) => text.startsWith('ℹ️'))).toHaveLength(1);
    expect(said.filter((text) => text.startsWith('⚠️'))).toEqual([]);
  });

  it('is typed into even if the registry has forgotten it', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web', { hooks: false });
    setting.shared.threads.registry.forget(claude.thread);
    await setting.untilMarked(await setting.say(claude, 'hello'), '✅');
    expect(claude.prompts()).toEqual(['hello']);
  });

  it('queues messages while it works, and each is ✅ when it has left the box', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web', { hooks: false });
    await claude.tell('busy');
    const messages = [await setting.say(claude, 'one'), await setting.say(claude, 'two')];
    for (const message of messages) await setting.untilMarked(message, '✅');
    await claude.tell('idle');
    await untilPrompts(claude, ['one', 'two']);
  });

  it('gets a message only after its dialog is closed', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web', { hooks: false });
    await claude.tell('dialog', 'rm -rf /');
    const message = await setting.say(claude, 'hello');
    await setting.answer(claude, /^📨 Your message waits\. Claude is asking for permission/);
    await aWhile();
    expect(claude.noted()).toEqual([]);
    await claude.tell('close');
    await setting.untilMarked(message, '✅');
    expect(claude.prompts()).toEqual(['hello']);
  });
});

describe('a plain shell', () => {
  it('with old output of Claude above its prompt is refused, and runs nothing', async () => {
    const setting = await startSetting();
    const { tmux } = setting.machine;
    const claude = await setting.claude('web', { hooks: false, inShell: true });
    const picture = join(tmux.dir, 'picture');
    tmux.call('run-shell', `tmux -S ${tmux.socket} capture-pane -p -t '=web:' > ${picture}`);
    await claude.tell('exit');
    await vi.waitFor(
      () => expect(tmux.call('display-message', '-p', '-t', '=web:', '#{pane_current_command}')).toBe('sh'),
      WAIT,
    );
    tmux.call('send-keys', '-t', '=web:', `clear; cat ${picture} | head -8`, 'Enter');
    await vi.waitFor(() => expect(screenOf(setting.machine, 'web')).toContain('? for shortcuts'), WAIT);
    madeLongAgo(setting, claude.thread);
    const trace = join(tmux.dir, 'pwned');
    const message = await setting.say(claude, `touch ${trace}`);
    await setting.untilMarked(message, '⚠️');
    await setting.answer(claude, /^⚠️ Not delivered\. The pane runs a plain shell/);
    await aWhile();
    expect(existsSync(trace)).toBe(false);
    expect(screenOf(setting.machine, 'web')).not.toContain('pwned');
  });

  it.each([
    ['its prompt', '❯\u00a0'],
    ['a draft', '$ '],
  ])('is refused, and runs nothing, if a hostile text has drawn the box of Claude around %s', async (_, prompt) => {
    const setting = await startSetting();
    const { tmux } = setting.machine;
    const picture = join(tmux.dir, 'picture');
    const rule = '─'.repeat(80);
    const before = prompt.startsWith('❯') ? '' : '❯\u00a0';
    writeFileSync(picture, `\x1b[2J\x1b[H● Done.\n\n${rule}\n\n${rule}\n  ? for shortcuts\x1b[4;1H${before}`);
    tmux.call(
      'new-session',
      '-d',
      '-x',
      '80',
      '-y',
      '24',
      '-s',
      'web',
      `PS1='${prompt}' exec bash --norc --noprofile -i`,
    );
    tellOfSession(setting.machine, 'web');
    const thread = await vi.waitFor(() => {
      const found = setting.shared.threads.registry.all().find(({ sessionName }) => sessionName === 'web');
      if (found === undefined) throw new Error('no thread yet');
      return found.thread;
    }, WAIT);
    madeLongAgo(setting, thread);
    await vi.waitFor(() => expect(screenOf(setting.machine, 'web')).toContain(prompt.trim()), WAIT);
    tmux.call('send-keys', '-t', '=web:', `cat ${picture}`, 'Enter');
    await vi.waitFor(() => expect(screenOf(setting.machine, 'web')).toContain('? for shortcuts'), WAIT);
    const trace = join(tmux.dir, 'pwned');
    const message = await setting.say(thread, `touch ${trace}`);
    await vi.waitFor(async () => expect(await setting.marks(message)).toContain('⚠️'), WAIT);
    expect(existsSync(trace)).toBe(false);
  });

  it('in a new session gets a moment to start Claude, and is then refused', async () => {
    const setting = await startSetting();
    setting.machine.tmux.call('new-session', '-d', '-s', 'web', 'sh');
    tellOfSession(setting.machine, 'web');
    const thread = await vi.waitFor(() => {
      const [record] = setting.shared.threads.registry.all();
      if (record === undefined) throw new Error('no thread yet');
      return record.thread;
    }, WAIT);
    const message = await setting.say(thread, 'echo pwned');
    await setting.answer(thread, /^📨 Your message waits\. No agent has started in the pane yet/);
    madeLongAgo(setting, thread);
    await setting.untilMarked(message, '⚠️');
    expect(screenOf(setting.machine, 'web')).not.toContain('pwned');
  });
});

it('tells for a session on another host to install the hooks on that host', async () => {
  const far = await startFar({ waits: { heardWithinMs: 500 } });
  const claude = await far.farClaude('web');
  await far.untilMarked(await far.say(claude, 'hello'), '✅');
  await far.answer(claude, /^ℹ️ .*`threadmux install --host far`/);
});

describe('a host that becomes unreachable between Enter and the receipt', () => {
  it('is reported within seconds, and the message is ✅ when it is back', async () => {
    let stop: (() => Promise<void>) | undefined;
    // At the reaction itself: on a busy machine, ✅ can replace it before a test sees it.
    const onRequest = ({ method, path }: { method: string; path: string }) => {
      if (method === 'PUT' && decodeURIComponent(path).includes('👀')) void stop?.();
      return undefined;
    };
    const far = await startFar({ waits: { screenMs: 1_000 }, faults: { onRequest } });
    const claude = await far.farClaude('web');
    await far.untilMarked(await far.say(claude, 'before'), '✅');
    stop = () => {
      stop = undefined;
      return far.ssh.stop();
    };
    const message = await far.say(claude, 'hello');
    await far.answer(claude, /^🔌 Typed, but not confirmed yet, because the pane cannot be read now/);
    expect(await far.marks(message)).toEqual(['👀']);
    await far.ssh.start();
    await far.untilMarked(message, '✅');
    expect(claude.prompts()).toEqual(['before', 'hello']);
    const said = (await far.answers(claude)).map(({ content }) => content);
    expect(said.filter((text) => text.startsWith('⚠️'))).toEqual([]);
    expect(said.filter((text) => text.startsWith('🔌'))).toEqual([]);
  });
});
