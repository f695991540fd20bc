// The worktrees of sessions: makes, ends and finds them, and knows to which directory each belongs and which session uses it.

import { realpathSync } from 'node:fs';
import type { Config } from '../core/config.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { type Project, projectName } from '../core/project.ts';
import type { SessionName } from '../core/session-name.ts';
import { writeBestEffort } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import {
  endWorktree,
  type FoundWorktree,
  findWorktrees,
  type MadeWorktree,
  MOST_WORKTREES,
  makeWorktree,
  type WorktreeEnd,
  type WorktreeHost,
  worktreeDiff,
  worktreeReady,
} from '../hosts/run-worktree.ts';
import type { HostList } from '../tmux/host-list.ts';
import type { SessionPlace } from './destination.ts';
import {
  isSameWorktree,
  isWithin,
  type KnownWorktree,
  loadWorktrees,
  newWorktree,
  takeWorktreeNotes,
} from './known-worktree.ts';
import type { ThreadRecord } from './registry.ts';

/** A worktree that a session is about to start in. Nothing removes it before `release`. */
export interface PreparedWorktree extends MadeWorktree {
  /** The file that says when its set-up has run. */
  readonly record: string;
  readonly directory: string;
  ready(): Promise<void>;
  usedBy(thread: string, isSettingUp: boolean): void;
  release(): void;
}

export interface Worktrees {
  /** A session in one of our worktrees belongs to the directory from which the worktree was made. */
  originOf(place: SessionPlace): SessionPlace;
  /** Whether the directory is in the folder of worktrees, also if the worktree no longer exists. */
  isInside(place: SessionPlace): boolean;
  prepare(
    wanted: SessionPlace & {
      readonly session: SessionName;
      readonly project: Project | undefined;
      readonly byAgent?: boolean;
    },
  ): Promise<PreparedWorktree>;
  known(): readonly KnownWorktree[];
  /** Called after each change of what is known. */
  onChange(listener: () => void): void;
  /** Compares what is known with the host: learns those that nobody knows, and resolves with those whose folder is gone. */
  compare(host: string): Promise<readonly KnownWorktree[]>;
  ofThread(thread: string): KnownWorktree | undefined;
  /** The worktree that the session of this record is in, also if the session has another thread now. */
  ofRecord(record: ThreadRecord): KnownWorktree | undefined;
  /** Removes it if nothing would get lost, or if the user has seen what would (`anyway` is its print). */
  end(
    one: KnownWorktree,
    isUsed: () => Promise<boolean>,
    anyway?: string,
  ): Promise<WorktreeEnd | { readonly is: 'used' }>;
  /** Its session need not wait any longer. */
  ready(one: KnownWorktree): Promise<void>;
  diff(one: KnownWorktree): Promise<string | undefined>;
}

interface WorktreesOptions {
  readonly home: Home;
  readonly config: Pick<Config, 'host'>;
  readonly hosts: HostList;
  /** The user's home directory on a host; undefined if the host was never reached. */
  readonly userHome: (host: string) => string | undefined;
}

export function openWorktrees({ home, config, hosts, userHome }: WorktreesOptions): Worktrees {
  const path = home.path('state', 'worktrees.json');
  let all = loadWorktrees(home);
  const inTurn = createKeyedQueue();
  const listeners: (() => void)[] = [];
  const keyOf = (one: Pick<KnownWorktree, 'host' | 'project' | 'session'>) =>
    `${one.host} ${one.project} ${one.session}`;
  const on = (host: string): WorktreeHost => ({
    host: hosts.get(host),
    bridge: config.host,
    root: hosts.isLocal(host) ? home.root : '',
  });

  function keep(changed: readonly KnownWorktree[]): void {
    all = changed;
    home.folder('state');
    writeBestEffort(path, all);
    for (const listener of listeners) listener();
  }
  const put = (one: KnownWorktree) =>
    keep([...all.filter((other) => !isSameWorktree(other, one) && !isSameWorktree(one, other)), one]);
  const forget = (one: KnownWorktree) => keep(all.filter((other) => !isSameWorktree(one, other)));
  const at = ({ host, directory }: SessionPlace) =>
    all.find((one) => one.host === host && one.path !== '' && isWithin(directory, one.path));
  const ourHomes = [...new Set([home.root, realpathSync(home.root)])];
  const isInRoot = ({ host, directory }: SessionPlace) =>
    (hosts.isLocal(host) ? ourHomes : [`${userHome(host) ?? '~'}/.threadmux`]).some((root) =>
      isWithin(directory, `${root}/worktrees`),
    );

  /** The command line may have made some, or used a kept one again. */
  function takeNotes(): void {
    takeWorktreeNotes(home, (one) => {
      const { thread } = all.find((other) => isSameWorktree(other, one)) ?? one;
      put({ ...one, thread });
    });
  }

  function find(place: SessionPlace): KnownWorktree | undefined {
    const one = at(place);
    if (one !== undefined || !isInRoot(place)) return one;
    takeNotes();
    return at(place);
  }

  const ofThread = (thread: string) => all.findLast((one) => one.thread === thread);

  /** After a crash while it was made, only the host knows its name. */
  async function named(one: KnownWorktree): Promise<KnownWorktree | undefined> {
    if (one.name !== '') return one;
    const there = await findWorktrees(on(one.host), false);
    const found = there.findLast(({ project, session }) => project === one.project && session === one.session);
    if (found === undefined) {
      forget(one);
      return undefined;
    }
    const { name, path, branch } = found;
    const complete: KnownWorktree = { ...one, name, path, start: path, branch };
    put(complete);
    return complete;
  }

  async function ready(one: KnownWorktree): Promise<void> {
    await worktreeReady(on(one.host), one);
    const now = all.find((other) => isSameWorktree(one, other));
    if (now?.isSettingUp) put({ ...now, isSettingUp: false });
  }

  async function make(wanted: Parameters<Worktrees['prepare']>[0], release: () => void): Promise<PreparedWorktree> {
    const { host, session, directory, byAgent = false } = wanted;
    const project = wanted.project?.name || projectName(directory);
    const began = newWorktree({ host, project, session, directory, state: 'making' });
    const before = all.find((one) => one.session === session && one.project === project && one.host === host);
    if (before === undefined) put(began);
    const made = await makeWorktree(on(host), { project, session, directory, byAgent }).catch((error: unknown) => {
      if (before === undefined) forget(began);
      throw error;
    });
    const { name, path, start, branch } = made;
    let one: KnownWorktree = { ...began, name, path, start, branch, thread: before?.thread ?? '', state: 'open' };
    put(one);
    return {
      ...made,
      record: `${path}.record`,
      directory,
      release,
      ready: () => ready(one),
      usedBy(thread, isSettingUp) {
        one = { ...one, thread, isSettingUp };
        put(one);
      },
    };
  }

  takeNotes();
  return {
    originOf(place) {
      const one = find(place);
      return one === undefined ? place : { host: place.host, directory: one.directory };
    },
    isInside: (place) => isInRoot(place) || find(place) !== undefined,
    prepare(wanted) {
      const project = wanted.project?.name || projectName(wanted.directory);
      return new Promise((resolve, reject) => {
        // The turn ends when the session runs: the end of the one before waits until then.
        void inTurn(keyOf({ ...wanted, project }), () => {
          return new Promise<void>((release) => {
            make(wanted, release).then(resolve, (error: Error) => {
              release();
              reject(error);
            });
          });
        });
      });
    },
    known: () => all,
    onChange: (listener) => void listeners.push(listener),
    async compare(host) {
      takeNotes();
      const before = all; // one that is removed meanwhile must not come back
      const there = await findWorktrees(on(host), false);
      const isOf = (found: FoundWorktree) => (one: KnownWorktree) =>
        one.host === host &&
        one.project === found.project &&
        (one.name === found.name || one.session === found.session);
      const unknown = there.filter((found) => found.state !== 'gone' && ![...before, ...all].some(isOf(found)));
      // A hostile host could name others each time.
      const room = Math.max(0, MOST_WORKTREES - all.filter((one) => one.host === host).length);
      const learned = unknown
        .slice(0, room)
        .map((found) => newWorktree({ ...found, host, state: 'kept' }, { ...found, start: found.path }));
      if (learned.length > 0) keep([...all, ...learned]);
      const gone = there.filter(({ state }) => state === 'gone');
      return all.filter(
        (one) => one.state === 'kept' && gone.some((found) => found.name === one.name && isOf(found)(one)),
      );
    },
    ofThread,
    ofRecord({ thread, host, cwd }) {
      const one = ofThread(thread) ?? find({ host, directory: cwd });
      if (one === undefined || one.thread === thread) return one;
      put({ ...one, thread });
      return { ...one, thread };
    },
    end: (given, isUsed, anyway) =>
      inTurn(keyOf(given), async () => {
        takeNotes(); // one that comes later would say that a session uses it
        const one = await named(all.find((other) => isSameWorktree(given, other)) ?? given);
        if (one === undefined) return { is: 'gone' };
        if (await isUsed()) return { is: 'used' };
        const ended = await endWorktree(on(one.host), one, anyway);
        if (ended.is === 'kept' || ended.is === 'busy') put({ ...one, state: 'kept' });
        if (ended.is !== 'busy' && !(ended.is === 'kept' && ended.path !== '')) forget(one);
        return ended;
      }),
    ready,
    diff: (one) => worktreeDiff(on(one.host), one),
  };
}
