// Who archived a thread, and what that does to its session (`onArchive`).

import { describe, expect, it, vi } from 'vitest';
import { isArchivedByPerson } from '../../bridge/end-archived.ts';
import { archiveThread } from '../../discord/threads.ts';
import { aWhile, type Setting, WAIT } from './bridge-setup.ts';
import { startProject } from './project-setup.ts';

const MINUTE = 60_000;
const NOW = Date.parse('2026-01-01T12:00:00Z');

describe('a thread was archived by a user', () => {
  it.each([
    ['right after a message', 0, 1440, true],
    ['an hour after the last one, if Discord waits a day', 60, 1440, true],
    ['shortly before Discord would', 50, 60, true],
    ['when Discord does', 60, 60, false],
    ['almost when Discord does: in doubt it was Discord', 57, 60, false],
    ['days after Discord would have: it did it late', 5_000, 1440, false],
    ['a week after the last message', 10_080, 10_080, false],
    ['with an unknown time', 1, undefined, false],
    ['long before its last message, which no clock explains', -60, 60, false],
  ] as const)('%s', (_, idle, afterMinutes, is) => {
    expect(isArchivedByPerson({ archivedAt: NOW, afterMinutes, activeAt: NOW - idle * MINUTE })).toBe(is);
  });

  it('never if nothing is known', () => {
    expect(isArchivedByPerson({ archivedAt: NOW, afterMinutes: 60, activeAt: undefined })).toBe(false);
    expect(isArchivedByPerson({ archivedAt: Number.NaN, afterMinutes: 60, activeAt: NOW })).toBe(false);
  });
});

async function startSession(keys: object) {
  const project = await startProject(keys);
  const { setting, channelId, path } = project;
  await setting.say(channelId, `!new web ${path}`);
  await setting.answer(channelId, /`web` is up/);
  const thread = setting.shared.threads.registry.all()[0]?.thread ?? '';
  await setting.untilMarked(await setting.say(thread, 'hello'), '✅');
  await setting.answer(thread, /hello/);
  return { ...project, thread };
}

const isRunning = ({ machine }: Setting) => {
  try {
    return machine.tmux.call('list-sessions', '-F', '#{session_name}').split('\n').includes('web');
  } catch {
    return false; // no server
  }
};

const archive = ({ workspace }: Setting, thread: string, archived = true) =>
  workspace.person.call('PATCH', `/channels/${thread}`, { archived });

const metadata = async ({ workspace }: Setting, thread: string) =>
  (await workspace.person.call('GET', `/channels/${thread}`)).body.thread_metadata;

describe('archiving a thread', () => {
  it('ends its session with "onArchive": "end", says so once, and leaves the thread archived', async () => {
    const { setting, thread } = await startSession({ onArchive: 'end' });
    await archive(setting, thread);
    const notice = await setting.answer(thread, /^⏹️ Ended, because its thread was archived\.$/);
    expect(JSON.stringify(notice.components)).toContain('Start again');
    expect(isRunning(setting)).toBe(false);
    await vi.waitFor(async () => expect((await metadata(setting, thread)).archived).toBe(true), WAIT);
    await aWhile();
    expect((await setting.answers(thread)).filter(({ content }) => content.startsWith('⏹️'))).toHaveLength(1);
  });

  it('ends nothing by default', async () => {
    const { setting, thread } = await startSession({});
    await archive(setting, thread);
    await aWhile();
    expect(isRunning(setting)).toBe(true);
  });

  it('ends nothing while the bridge is down, or if a command of ours did it', async () => {
    const { setting, thread } = await startSession({ onArchive: 'end' });
    await setting.stop();
    await archive(setting, thread);
    await setting.restart();
    await aWhile();
    expect(isRunning(setting)).toBe(true);
    await archive(setting, thread, false);
    await vi.waitFor(() => expect(setting.shared.threads.registry.get(thread)?.archived).toBe('no'), WAIT);
    // As if its session had posted before the event came.
    const rest = setting.shared.connections.all()[0]?.rest;
    if (rest !== undefined) await archiveThread(rest, thread);
    await aWhile();
    expect(isRunning(setting)).toBe(true);
  });
});
