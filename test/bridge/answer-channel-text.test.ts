// Plain text in the channel belongs to no session: it is answered once an hour, and marked otherwise.

import { describe, expect, it, vi } from 'vitest';
import { talkAnswer } from '../../bridge/answer-channel-text.ts';
import { aWhile, startSetting, WAIT } from './bridge-setup.ts';

describe('plain text in the channel', () => {
  it('is answered with the threads of the sessions, then only marked, also after a restart', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    const { channelId } = setting.workspace;
    const answers = async () => (await setting.answers(channelId)).filter(({ content }) => content.startsWith('💬'));
    await setting.say(channelId, 'hello?');
    await vi.waitFor(async () => expect(await answers()).toHaveLength(1), WAIT);
    expect((await answers())[0]?.content).toMatch(
      new RegExp(`Write in the thread of a session.*<#${claude.thread}> \`web\``, 's'),
    );
    await setting.untilMarked(await setting.say(channelId, 'anybody?'), '❔');
    await setting.restart();
    await setting.untilMarked(await setting.say(channelId, 'still nobody?'), '❔');
    expect(await answers()).toHaveLength(1);
    expect(claude.noted()).toEqual([]);
  });

  it('of a stranger is not answered', async () => {
    const setting = await startSetting({ allow: ['123456789012345678'] });
    const message = await setting.say(setting.workspace.channelId, 'hello?');
    await aWhile();
    expect(await setting.marks(message)).toEqual([]);
    expect(
      (await setting.answers(setting.workspace.channelId)).filter(({ content }) => content.startsWith('💬')),
    ).toEqual([]);
  });
});

describe('the answer', () => {
  const record = (sessionName: string, more = {}) => ({
    thread: '1',
    sessionName,
    closed: false,
    deleted: false,
    at: 0,
    ...more,
  });

  it('names only running sessions, the last ones first, and at most ten', () => {
    expect(talkAnswer([record('over', { closed: true }), record('gone', { deleted: true })])).toContain(
      'no session is running',
    );
    const many = Array.from({ length: 12 }, (_, at) => record(`s${at}`, { at, thread: `${at}` }));
    const lines = talkAnswer(many).split('\n');
    expect(lines.slice(1)).toEqual([
      ...Array.from({ length: 10 }, (_, at) => `<#${11 - at}> \`s${11 - at}\``),
      '… and 2 more: `!sessions`',
    ]);
  });
});
