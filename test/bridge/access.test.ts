// A user who is not on the list can do nothing, in any way, and nothing they wrote is kept.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { aWhile, startSetting, untilPrompts, WAIT } from './bridge-setup.ts';

const STRANGER = '424242424242424242';

/** `remove` takes the only person from the list, as a change of config.json does. */
async function startForOne() {
  let server: { allow: readonly string[] } | undefined;
  const setting = await startSetting({
    servers: (own) => {
      server = own;
      return [own];
    },
  });
  const claude = await setting.claude('web');
  return { setting, claude, remove: () => Object.assign(server ?? {}, { allow: [STRANGER] }) };
}

describe('a user who is not on the list', () => {
  it('cannot type, run commands or tap; the attempt is counted and logged without its text', async () => {
    const setting = await startSetting({ allow: [STRANGER] });
    const { workspace } = setting;
    const { person, channelId } = workspace;
    const claude = await setting.claude('web');
    const written = [
      await setting.say(claude, 'sesame'),
      await setting.say(claude, '!key Enter'),
      await setting.say(channelId, '!kill web'),
      await setting.say(channelId, '!new sesame -- cat'),
    ];
    const row = { type: 1, components: [{ type: 2, style: 2, label: 'x', custom_id: 'key:x' }] };
    const { body: ours } = await workspace.bot('POST', `/channels/${claude.thread}/messages`, {
      content: 'keys',
      components: [row],
    });
    await person.tap(claude.thread, ours.id, 'key:x');
    await vi.waitFor(() => person.slash(channelId, 'kill', [{ name: 'name', value: 'web' }]), WAIT);
    await person.autocomplete(channelId, 'kill', [{ name: 'name', value: '', focused: true }]);
    await vi.waitFor(() => {
      const ignored = setting.log.filter((line) => line.includes(' ignored '));
      expect(ignored.filter((line) => line.includes('times='))).toHaveLength(4);
      expect(ignored.filter((line) => line.includes('what=interaction'))).toHaveLength(3);
    }, WAIT);
    expect(setting.log.findLast((line) => line.includes('times='))).toContain('times=4');
    expect(setting.log.join('\n')).not.toMatch(/sesame|kill web/);
    expect(claude.noted()).toEqual([]);
    expect(setting.machine.tmux.call('list-sessions', '-F', '#S')).toBe('web');
    for (const message of written) expect(await setting.marks(message)).toEqual([]);
  });

  it('is ignored after a restart too, when missed messages are read', async () => {
    const setting = await startSetting({ allow: [STRANGER] });
    const claude = await setting.claude('web');
    await setting.bridge.close();
    await setting.say(claude, 'while it was away');
    await setting.restart();
    await vi.waitFor(() => expect(setting.log.join('\n')).toContain('because="not listed"'), WAIT);
    expect(claude.noted()).toEqual([]);
  });

  it('is not typed for either, if they were removed from the list while their message waited', async () => {
    const { setting, claude, remove } = await startForOne();
    await claude.tell('dialog', 'make');
    const waiting = await setting.say(claude, 'written while I was listed');
    await setting.untilMarked(waiting, '📨');
    remove();
    await claude.tell('close');
    await setting.untilMarked(waiting, '⚠️');
    await setting.answer(claude, /no longer on the list/);
    expect(claude.noted()).toEqual([]);
  });
});

it('a key is not pressed if the person was removed from the list while it waited', async () => {
  const { setting, claude, remove } = await startForOne();
  const { serverPid } = claude.record();
  process.kill(serverPid, 'SIGSTOP');
  try {
    const { id } = await setting.say(claude, '!esc');
    await vi.waitFor(
      () => expect(existsSync(join(setting.machine.home.folder('inbox'), `${id}.json`))).toBe(true),
      WAIT,
    );
    remove();
  } finally {
    process.kill(serverPid, 'SIGCONT');
  }
  await setting.answer(claude, /^⚠️ Not pressed/);
  expect(claude.noted()).toEqual([]);
});

describe('the bridge', () => {
  it('ignores a thread of the same name, the message of a bot and a forged button', async () => {
    const setting = await startSetting();
    const { workspace } = setting;
    const { person, channelId } = workspace;
    const claude = await setting.claude('web');
    const talk = await person.say(channelId, 'just talking');
    const fake = await person.startThread(channelId, talk.id, '[agent] web');
    await person.say(fake.id, 'into the fake');
    await person.say(fake.id, '!kill web');
    await workspace.bot('POST', `/channels/${claude.thread}/messages`, { content: 'by a bot' });
    const word = await setting.answer(claude, /Claude started/);
    for (const id of ['key:Enter', `retry:${talk.id}`, 'key:C-c', 'retry:'])
      await person.tap(claude.thread, word.id, id).catch(() => {}); // the server refuses it, because the message has no such button
    await setting.untilMarked(await setting.say(claude, 'for real'), '✅');
    await aWhile();
    expect(claude.noted()).toEqual([{ kind: 'prompt', text: 'for real' }]);
    expect(setting.machine.tmux.call('list-sessions', '-F', '#S')).toBe('web');
  });

  it('types nothing for a button with an invalid key, or on a message that did not fail', async () => {
    const setting = await startSetting();
    const { workspace } = setting;
    const claude = await setting.claude('web');
    const done = await setting.say(claude, 'hello');
    await setting.untilMarked(done, '✅');
    const elsewhere = await setting.say(workspace.channelId, 'not in the thread');
    const order = await setting.say(claude, '!nothing');
    const ids = [
      'key:rm -rf;',
      'key:',
      'key:Enter Enter',
      'key',
      'nonsense',
      'retry',
      `retry:${done.id}`,
      `retry:${elsewhere.id}`,
      `retry:${order.id}`,
      'retry:1 or 2',
      'retry:../../users/@me',
    ];
    for (const custom_id of ids) {
      const components = [{ type: 1, components: [{ type: 2, style: 2, label: 'x', custom_id }] }];
      const { body } = await workspace.bot('POST', `/channels/${claude.thread}/messages`, {
        content: 'tap me',
        components,
      });
      await workspace.person.tap(claude.thread, body.id, custom_id);
    }
    await aWhile(1_500);
    expect(claude.noted()).toEqual([{ kind: 'prompt', text: 'hello' }]);
    expect(await setting.marks(done)).toEqual(['✅']);
  });

  it('types a message once for two taps on Retry', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    setting.machine.tmux.call('kill-session', '-t', '=web');
    const message = await setting.say(claude, 'hello');
    await setting.untilMarked(message, '⚠️');
    const word = await setting.answer(claude, /^⚠️ Not delivered/);
    const again = await setting.claude('web');
    await aWhile(1_100); // its button can be tapped
    const tap = () => setting.workspace.person.tap(claude.thread, word.id, `retry:${message.id}`, { sudden: true });
    await Promise.all([tap(), tap().catch(() => {}), setting.say(claude, '!retry')]);
    await setting.untilMarked(message, '✅');
    await aWhile(1_000);
    expect(again.prompts()).toEqual(['hello']);
  });

  it('does not type a message again while its ⚠️ is still being replaced', async () => {
    let isSlow = false;
    const onRequest = ({ path }: { path: string }) =>
      isSlow && path.includes('/reactions/') ? { kind: 'delay' as const, ms: 4_000 } : undefined;
    const setting = await startSetting({ faults: { onRequest }, waits: { markMs: 60_000 } });
    const claude = await setting.claude('web');
    setting.machine.tmux.call('kill-session', '-t', '=web');
    const message = await setting.say(claude, 'hello');
    await setting.untilMarked(message, '⚠️');
    const again = await setting.claude('web');
    isSlow = true;
    await setting.say(claude, '!retry');
    await untilPrompts(again, ['hello']);
    await setting.say(claude, '!retry');
    await setting.answer(claude, /There is no failed message/);
    isSlow = false;
    await setting.untilMarked(message, '✅');
    expect(again.prompts()).toEqual(['hello']);
  });
});
