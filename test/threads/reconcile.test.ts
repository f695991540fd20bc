// The steps that make threads and sessions agree: a table.

import { describe, expect, it } from 'vitest';
import type { ThreadRef } from '../../discord/threads.ts';
import { type HostState, reconcile, type ThreadChange } from '../../threads/reconcile.ts';
import { type ThreadRecord, threadRecordSchema } from '../../threads/registry.ts';
import type { SessionPane } from '../../threads/session-threads.ts';

const session = (sessionId: string, sessionName: string, group?: string): SessionPane => ({
  host: 'laptop',
  socket: '/s',
  serverPid: 7,
  paneId: '%1',
  panePid: 1,
  sessionId,
  sessionName,
  group,
  command: 'sh',
  path: '/',
});
const record = (thread: string, title: string, more: Partial<ThreadRecord> = {}): ThreadRecord =>
  threadRecordSchema.parse({
    thread,
    title,
    host: 'laptop',
    socket: '/s',
    serverPid: 7,
    paneId: '%1',
    panePid: 1,
    sessionId: '$1',
    sessionName: title.replace('[agent] ', ''),
    command: 'claude',
    channel: 'c',
    cwd: '/',
    claudeSession: '',
    transcript: '',
    state: 'idle',
    at: 1,
    ...more,
  });
const stray = (id: string, title: string): ThreadRef => ({
  id,
  title,
  parentId: 'c',
  archived: false,
  lastMessageId: undefined,
});
const done = (some: Partial<HostState>) =>
  reconcile({
    host: 'laptop',
    defaultHost: 'laptop',
    sessions: [],
    records: [],
    strays: [],
    ignore: ['^_'],
    auto: true,
    channelOf: () => 'c',
    ...some,
  }).map(told);

function told(change: ThreadChange): string {
  switch (change.do) {
    case 'open':
      return `open ${change.session.sessionName}`;
    case 'adopt':
      return `adopt ${change.record.thread} ${change.session.sessionId}`;
    case 'rename':
      return `rename ${change.record.thread} ${change.title}`;
    case 'move':
      return `move ${change.record.thread}`;
    case 'close':
      return `close ${change.record.thread}`;
    case 'leave':
      return `leave ${change.record.thread} for ${change.to.thread}`;
    case 'close-stray':
    case 'leave-stray':
      return `${change.do} ${change.thread.id}`;
  }
}

describe('sessions', () => {
  it('need nothing when each has its thread', () => {
    const facts = { sessions: [session('$1', 'web')], records: [record('t', '[agent] web')] };
    expect(done(facts)).toEqual([]);
  });

  it('made by hand get a thread, unless they are ignored or automatic threads are off', () => {
    const sessions = [session('$1', 'web'), session('$2', '_hidden')];
    expect(done({ sessions })).toEqual(['open web']);
    expect(done({ sessions, auto: false })).toEqual([]);
  });

  it('closed by hand close their thread, even when automatic threads are off', () => {
    expect(done({ records: [record('t', '[agent] web')], auto: false })).toEqual(['close t']);
  });

  it('renamed by hand rename their thread and create no second one', () => {
    const facts = { sessions: [session('$1', 'shop')], records: [record('t', '[agent] web')] };
    expect(done(facts)).toEqual(['rename t [agent] shop']);
  });

  it('move between their thread and the channel instead of being renamed', () => {
    const facts = { sessions: [session('$1', 'shop')], records: [record('t', '[agent] web')] };
    expect(done({ ...facts, isMisplaced: () => true })).toEqual(['move t']);
    expect(done({ ...facts, isMisplaced: () => false })).toEqual(['rename t [agent] shop']);
    const deleted = [record('t', '[agent] web', { deleted: true })];
    expect(done({ ...facts, records: deleted, isMisplaced: () => true })).toEqual([]);
  });

  it('do not reopen a thread that a user archived, whatever else changes', () => {
    const archived = record('t', '[agent] web', { archived: 'person' });
    const sessions = [session('$1', 'shop'), session('$2', 'new')];
    expect(done({ sessions, records: [archived] })).toEqual(['open new']);
  });

  it('do not reopen a thread that was closed by a command', () => {
    const archived = record('t', '[agent] web', { archived: 'us' });
    expect(done({ sessions: [session('$1', 'shop')], records: [archived] })).toEqual([]);
  });

  it('that belong nowhere appear nowhere', () => {
    const sessions = [session('$1', 'web')];
    expect(done({ sessions, channelOf: () => undefined })).toEqual([]);
    const strays = [stray('t', '[agent] web')];
    expect(done({ sessions, strays, channelOf: () => undefined })).toEqual(['leave-stray t']);
  });

  it('started again in the directory of another channel get another thread', () => {
    const facts = { sessions: [session('$9', 'web')], records: [record('t', '[agent] web')] };
    expect(done({ ...facts, channelOf: () => 'd' })).toEqual(['close t', 'open web']);
  });

  it('with two threads leave the older one', () => {
    const records = [record('t', '[agent] web'), record('u', '[agent] web', { at: 2 })];
    expect(done({ sessions: [session('$1', 'web')], records })).toEqual(['leave t for u']);
  });

  it('with the same id on a restarted server are not mistaken for the old ones', () => {
    const old = record('t', '[agent] web', { serverPid: 6 });
    expect(done({ sessions: [session('$1', 'other')], records: [old] })).toEqual(['close t', 'open other']);
  });

  it('started again under the same name keep their thread', () => {
    const old = record('t', '[agent] web', { serverPid: 6 });
    expect(done({ sessions: [session('$9', 'web')], records: [old] })).toEqual(['adopt t $9']);
  });

  it('whose names only start the same are not mixed up', () => {
    const old = record('t', '[agent] web', { serverPid: 6 });
    expect(done({ sessions: [session('$1', 'web-2')], records: [old] })).toEqual(['close t', 'open web-2']);
  });

  it('that are grouped keep the thread of their group', () => {
    const sessions = [session('$1', 'a', 'web'), session('$2', 'b', 'web')];
    expect(done({ sessions, records: [record('t', '[agent] web', { group: 'web' })] })).toEqual([]);
    expect(done({ sessions })).toEqual(['open a']);
  });

  it('with a name that no title can contain get none', () => {
    expect(done({ sessions: [session('$1', 'x'.repeat(200))] })).toEqual([]);
  });
});

describe('threads that the registry does not know', () => {
  it('are reused for a session of that name, and closed without one', () => {
    const strays = [stray('t', '[agent] web'), stray('u', '[agent] gone'), stray('v', 'small talk')];
    expect(done({ sessions: [session('$1', 'web')], strays, auto: false })).toEqual(['open web', 'close-stray u']);
  });

  it('are left alone if the session has another thread, or belongs to another channel', () => {
    const facts = { sessions: [session('$1', 'web')], strays: [stray('t', '[agent] web')] };
    const records = [record('u', '[agent] web')];
    expect(done({ ...facts, records })).toEqual(['leave-stray t']);
    expect(done({ ...facts, channelOf: () => 'd' })).toEqual(['leave-stray t', 'open web']);
  });

  it('of another host are left alone', () => {
    const strays = [stray('t', '[agent] web@mini')];
    expect(done({ strays })).toEqual([]);
    expect(done({ host: 'mini', strays })).toEqual(['close-stray t']);
  });
});
