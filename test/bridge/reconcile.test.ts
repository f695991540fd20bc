import { describe, expect, it } from 'vitest';
import { reconcile, type Standing } from '../../bridge/reconcile.ts';
import type { ThreadRef } from '../../discord/threads.ts';
import type { PaneRecord } from '../../home/pane-record.ts';
import type { Session } from '../../tmux/sessions.ts';

const session = (id: string, name: string, group?: string) =>
  ({ id, name, group, serverPid: 7, pane: { id: '%1', pid: 1 } }) as unknown as Session;
const thread = (id: string, title: string): ThreadRef => ({
  id,
  title,
  parentId: 'c',
  archived: false,
  locked: false,
  lastMessageId: undefined,
});
const record = (of: string, sessionId: string, serverPid = 7) =>
  ({ thread: of, sessionId, serverPid }) as unknown as PaneRecord;
const standing = (some: Partial<Standing>): Standing => ({
  host: 'laptop',
  defaultHost: 'laptop',
  sessions: [],
  records: [],
  threads: [],
  ignore: ['^_'],
  auto: true,
  ...some,
});
const done = (some: Partial<Standing>) =>
  reconcile(standing(some)).map((change) =>
    change.do === 'open'
      ? `open ${change.session.name}`
      : `${change.do} ${change.thread.id}${change.do === 'rename' ? ` ${change.title}` : ''}`,
  );

describe('threads and sessions', () => {
  it('agree when each session has its thread', () => {
    expect(
      done({ sessions: [session('$1', 'web')], threads: [thread('t', '[agent] web')] }),
    ).toEqual([]);
  });

  it('made by hand get a thread, unless they are infrastructure or it is off', () => {
    const sessions = [session('$1', 'web'), session('$2', '_hidden')];
    expect(done({ sessions })).toEqual(['open web']);
    expect(done({ sessions, auto: false })).toEqual([]);
  });

  it('closed by hand close their thread, also when it is off', () => {
    expect(done({ threads: [thread('t', '[agent] web')], auto: false })).toEqual(['close t']);
  });

  it('renamed by hand rename their thread and make no second one', () => {
    const facts = {
      sessions: [session('$1', 'shop')],
      threads: [thread('t', '[agent] web')],
      records: [record('t', '$1')],
    };
    expect(done(facts)).toEqual(['rename t [agent] shop']);
  });

  it('of another host, and threads that are none of ours, are left alone', () => {
    expect(done({ threads: [thread('t', '[agent] web@mini'), thread('u', 'small talk')] })).toEqual(
      [],
    );
    expect(done({ host: 'mini', threads: [thread('t', '[agent] web@mini')] })).toEqual(['close t']);
  });

  it('with the same id on a restarted server are not taken for the old ones', () => {
    const facts = {
      sessions: [session('$1', 'other')],
      threads: [thread('t', '[agent] web')],
      records: [record('t', '$1', 6)],
    };
    expect(done(facts)).toEqual(['close t', 'open other']);
  });

  it('whose name only begins the same are not mixed up', () => {
    expect(
      done({ sessions: [session('$1', 'web-2')], threads: [thread('t', '[agent] web')] }),
    ).toEqual(['close t', 'open web-2']);
  });

  it('grouped sessions keep the thread of their group', () => {
    const sessions = [session('$1', 'a', 'web'), session('$2', 'b', 'web')];
    expect(done({ sessions, threads: [thread('t', '[agent] web')] })).toEqual([]);
    expect(done({ sessions })).toEqual(['open a']);
  });

  it('with a name no title can hold get none', () => {
    expect(done({ sessions: [session('$1', 'x'.repeat(200))] })).toEqual([]);
  });
});
