// Scheduled messages: sent once at their time, also across restarts; listed, cancelled, and told when they cannot be sent.

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { fullTime, localZone } from '../../core/zoned-time.ts';
import type { FakeClaude } from '../support/fake-claude.ts';
import { buttonsOf } from '../support/prompt-pane.ts';
import {
  aWhile,
  reconcile,
  type Setting,
  type SettingOptions,
  startSetting,
  untilPrompts,
  WAIT,
} from './bridge-setup.ts';
import { become, tap } from './tap-message.ts';

async function begin(options: SettingOptions = {}) {
  const setting = await startSetting(options);
  const claude = await setting.claude('web');
  return { setting, claude };
}

interface StoredFile {
  messages: { due: number; author: string; authorId: string; rule: object; postingSince?: number; posted?: string }[];
}

function file({ machine }: Setting): { read(): StoredFile; write(to: StoredFile): void } {
  const path = machine.home.path('state', 'local.schedules.json');
  return {
    read: () => JSON.parse(readFileSync(path, 'utf8')) as StoredFile,
    write: (to) => writeFileSync(path, JSON.stringify(to)),
  };
}

/** Changes the only scheduled message while the bridge is down. */
async function restartWith(setting: Setting, to: Partial<StoredFile['messages'][number]>): Promise<void> {
  await setting.stop();
  const { read, write } = file(setting);
  const now = read();
  write({ ...now, messages: now.messages.map((one) => ({ ...one, ...to })) });
  await setting.restart();
}

const posted = async (setting: Setting, claude: FakeClaude, text: string) =>
  (await setting.answers(claude)).filter(({ content }) => content.startsWith(`${text}\n-# ⏰`));

describe('a scheduled message', () => {
  it('is posted silently at its time, typed once and marked', async () => {
    const { setting, claude } = await begin();
    const asked = await setting.say(claude, '!at +2s run the tests');
    const answer = await setting.answer(claude, /^⏰ Scheduled as 1: \w+day, \d+ \w+ 20\d\d, \d\d:\d\d \(.+\)\.$/);
    expect(answer.message_reference?.message_id).toBe(asked.id);
    const message = await setting.answer(claude, /^run the tests\n-# ⏰ Scheduled by \w+ for /);
    expect((message.flags ?? 0) & (1 << 12)).not.toBe(0);
    await setting.untilMarked(message, '✅');
    await aWhile();
    expect(claude.prompts()).toEqual(['run the tests']);
    expect(file(setting).read().messages).toEqual([]);
  });

  it('that could not be typed is typed by Retry, without our line, also after a restart', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web', { inShell: true });
    await setting.say(claude, '!at +3s run the tests');
    await setting.answer(claude, /^⏰ Scheduled/);
    await claude.tell('exit');
    const message = await setting.answer(claude, /^run the tests\n-# ⏰/);
    await setting.untilMarked(message, '⚠️');
    const notice = await setting.answer(claude, /^⚠️ Not delivered/);
    await setting.restart();
    const again = await setting.claude('web', { again: true });
    await tap(setting, notice, 'Retry');
    await setting.untilMarked(message, '✅');
    expect(again.prompts()).toEqual(['run the tests']);
    // What the bot posts for nobody is never typed.
    const other = await setting.answer(claude, /Claude started/);
    const path = `/channels/${claude.thread}/messages/${other.id}/reactions/${encodeURIComponent('⚠️')}/@me`;
    await setting.workspace.bot('PUT', path);
    await setting.say(claude, `!retry ${other.id}`);
    await setting.answer(claude, /^⚠️ There is no failed message/);
  });

  it('waits like any other message while a dialog is open', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make');
    await setting.say(claude, '!at +1s later');
    const message = await setting.answer(claude, /^later\n/);
    await setting.untilMarked(message, '📨');
    await claude.tell('close');
    await untilPrompts(claude, ['later']);
  });

  it('that repeats is scheduled again, and is not sent again while the last one waits', async () => {
    const { setting, claude } = await begin();
    await setting.say(claude, '!every 2h look');
    await setting.answer(claude, /then every 2 hours/);
    await claude.tell('dialog', 'make');
    await restartWith(setting, { due: Date.now() - 1_000 });
    await setting.untilMarked(await setting.answer(claude, /^look\n/), '📨');
    await restartWith(setting, { due: Date.now() - 1_000 });
    await vi.waitFor(() => expect(file(setting).read().messages[0]?.due).toBeGreaterThan(Date.now()), WAIT);
    await claude.tell('close');
    await untilPrompts(claude, ['look']);
    expect(await posted(setting, claude, 'look')).toHaveLength(1);
  });

  it.each([
    ['it was posted, and its id was not stored', false],
    ['its id was stored, and it was not in the inbox', true],
  ])('is sent once if the process was killed after %s', async (_, isStored) => {
    const { setting, claude } = await begin();
    const { userId, bot } = setting.workspace;
    await setting.say(claude, '!at +9m once');
    await setting.answer(claude, /^⏰ Scheduled/);
    await setting.stop();
    // What was posted is also typed if it is late.
    const due = Date.now() - (isStored ? 7_200_000 : 1_000);
    const author = file(setting).read().messages[0]?.author ?? '';
    const content = `once\n-# ⏰ Scheduled by ${author} for ${fullTime(due, localZone())}`;
    const { body } = await bot('POST', `/channels/${claude.thread}/messages`, { content });
    const left = { postingSince: Date.now(), ...(isStored ? { posted: (body as { id: string }).id } : {}) };
    await restartWith(setting, { due, rule: { kind: 'once', at: due }, authorId: userId, ...left });
    await untilPrompts(claude, ['once']);
    await setting.restart();
    await aWhile();
    expect(claude.prompts()).toEqual(['once']);
    expect(await posted(setting, claude, 'once')).toHaveLength(1);
    expect(file(setting).read().messages).toEqual([]);
  });

  it('that is more than an hour late is told and not sent', async () => {
    const { setting, claude } = await begin();
    await setting.say(claude, '!at +9m too late');
    await setting.answer(claude, /^⏰ Scheduled/);
    const at = Date.now() - 3_700_000;
    await restartWith(setting, { due: at, rule: { kind: 'once', at } });
    await setting.answer(claude, /^⏰ Not sent: “too late”\. It was due on .+ Send it yourself/);
    await setting.restart();
    await aWhile();
    expect(claude.prompts()).toEqual([]);
    expect((await setting.answers(claude)).filter(({ content }) => /Not sent/.test(content))).toHaveLength(1);
  });

  it('for a session that has ended is told once, with a button to start it', async () => {
    const { setting, claude } = await begin();
    await setting.say(claude, '!every 1h look');
    await setting.answer(claude, /^⏰ Scheduled/);
    setting.machine.tmux.call('kill-session', '-t', '=web');
    await reconcile(setting);
    await vi.waitFor(() => expect(setting.shared.threads.registry.get(claude.thread)?.closed).toBe(true), WAIT);
    await restartWith(setting, { due: Date.now() - 1_000 });
    const notice = await setting.answer(claude, /^⏰ Not sent, because the session has ended: “look”/);
    expect(buttonsOf(notice).map(({ label }) => label)).toContain('Start again');
    await restartWith(setting, { due: Date.now() - 1_000 });
    await vi.waitFor(() => expect(file(setting).read().messages[0]?.due).toBeGreaterThan(Date.now()), WAIT);
    await aWhile();
    expect((await setting.answers(claude)).filter(({ content }) => /Not sent/.test(content))).toHaveLength(1);
  });

  it('of a user who may not write any more is dropped', async () => {
    const { setting, claude } = await begin();
    await setting.say(claude, '!at +9m later');
    await setting.answer(claude, /^⏰ Scheduled/);
    await restartWith(setting, { due: Date.now() - 1_000, authorId: '123456789012345678' });
    await vi.waitFor(() => expect(file(setting).read().messages).toEqual([]), WAIT);
    expect(claude.prompts()).toEqual([]);
  });
});

describe('!schedule', () => {
  it('lists what is scheduled here and cancels it, by number or button', async () => {
    const { setting, claude } = await begin();
    await setting.say(claude, '!schedule');
    await setting.answer(claude, /^Nothing is scheduled/);
    for (const text of ['!at 2099-01-01 9:00 x', '!at +1h one', '!every weekday 9:00 two', '!at +3h three'])
      await setting.say(claude, text);
    const third = await setting.answer(claude, /^⏰ Scheduled as 3/);
    await setting.answer(claude, /more than a year ahead/);
    await tap(setting, third, 'Cancel');
    await become(setting, third, /^⏰ Cancelled: “three”/);
    await setting.say(claude, '!schedule cancel 1');
    await setting.answer(claude, /^⏰ Cancelled: “one”/);
    await setting.say(claude, '!schedule cancel 1');
    await setting.answer(claude, /^⚠️ There is no scheduled message 1 here/);
    await setting.say(claude, '!schedule');
    const list = await setting.answer(claude, /^\*\*2\*\*: .+, every weekday at 09:00: two$/);
    await setting.workspace.person.say(setting.workspace.channelId, '!schedule');
    await setting.answer(setting.workspace.channelId, new RegExp(`in <#${claude.thread}>: two$`));
    await tap(setting, list, 'Cancel 2');
    await become(setting, list, /^⏰ Cancelled: “two”\.\nNothing is scheduled/);
    expect(file(setting).read().messages).toEqual([]);
  });

  it.each([
    ['!at +1m !kill web', /cannot be scheduled/],
    ['!at +1m /logout', /`\/logout` needs a confirmation/],
    ['!at +1m /nobody-knows-it', /needs a confirmation/],
    ['!at soon x', /^⚠️ When\?/],
    [`!at +1m ${'long'.repeat(400)}`, /at most 1500/],
  ])('refuses %s', async (text, answer) => {
    const { setting, claude } = await begin();
    await setting.say(claude, text);
    await setting.answer(claude, answer);
    await setting.workspace.person.say(setting.workspace.channelId, '!at +1m x');
    await setting.answer(setting.workspace.channelId, /Use this in the thread of an agent/);
  });

  it('takes a command of Claude Code, and is a slash command', async () => {
    const { setting, claude } = await begin();
    const options = [
      { name: 'when', value: '+1s' },
      { name: 'message', value: '/compact' },
    ];
    await vi.waitFor(() => setting.workspace.person.slash(claude.thread, 'at', options), WAIT);
    await vi.waitFor(() => expect(claude.noted()).toEqual([{ kind: 'slash', text: '/compact' }]), WAIT);
  });
});
